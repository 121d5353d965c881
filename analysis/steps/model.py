"""What is known of the steps of a window.

Times are nanoseconds; those of the GPU are sums over the devices of the analysis, so that the
parts of a step add up to its ``total_ns`` whatever the number of devices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.trace.columns import Step, StepSource


class Phase(IntEnum):
    """What a program does in a part of a step."""

    INPUT = 0
    FORWARD = 1
    BACKWARD = 2
    OPTIMIZER = 3
    OTHER = 4

    @property
    def id(self) -> str:
        """The word used in JSON."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class StepSet:
    """The steps of a recording and where they come from.

    Attributes:
        steps: in order.
        source: None where there are none.
        how: in words for people: what marks them, or what they were inferred from.
        record: what to record to have them marked, empty where they are.
    """

    steps: tuple[Step, ...]
    source: StepSource | None
    how: str
    record: str = ""

    @property
    def inferred(self) -> bool:
        """Whether nothing marks them in the recording."""
        return self.source is StepSource.INFERRED


@dataclass(frozen=True, slots=True)
class Inferred:
    """Steps that nothing marks, and what shows them, in words."""

    steps: tuple[Step, ...]
    how: str


@dataclass(frozen=True, slots=True)
class StepFigures:
    """One step.

    ``busy + idle == total`` and ``compute + exposed_comm + exposed_copy == busy``; phases add
    up to ``total_ns`` on the device and to ``host_ns`` on the host.

    Attributes:
        step: which.
        host_ns: how long it lasts on its thread; None where only the GPU shows it.
        spans: start and end on each device, by ``Analysis.devices``.
        total_ns: of all devices together, as far as the window holds it.
        lost_ns: gaps and kernel losses that have an owner or an unknown one.
        owner: who lost most of it, None where nothing was lost.
        owner_ns: how much that is.
        launches: calls that launched its work; None where the recording holds none.
        kernels: activities that it owns.
        whole: the window holds all of it.
        warm_up: the first step, longer than 1.5 times the median: kept out of statistics.
        host_phases, device_phases: by phase, None where nothing tells phases.
    """

    step: Step
    host_ns: int | None
    spans: tuple[tuple[int, int], ...]
    total_ns: int
    busy_ns: int
    idle_ns: int
    compute_ns: int
    exposed_comm_ns: int
    exposed_copy_ns: int
    lost_ns: int
    owner: Layer | None
    owner_ns: int
    launches: int | None
    kernels: int
    whole: bool
    warm_up: bool = False
    host_phases: Mapping[Phase, int] | None = None
    device_phases: Mapping[Phase, int] | None = None

    @property
    def duration_ns(self) -> int:
        """The step's length: the mean over devices; without any, that on its thread."""
        return self.total_ns // len(self.spans) if self.spans else self.host_ns or 0


@dataclass(frozen=True, slots=True)
class Growth:
    """A part of a step that took longer than in the usual one.

    Attributes:
        kind: ``cause`` of a gap, ``kernel``, or ``other`` for what is neither.
        name: rule, kernel name as recorded, or what it is in words.
        usual_ns, taken_ns: in the median step, in this one; on all devices.
    """

    kind: str
    name: str
    usual_ns: int
    taken_ns: int

    @property
    def grown_ns(self) -> int:
        """By how much."""
        return self.taken_ns - self.usual_ns


@dataclass(frozen=True, slots=True)
class Outlier:
    """A step that is longer than the others, and the parts that grew most, largest first."""

    index: int
    over_ns: int
    growths: tuple[Growth, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Over the whole steps that are no warm-up.

    Percentiles are by nearest rank, so that each is the length of a real step. The last step of
    a recording counts without the tail that a next one would have taken over.

    Attributes:
        steps: how many.
        median_ns, p10_ns, p90_ns, shortest_ns, longest_ns: of their lengths.
    """

    steps: int
    median_ns: int
    p10_ns: int
    p90_ns: int
    shortest_ns: int
    longest_ns: int


@dataclass(frozen=True, slots=True)
class StepTable:
    """The steps of a window, each by itself and over all of them.

    Attributes:
        found: the steps of the whole recording and where they come from.
        rows: those of the window.
        statistics: None without a whole step.
        outliers: those much longer than the median.
        phases_record: what to record to have phases, empty where they are known.
    """

    found: StepSet
    rows: tuple[StepFigures, ...] = ()
    statistics: Statistics | None = None
    outliers: tuple[Outlier, ...] = ()
    phases_record: str = field(default="")
