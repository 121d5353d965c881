"""The part of a trace that some steps or a span need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.part.needed import NOTHING, Wanted, needed, takes_all
from whichlayer.analysis.reader.keep import Keep, kept_in
from whichlayer.analysis.trace.columns import (
    Int32,
    Int64,
    Part,
    Trace,
    byte_of,
    read_many,
)
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.analysis.trace.nesting import nest_slices

#: The code of the warning that a trace is a part.
WARNING: Final = "part"


def cut(trace: Trace, wanted: Wanted) -> Trace:
    """What some steps or a span need of a trace; all of it where nothing marks the steps.

    The part holds everything that touches the stretch that is needed. Outside it, it holds what
    tells about the recording as a whole: GPU work, the calls that launched it, operators, steps
    and other annotations, Python frames that tell phases, instants, counters and flows. All other
    slices are gone: Python frames, and what nothing tells the kind of.
    Origin, steps, lanes, links and the number of events are those of the whole.

    Args:
        trace: a whole recording.
        wanted: what is to be looked at.
    """
    if takes_all(trace, wanted):
        return trace
    stretch = needed(trace, wanted) or NOTHING
    inside = stretch.inside(trace.start_ns, trace.end_ns)
    kept = inside | kept_in(trace)
    rows = np.flatnonzero(kept)
    place = np.full(len(trace) + 1, -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    lane_rows = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))[trace.lane_rows]
    parent, depth = _nested(trace, rows, place, lane_rows)
    found = replace(
        trace,
        **{name: getattr(trace, name)[rows] for name in _COLUMNS},
        parent=parent,
        depth=depth,
        launch=place[trace.launch[rows]],
        lane_rows=lane_rows,
        steps=tuple(replace(step, row=int(place[step.row])) for step in trace.steps),
        _full_args=_Renumbered(trace._full_args, rows),
    )
    frames = bool((trace.kind == SliceKind.PYTHON).any())
    return labelled(found, stretch, wanted, trace.duration_ns, frames)


def labelled(trace: Trace, stretch: Keep, wanted: Wanted, duration_ns: int, frames: bool) -> Trace:
    """A trace that holds what a stretch needs and nothing else, saying so.

    Args:
        trace: what was read.
        stretch: since the trace start.
        wanted: for which it was read.
        duration_ns: of the whole recording.
        frames: there are Python frames in it.
    """
    part = Part(stretch.low_ns, stretch.high_ns, duration_ns, wanted.steps, wanted.span_ns, frames)
    return replace(trace, warnings=(*trace.warnings, _warning(part)), part=part)


_COLUMNS: Final = (
    "start_ns", "end_ns", "name_id", "category_id", "kind", "lane_id", "correlation",
    "external_id", "detail_id", "stray",
)  # fmt: skip


def _nested(trace: Trace, rows: Int64, place: Int32, lane_rows: Int64) -> tuple[Int32, Int32]:
    """Parents and depths of the rows that are kept; lanes of which nothing is gone keep theirs."""
    parent, depth = place[trace.parent[rows]], trace.depth[rows]
    whole = np.diff(trace.lane_rows) == np.diff(lane_rows)
    # Without their slices the lanes that stay as they are take no time to nest.
    left = np.repeat(~whole, np.diff(lane_rows))
    edges = np.concatenate(([0], np.cumsum(left, dtype=np.int64)))[lane_rows]
    found = np.flatnonzero(left)
    kinds = [lane.kind == LaneKind.GPU_STREAM for lane in trace.lanes]
    up, down = nest_slices(trace.start_ns[rows[found]], trace.end_ns[rows[found]], edges, kinds)
    parent[found] = np.where(up >= 0, found[up], -1)
    depth[found] = down
    return parent, depth


@dataclass(frozen=True, slots=True)
class _Renumbered:
    """Reads the arguments of a part's rows as those of the trace that it was cut from."""

    read: Callable[[int], Mapping[str, Any]]
    rows: Int64

    def __call__(self, row: int) -> Mapping[str, Any]:
        """The arguments of one slice."""
        return self.read(int(self.rows[row]))

    def byte_of(self, row: int) -> int:
        """Where a slice stands in the text of the file."""
        return byte_of(self.read, int(self.rows[row]))

    def many(self, rows: Int32) -> list[Mapping[str, Any]]:
        """The arguments of many slices."""
        return read_many(self.read, self.rows[rows].astype(np.int32))


def _warning(part: Part) -> TraceWarning:
    option = "--span" if part.span_ns is not None else "--steps"
    if part.high_ns <= part.low_ns:
        return TraceWarning(WARNING, f"nothing was read in full: nothing is where {option} says")
    low = max(part.low_ns, 0) / 1e9
    high = max(min(part.high_ns, part.duration_ns) / 1e9, low)
    return TraceWarning(
        WARNING,
        f"only {low:.3f} s to {high:.3f} s was read in full, which {option} needs; of the rest "
        "all but Python frames is known",
    )
