"""What an analysis says: typed tables that the report and the screen both read.

Nothing here computes; ``whichlayer.analysis.pipeline`` fills these in. Times are int64
nanoseconds since the trace start. The word "device" in a column is an index into
``Analysis.devices``, never the number in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.options import Options as Options  # noqa: PLC0414  found here too
from whichlayer.analysis.quick_values import quick
from whichlayer.analysis.states import Role as Role  # noqa: PLC0414  likewise
from whichlayer.analysis.states import State as State  # noqa: PLC0414  likewise
from whichlayer.analysis.steps.model import StepTable
from whichlayer.analysis.trace.columns import Step, Trace

if TYPE_CHECKING:  # what is judged reads these tables
    from whichlayer.analysis.kernels.judged import JudgedCalls

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
UInt8 = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that is analysed.

    Attributes:
        start_ns, end_ns: bounds.
        steps: the recorded steps inside, in order; empty where there are none.
        reason: why these bounds, in words for people.
    """

    start_ns: int
    end_ns: int
    steps: tuple[Step, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU and how its time splits over the whole recording (not the window).

    ``busy + idle == span`` and ``compute + exposed_comm + exposed_copy == busy``.

    Attributes:
        number: as recorded (on ROCm an agent number).
        name: from the file, or empty.
        model: row of the device table, or None where none fits.
        model_note: how sure that is, or why there is none.
        vendor: ``nvidia``, ``amd``, ``intel`` … or empty.
        start_ns, end_ns: first start and last end of any activity.
        activities: kernels, copies and memsets.
    """

    number: int
    name: str
    model: str | None
    model_note: str
    vendor: str
    start_ns: int
    end_ns: int
    busy_ns: int
    idle_ns: int
    compute_ns: int
    exposed_comm_ns: int
    exposed_copy_ns: int
    activities: int


class GapKind(IntEnum):
    """What runs in a gap instead of compute."""

    IDLE = 0
    EXPOSED_COMM = 1
    EXPOSED_COPY = 2

    @property
    def id(self) -> str:
        """The word used in JSON."""
        return ("idle", "exposed-comm", "exposed-copy")[self.value]


@dataclass(frozen=True, slots=True)
class Gaps:
    """Every piece of a gap inside the window above the launch floor, one row per piece and cause.

    Sorted by device, then start; pieces of one device never overlap.

    Attributes:
        start_ns, end_ns: int64 (n,).
        device: int32 (n,), index into ``Analysis.devices``.
        kind: uint8 (n,), a ``GapKind``.
        cause: int32 (n,), index into ``rule_ids``.
        layer: uint8 (n,), a ``Layer``.
        next_row: int32 (n,), the trace row of the activity that ends the piece; -1 at the
            end of the window.
        launch_row: int32 (n,), its launch, -1 where the file holds none.
        culprit_row: int32 (n,), the slice that explains the piece (the loader call, the
            blocking call, the collective …), -1 where none does.
        rule_ids: the causes that ``cause`` points into.
    """

    start_ns: Int64
    end_ns: Int64
    device: Int32
    kind: UInt8
    cause: Int32
    layer: UInt8
    next_row: Int32
    launch_row: Int32
    culprit_row: Int32
    rule_ids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start_ns)

    def rule(self, index: int) -> str:
        """The cause of one piece."""
        return self.rule_ids[int(self.cause[index])]


@dataclass(frozen=True, slots=True)
class Where:
    """The place to fix something; every part may be unknown.

    ``record`` says what to record next time to know more, or is empty.
    """

    file: str | None = None
    line: int | None = None
    module: str | None = None
    operator: str | None = None
    record: str = ""

    def __str__(self) -> str:
        if self.file is not None:
            return self.file if self.line is None else f"{self.file}:{self.line}"
        return self.module or self.operator or ""


@dataclass(frozen=True, slots=True)
class GapText:
    """One gap piece in words: what is told of it on the screen and in the report."""

    rule: str
    layer: Layer
    title: str
    fix: str
    where: Where
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Segments:
    """The window of one device, cut into stretches that touch and never overlap.

    Attributes:
        start_ns, end_ns: int64 (n,); ``start_ns[i + 1] == end_ns[i]``.
        state: uint8 (n,), a ``State``.
        layer: uint8 (n,), a ``Layer``: the owner of the gap, or of the kernel's loss.
        ref: int32 (n,), index into ``Gaps`` for GAP, into ``Kernels`` for the busy states,
            else -1.
    """

    start_ns: Int64
    end_ns: Int64
    state: UInt8
    layer: UInt8
    ref: Int32


@dataclass(frozen=True, slots=True)
class Kernels:
    """Every GPU activity, judged; sorted by device, then start.

    Attributes:
        row: int32 (n,), trace row.
        device: int32 (n,), index into ``Analysis.devices``.
        start_ns, end_ns: int64 (n,).
        role: uint8 (n,), a ``Role``.
        op_row: int32 (n,), the operator that launched it, -1 where unknown.
        owned_ns: int64 (n,), the instants of the window that this activity accounts for.
        loss_ns: int64 (n,), of ``owned_ns``, what a well-made kernel would not have taken.
        judged: bool (n,), bytes or flops are known and the device's peaks are confirmed.
        layer: uint8 (n,), owner of the loss.
        group: int32 (n,), index into ``Analysis.kernels``, -1 outside the window.
    """

    row: Int32
    device: Int32
    start_ns: Int64
    end_ns: Int64
    role: UInt8
    op_row: Int32
    owned_ns: Int64
    loss_ns: Int64
    judged: NDArray[np.bool_]
    layer: UInt8
    group: Int32


@quick
@dataclass(frozen=True, slots=True)
class KernelGroup:
    """Kernels of one name and one set of shapes.

    Where a figure is None, ``why`` says why. ``gbps`` and ``tflops`` are over ``owned_ns``
    of the calls whose figures are known.

    Attributes:
        name, short_name: as recorded, and for people.
        operator: the operator that launched them, or empty.
        shapes: the operator's input shapes and types in short, or empty.
        calls: how many.
        total_ns: their time in the window (each instant counted once).
        share: of the window times its devices.
        bytes: of one call (compulsory traffic), median over calls.
        flops: of one call.
        gbps, tflops: achieved.
        bandwidth_fraction: of the data sheet's memory bandwidth.
        flops_fraction: of the dense matrix peak of ``precision``.
        roof_fraction: ideal time over time, by the ideal that its loss was measured
            against: ``1 - lost_ns / total_ns`` where there is one.
        bound: ``memory``, ``compute``, ``latency`` or ``unknown``.
        precision: ``fp32``, ``tf32``, ``bf16`` … or None.
        tensor_cores: True, False or None for unknown.
        occupancy: percent of the warps of an SM that fit by the launch's registers, shared
            memory and threads; None where one of them is not recorded.
        lost_ns: time above the ideal, of judged calls.
        layer: who owns the loss (NONE at the roof, UNKNOWN unexplained).
        rule: the rule that explains it, or empty.
        why: one line: how this was judged, or why it was not.
        flags: ``impossible``, ``cache-resident``, ``lower-bound`` …
        rows: int32, the trace rows of the calls.
        recorded_occupancy: ``est. achieved occupancy %`` as recorded, or None.
        limiter: what limits ``occupancy``: ``registers``, ``shared memory``, ``warps`` or
            ``blocks``; or empty.
        blocks: of the grid of a typical call, or None.
        resident_blocks: how many of them fit one SM, or None.
        waves: grid over the blocks that run at once on the whole card, or None.
        median_ns: duration of a typical call.
        variability: spread of the middle four fifths of the durations over their median; None
            where calls are few.
        drift: how many times as long a call takes in the later half of the steps as in the
            earlier one; None where that is no more than noise or not known.
        counters: the command that reads this kernel's hardware counters, where the kernel
            itself is to blame; else empty.
        attainable_gbps: what a call of this size reaches at best, its launches included; None
            where that is not known.
        fits_cache: whether the bytes of a call may be in the last-level cache, or None.
    """

    name: str
    short_name: str
    operator: str
    shapes: str
    calls: int
    total_ns: int
    share: float
    bytes: int | None
    flops: int | None
    gbps: float | None
    tflops: float | None
    bandwidth_fraction: float | None
    flops_fraction: float | None
    roof_fraction: float | None
    bound: str
    precision: str | None
    tensor_cores: bool | None
    occupancy: float | None
    lost_ns: int
    layer: Layer
    rule: str
    why: str
    flags: tuple[str, ...]
    rows: Int32
    recorded_occupancy: float | None = None
    limiter: str = ""
    blocks: int | None = None
    resident_blocks: int | None = None
    waves: float | None = None
    median_ns: int = 0
    variability: float | None = None
    drift: float | None = None
    counters: str = ""
    attainable_gbps: float | None = None
    fits_cache: bool | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """Where a window's time went; the parts add up to ``total_ns`` exactly.

    Attributes:
        total_ns: window times devices.
        at_roof_ns: busy time that a well-made kernel needs.
        loss_ns: busy time above that, by owner (UNKNOWN: no rule explains it).
        gap_ns: gap time by owner (UNKNOWN: unattributed).
        spacing_ns: idle up to the launch floor.
        unjudged_ns: busy time of kernels whose work is unknown.
        edge_ns: outside every step.
    """

    total_ns: int
    at_roof_ns: int
    loss_ns: Mapping[Layer, int]
    gap_ns: Mapping[Layer, int]
    spacing_ns: int
    unjudged_ns: int
    edge_ns: int

    def lost_to(self, layer: Layer) -> int:
        """Gaps and kernel losses of one layer together."""
        return self.loss_ns.get(layer, 0) + self.gap_ns.get(layer, 0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The first sentence: which side of the CUDA boundary the time is lost on.

    ``side`` is ``above-cuda``, ``below-pytorch``, ``both``, ``unclear`` or ``healthy``.
    ``caveat`` says why it is to be trusted less, or is empty. ``withheld`` says in few words why
    a span has no side whatever its shares are, or is empty.
    """

    side: str
    above_share: float
    below_share: float
    text: str
    caveat: str = ""
    withheld: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of time on a device (index into ``Analysis.devices``)."""

    start_ns: int
    end_ns: int
    device: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: what is wrong, whose it is, where to change it, what it is worth.

    ``recoverable_ns`` is None where nothing has been replayed. ``confidence`` is ``high``,
    ``medium`` or ``low``. ``threshold`` names the setting that let it through.
    """

    rule: str
    layer: Layer
    title: str
    time_ns: int
    recoverable_ns: int | None
    share: float
    fix: str
    where: Where
    evidence: tuple[str, ...]
    regions: tuple[Region, ...]
    confidence: str
    threshold: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """Everything that is known about one trace in one window.

    ``together_ns`` is by how much the window, times its devices, would shrink without any of the
    findings that can be replayed; None where fewer than two can. ``judged`` is what the kernels
    were judged by, for whoever asks why a rule did not apply.
    """

    trace: Trace
    options: Options
    window: Window
    devices: tuple[Device, ...]
    floor_ns: tuple[int, ...]
    gaps: Gaps
    activities: Kernels
    kernels: tuple[KernelGroup, ...]
    segments: tuple[Segments, ...]
    budget: Budget
    budget_by_device: tuple[Budget, ...]
    budget_by_step: tuple[Budget, ...]
    verdict: Verdict
    findings: tuple[Finding, ...]
    warnings: tuple[TraceWarning, ...]
    steps: StepTable | None = None
    together_ns: int | None = None
    judged: tuple[JudgedCalls, ...] = ()
