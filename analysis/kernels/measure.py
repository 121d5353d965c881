"""What is known of one population of calls: same operator, same shapes, same kernels, same GPU.

Everything that decides about it (gates, rules) reads this and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

from whichlayer.analysis.kernels.marks import tensor_cores
from whichlayer.analysis.kernels.occupancy import Residency
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.quick_values import quick

#: Share of the data sheet's bandwidth that a well-made kernel reaches.
ATTAINABLE_BANDWIDTH: Final = 0.9
#: From these shares on a kernel is at the roof and its loss counts as none.
ROOF_BANDWIDTH: Final = 0.80
ROOF_RATE: Final = 0.85
#: Trivial kernels of every GPU seen are shorter (95th percentile of the slowest).
LONGEST_FLOOR_NS: Final = 8000.0


@dataclass(frozen=True, slots=True)
class Floor:
    """Time of a device's own trivial kernels, what remains of a kernel without work.

    Attributes:
        ns: per launch.
        measured: read from this recording; else ``ns`` only classifies, and ideals are
            computed with ``least_ns``, so that an assumption never excuses a loss.
        least_ns: no kernel of any GPU seen is reliably shorter than this.
    """

    ns: float = 2000.0
    measured: bool = False
    least_ns: float = 1000.0

    @property
    def excused_ns(self) -> float:
        """What one launch may take beyond its work without counting as loss."""
        return self.ns if self.measured else min(self.ns, self.least_ns)


@quick
@dataclass(frozen=True, slots=True)
class Measured:
    """One population of calls.

    Attributes:
        operator: its name, empty where none is known.
        kernels: the distinct kernels that one call launches.
        work: of one call.
        calls: how many.
        launches: kernels of one call.
        time_ns: mean time of one call, each instant counted once.
        floor: of the device.
        peaks: of the device.
        precision: in which the products ran, or None.
        overlapped: other work of the device ran at the same time.
        kind: ``cast`` or ``copy`` where a call does nothing else, or empty.
        blocks: of the grid of its longest kernel, 0 where unknown.
        residency: of that kernel, or None.
        share: of the device's own work in the recording, all calls together.
        kind_share: likewise of all calls of its kind, 0 for none.
        drift: a later call takes so many times as long as an earlier one, or None.
        earlier_ns: what a call took in the earlier half of the steps.
    """

    operator: str
    kernels: tuple[str, ...]
    work: Work
    calls: int
    launches: int
    time_ns: float
    floor: Floor
    peaks: DeviceMatch
    precision: str | None = None
    overlapped: bool = False
    kind: str = ""
    blocks: int = 0
    residency: Residency | None = None
    share: float = 0.0
    kind_share: float = 0.0
    drift: float | None = None
    earlier_ns: float = 0.0

    @property
    def is_matrix(self) -> bool:
        """Whether its flops belong on matrix units."""
        return self.work.category in ("matmul", "convolution", "attention")

    @property
    def rate(self) -> float | None:
        """Dense TFLOP/s of the precision it ran in, or None."""
        return None if self.precision is None else self.peaks.rate(self.precision)

    @property
    def memory_ns(self) -> float:
        """Time that its bytes take at the attainable bandwidth; 0 where unknown.

        Where more may be moved than must be, all of it: nothing is called slow on a guess.
        """
        return memory_ns(self.work, self.peaks)

    def compute_ns_at(self, rate: float | None) -> float:
        """Time that its flops take at ``eff`` of a dense rate in TFLOP/s; 0 where unknown."""
        flops = self.work.flops
        return 0.0 if flops is None or not rate else flops / (self.peaks.eff * rate * 1e3)

    @property
    def compute_ns(self) -> float:
        """Time that its flops take at the attainable rate of its precision."""
        return 0.0 if self.work.flops is None else self.compute_ns_at(self.rate)

    @property
    def floor_ns(self) -> float:
        """Time of its launches without any work."""
        return self.launches * self.floor.ns

    def ideal_ns(self, rate: float | None) -> float:
        """What a well-made kernel takes, its flops at ``eff`` of ``rate``."""
        excused = self.launches * self.floor.excused_ns
        return excused + max(self.memory_ns, self.compute_ns_at(rate))

    def roof_ns(
        self, rate: float | None, bandwidth: float = ROOF_BANDWIDTH, of_rate: float = ROOF_RATE
    ) -> float:
        """A call that takes no longer is at the roof: at these shares of bandwidth and rate."""
        memory = self.memory_ns * ATTAINABLE_BANDWIDTH / bandwidth if bandwidth > 0 else inf
        return max(memory, self.compute_ns_at(rate) / of_rate if of_rate > 0 else inf)

    @property
    def above_ridge(self) -> bool:
        """Whether its flops take longer than its bytes."""
        return self.work.flops is not None and self.compute_ns > self.memory_ns

    @property
    def gbps(self) -> float | None:
        """Achieved bandwidth."""
        size, time = self.work.bytes, self.time_ns
        return None if size is None or time <= 0 else size / time

    @property
    def tflops(self) -> float | None:
        """Achieved rate."""
        flops, time = self.work.flops, self.time_ns
        return None if flops is None or time <= 0 else flops / time / 1e3

    @property
    def bandwidth_share(self) -> float | None:
        """Of the data sheet's bandwidth."""
        speed, peak = self.gbps, self.peaks.bandwidth_gbps
        return None if speed is None or not peak else speed / peak

    @property
    def busy_share(self) -> float:
        """Of the data sheet's bandwidth, by all that may have been moved; 0 where unknown."""
        if self.time_ns <= 0:
            return 0.0
        return self.memory_ns * ATTAINABLE_BANDWIDTH / self.time_ns

    @property
    def rate_share(self) -> float | None:
        """Of the dense rate of its precision."""
        speed = self.tflops
        if speed is None:
            return None
        rate = self.rate
        return speed / rate if rate else None

    @property
    def eff_share(self) -> float | None:
        """Of what good large products reach on this card."""
        share = self.rate_share
        return None if share is None else share / self.peaks.eff

    @property
    def efficiency(self) -> float | None:
        """Of the roof that binds it, its launches' floor taken off; None where unknown.

        Above the ridge of what good large products reach, else of the data sheet's bandwidth.
        """
        if self.above_ridge:
            return self.eff_share
        moving, needed = self.time_ns - self.launches * self.floor.excused_ns, self.memory_ns
        if needed <= 0 or moving <= 0:
            return None
        return min(1.0, needed * ATTAINABLE_BANDWIDTH / moving)

    @property
    def has_products(self) -> bool:
        """Whether a kernel does matrix products, whatever its operator is called."""
        vendor = self.peaks.vendor
        return any(
            tensor_cores(name, vendor) or name.startswith("triton_tem_") for name in self.kernels
        )

    def outlasts(self, trivial_kernels: float) -> bool:
        """Whether it takes longer than so many trivial kernels, the slowest of all GPUs if unsure."""
        floor = self.floor.ns if self.floor.measured else LONGEST_FLOOR_NS
        return self.time_ns > trivial_kernels * self.launches * floor


def memory_ns(work: Work, peaks: DeviceMatch) -> float:
    """Time that bytes take at the attainable bandwidth; 0 where either is unknown."""
    size, peak = work.bytes, peaks.bandwidth_gbps
    if size is None or not peak:
        return 0.0
    return (work.most or size) / (ATTAINABLE_BANDWIDTH * peak)
