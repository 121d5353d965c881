"""A loaded recording as the screen needs it: trace, lanes, and the analysis once it is there."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.cache.beside import beside
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.trace.columns import Part, Step, Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.counter_lanes import with_counters, with_samples
from whichlayer.tui.families import families_of
from whichlayer.tui.instant_lanes import with_instants
from whichlayer.tui.kept_lanes import KeptLanes, for_entry, kept_lanes
from whichlayer.tui.lane_list import list_lanes
from whichlayer.tui.lane_titles import tell_apart
from whichlayer.tui.lanes import ShownLane, note_crowd
from whichlayer.tui.listed_rows import ListedRows
from whichlayer.tui.memory_lanes import with_memory
from whichlayer.tui.names import Names

# The first timeline does not wait for what shows an analysis.
if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis
    from whichlayer.tui.crowded import Crowd
    from whichlayer.tui.filtered import Filter
    from whichlayer.tui.heat import DeviceGaps, HeatRow
    from whichlayer.tui.links import Links
    from whichlayer.tui.owners import Owners
    from whichlayer.tui.whole_gaps import WholeGaps

Int32 = NDArray[np.int32]

_INT64_MAX = 2**63 - 1


class Extent(Enum):
    """How much of the file a document holds; the value says what follows."""

    READING = "reading …"
    WHOLE = "analysing …"
    KEPT_PART = "only a part: no verdict"


@dataclass(frozen=True, slots=True)
class Document:
    """What is shown; immutable, replaced as a whole when more is known.

    Attributes:
        trace: the recording.
        names: short names of its slices.
        lanes: the lanes in the order of the screen.
        low_ns, high_ns: the stretch that the screen can show.
        analysis: None while it is being worked out.
        owners, gaps, whole_gaps, steps: of each of ``analysis.devices``: who owns its time, the
            pieces of its gaps, its gaps as people count them, and where the window's steps lie.
        by_row: order of ``analysis.activities`` by trace row.
        links: what launched what, once there is an analysis.
        extent: how much of the file it holds; only a whole one is ever analysed.
        filter: what of the timeline and the kernel table is let through, None for all.
        listed: the lines of the timeline as they were listed last.
    """

    trace: Trace
    names: Names
    lanes: tuple[ShownLane, ...]
    low_ns: int
    high_ns: int
    analysis: Analysis | None = None
    owners: tuple[Owners, ...] = ()
    gaps: tuple[DeviceGaps, ...] = ()
    whole_gaps: tuple[WholeGaps, ...] = ()
    steps: tuple[tuple[HeatRow, ...], ...] = ()
    by_row: NDArray[np.intp] | None = None
    links: Links | None = None
    extent: Extent = Extent.WHOLE
    filter: Filter | None = None
    listed: ListedRows = field(default_factory=ListedRows, repr=False, compare=False)

    @property
    def home(self) -> tuple[int, int]:
        """What fitting shows first: the analysed window, else where the events are."""
        if self.analysis is None:
            return self.low_ns, self.high_ns
        if (crowd := self.crowd) is not None:
            return crowd.low_ns, crowd.high_ns
        window = self.analysis.window
        low, high = max(window.start_ns, self.low_ns), min(window.end_ns, self.high_ns)
        return (low, high) if high > low else (self.low_ns, self.high_ns)

    @property
    def crowd(self) -> Crowd | None:
        """Where the events are, where nothing was analysed and nearly all time has no event."""
        if self.analysis is None or self.analysis.devices:
            return None
        from whichlayer.tui.crowded import crowd_of

        return crowd_of(self.trace, self.low_ns, self.high_ns)

    @property
    def host_steps(self) -> tuple[Step, ...]:
        """The steps of the window, marked or inferred; before the analysis, those marked."""
        if self.analysis is None or self.analysis.steps is None:
            return self.trace.steps
        return tuple(row.step for row in self.analysis.steps.rows)

    @property
    def infers_steps(self) -> bool:
        """Whether nothing in the recording marks them."""
        steps = None if self.analysis is None else self.analysis.steps
        return steps is not None and steps.found.inferred

    @property
    def grows(self) -> bool:
        """More of the file is on its way."""
        return self.extent is Extent.READING

    @property
    def is_whole(self) -> bool:
        """All of the file was read."""
        return self.extent is Extent.WHOLE

    def device_of(self, lane: int) -> int | None:
        """Index into ``analysis.devices`` of a lane's device, None off the GPU."""
        if self.analysis is None or not self.lanes:
            return None
        number = self.lanes[lane].device
        for index, device in enumerate(self.analysis.devices):
            if device.number == number and (number >= 0 or self.lanes[lane].group == "gpu"):
                return index
        return None

    def launched_by(self, row: int) -> Int32:
        """GPU work that a call launched, by trace row."""
        return np.flatnonzero(self.trace.launch == row).astype(np.int32)

    def activity_of(self, row: int) -> int:
        """Index into ``analysis.activities`` of a trace row, or -1."""
        if self.analysis is None or self.by_row is None or not len(self.by_row):
            return -1
        rows = self.analysis.activities.row
        place = int(np.searchsorted(rows, row, sorter=self.by_row))
        found = int(self.by_row[min(place, len(rows) - 1)])
        return found if rows[found] == row else -1

    def segment_at(self, device: int, time_ns: int) -> int:
        """Index into a device's segments of the one that covers an instant, or -1."""
        if self.analysis is None or device >= len(self.analysis.segments):
            return -1
        segments = self.analysis.segments[device]
        place = int(np.searchsorted(segments.end_ns, time_ns, "right"))
        inside = place < len(segments.end_ns) and segments.start_ns[place] <= time_ns
        return place if inside else -1


def warnings_of(document: Document | None) -> tuple[TraceWarning, ...]:
    """What reading and the analysis warned of, the most severe first; none while reading."""
    if document is None or document.extent is Extent.READING:
        return ()  # what is missing so far may follow
    found = () if document.analysis is None else document.analysis.warnings
    from whichlayer.analysis.quality import most_severe_first  # no part of the first picture

    return tuple(most_severe_first((*document.trace.warnings, *found)))


def open_document(trace: Trace) -> Document:
    """Prepare a trace for the screen; everything but the analysis."""
    slices = _slices_of(trace)
    low, high, lanes = slices.low_ns, slices.high_ns, slices.lanes
    if trace.part is None:
        low, high = with_samples(trace, low, high, bool(lanes))
        low = min(low, 0)
    else:  # nobody must take for empty what was not read
        low, high = _within(trace.part, low, high)
    lanes = with_memory(with_counters(lanes, trace, high), trace, high)
    lanes = with_instants(lanes, trace)
    note_crowd(lanes)
    return Document(trace, Names(trace), lanes, low, high)


def beside_entry(document: Document) -> dict[str, NDArray[Any]]:
    """What an entry of the cache is to hold beside the columns of a document's trace.

    It makes the same screen again without working it out.
    """
    trace = document.trace
    slices = tuple(lane for lane in document.lanes if type(lane) is ShownLane)
    return for_entry(trace, families_of(trace), slices, *_extent(trace))


def _slices_of(trace: Trace) -> KeptLanes:
    """The lanes of slices, from the cache where they lie there."""
    kept = kept_lanes(trace, beside(trace)) if trace.part is None else None
    if kept is not None:
        return kept
    families = families_of(trace)
    lanes = list_lanes(trace, families)
    tell_apart(lanes)
    return KeptLanes(families, lanes, *_extent(trace))


def _extent(trace: Trace) -> tuple[int, int]:
    """The stretch of time that the slices on the screen take."""
    shown = ~(trace.stray | (trace.kind == SliceKind.PROFILER))
    if not shown.any():
        return 0, 1
    low = int(trace.start_ns.min(where=shown, initial=_INT64_MAX))
    # A slice without length may lie at the very end, and a cell holds what begins before its
    # right edge: one nanosecond more keeps it on the screen.
    return low, int(trace.end_ns.max(where=shown, initial=-_INT64_MAX)) + 1


def _within(part: Part, low: int, high: int) -> tuple[int, int]:
    """The stretch of a part in which there is anything; all of it where nothing was read."""
    if part.high_ns <= part.low_ns:
        return low, high
    low, high = max(low, part.low_ns), min(high, part.high_ns)
    return (low, high) if low < high else (part.low_ns, part.high_ns)


def with_analysis(document: Document, analysis: Analysis) -> Document:
    """The same document with what is known about it."""
    from whichlayer.analysis.heat_rows import step_rows
    from whichlayer.tui.heat import DeviceGaps
    from whichlayer.tui.links import Links
    from whichlayer.tui.owners import owners_of
    from whichlayer.tui.whole_gaps import WholeGaps

    gaps = tuple(DeviceGaps(analysis.gaps, i) for i in range(len(analysis.devices)))
    window_ns = analysis.window.end_ns - analysis.window.start_ns
    return replace(
        document,
        analysis=analysis,
        owners=owners_of(analysis),
        gaps=gaps,
        whole_gaps=tuple(WholeGaps(analysis.gaps, own, window_ns) for own in gaps),
        steps=step_rows(analysis),
        by_row=np.argsort(analysis.activities.row, kind="stable"),
        links=Links(analysis),
    )
