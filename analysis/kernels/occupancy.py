"""How much of a multiprocessor a kernel can fill, worked out from how it was launched.

The arithmetic is that of CUDA's occupancy calculator (``cuda_occupancy.h``): blocks resident
on one SM are limited by its warps, its block slots, its registers and its shared memory. What
a recording calls ``blocks per SM`` is the grid over the SMs, no residency, and its ``est.
achieved occupancy %`` is a rounded product of both that ignores shared memory asked for beyond
48 KB. AMD's recordings hold no registers: nothing is derived there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from whichlayer.analysis.kernels.sm_limits import WARP, SmLimits
from whichlayer.analysis.quick_values import quick

#: More than any launch has; larger figures are damaged input.
_LARGEST_GRID: Final = 1 << 62


@quick
@dataclass(frozen=True, slots=True)
class LaunchShape:
    """How a kernel was launched.

    Attributes:
        blocks: of the grid.
        threads: of one block.
        registers: of one thread, or None.
        shared_bytes: of one block, static and dynamic, or None.
    """

    blocks: int
    threads: int
    registers: int | None = None
    shared_bytes: int | None = None

    @classmethod
    def from_detail(
        cls, detail: Mapping[str, Any], *, in_threads: bool = False
    ) -> LaunchShape | None:
        """Read a kernel's arguments; None where grid or block are missing or no sizes.

        Args:
            detail: as recorded.
            in_threads: the grid counts threads (``hipExtModuleLaunchKernel``).
        """
        grid, block = _sizes(detail.get("grid")), _sizes(detail.get("block"))
        if grid is None or block is None:
            return None
        if in_threads:
            grid = [-(-g // b) for g, b in zip(grid, block, strict=False)]
        blocks, threads = math.prod(grid), math.prod(block)
        if not 0 < blocks <= _LARGEST_GRID or not 0 < threads <= 1024:
            return None
        return cls(
            blocks,
            threads,
            _count(detail.get("registers per thread"), 255),
            _count(detail.get("shared memory"), 1 << 20),
        )


@quick
@dataclass(frozen=True, slots=True)
class Residency:
    """What of a launch fits the card at once.

    Attributes:
        shape: the launch.
        units: SMs of the card.
        resident: blocks that fit one SM.
        occupancy: warps of those blocks over the warps that an SM holds.
        limiter: ``registers``, ``shared memory``, ``warps`` or ``blocks``: what a further
            block would lack first.
    """

    shape: LaunchShape
    units: int
    resident: int
    occupancy: float
    limiter: str

    @property
    def waves(self) -> float:
        """Grid over the blocks that run at once on the whole card."""
        return self.shape.blocks / (self.units * self.resident)

    @property
    def tail(self) -> float:
        """How full the waves are on average: 1 where the last one is full."""
        return self.waves / math.ceil(self.waves)


def residency(shape: LaunchShape, limits: SmLimits, units: int) -> Residency | None:
    """Blocks on an SM at once, and what limits them; None where that is not known.

    Source: ``cudaOccMaxActiveBlocksPerMultiprocessor`` in CUDA's ``cuda_occupancy.h``. The
    largest shared memory carve-out is taken, as that header does.
    """
    if shape.registers is None or shape.shared_bytes is None or units <= 0:
        return None
    resident, occupancy, limiter = _fitting(
        -(-shape.threads // WARP), shape.registers, shape.shared_bytes, limits
    )
    if resident <= 0:  # it did run: what was recorded is not what it used
        return None
    return Residency(shape, units, resident, occupancy, limiter)


@lru_cache(maxsize=65536)
def _fitting(
    warps: int, registers: int, shared_bytes: int, limits: SmLimits
) -> tuple[int, float, str]:
    """Blocks on an SM at once, the occupancy that they make, and what a further one lacks."""
    resident, limiter = min(
        (limits.warps // warps, "warps"),
        (limits.blocks, "blocks"),
        (_by_registers(registers, warps, limits), "registers"),
        (_by_shared(shared_bytes, limits), "shared memory"),
        key=itemgetter(0),
    )
    return resident, resident * warps / limits.warps, limiter


def _by_registers(registers: int, warps: int, limits: SmLimits) -> int:
    """Registers are given out to whole warps, from the part of the file of each scheduler."""
    if registers <= 0:
        return limits.blocks
    of_warp = _round_up(registers * WARP, limits.register_unit)
    if of_warp * _round_up(warps, limits.partitions) > limits.registers:
        return 0
    resident = limits.registers // limits.partitions // of_warp * limits.partitions
    return resident // warps


def _by_shared(size: int, limits: SmLimits) -> int:
    used = _round_up(size + limits.reserved_bytes, limits.shared_unit)
    return limits.shared_bytes // used if used > 0 else limits.blocks


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _sizes(value: Any) -> list[int] | tuple[int, ...] | None:
    """One to three positive integers as they are; None for anything else."""
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= 3:
        return None
    for size in value:
        if type(size) is not int or size <= 0:
            return None
    return value


def _count(value: Any, most: int) -> int | None:
    """A count as recorded; None where it is none, or more than there can be."""
    return value if type(value) is int and 0 <= value <= most else None
