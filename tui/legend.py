"""What the colours in sight stand for, and how much of what is drawn each takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.kinds import LaneKind
from whichlayer.tui.colour_by import codes_by
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.document import Document
from whichlayer.tui.instant_lanes import InstantRow
from whichlayer.tui.lanes import ShownLane
from whichlayer.tui.raster import Row
from whichlayer.tui.slots import PLAIN, ColourBy, slot_word
from whichlayer.tui.viewport import Viewport

Int64 = NDArray[np.int64]

#: Lines of a section; what takes less is summed up.
MOST_LINES = 12

#: What slices are that a way of colouring says nothing of.
_PLAIN_WORDS = {
    ColourBy.OWNER: "not judged, or the cause of no gap",
    ColourBy.STREAM: "launches nothing",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A colour in sight.

    Attributes:
        slot: its code; -1 for what is summed up.
        label: what it stands for.
        time_ns: time of the bars in sight that have it, cut to the visible span.
        share: of the time of all bars of the section.
    """

    slot: int
    label: str
    time_ns: int
    share: float


@dataclass(frozen=True, slots=True)
class Section:
    """The rows in sight of the GPU, or of the host."""

    title: str
    entries: tuple[Entry, ...]


def legend_of(
    document: Document, rows: Iterable[tuple[ShownLane, Row]], port: Viewport, by: ColourBy
) -> tuple[Section, ...]:
    """What the colours of some rows stand for.

    Args:
        document: what is shown.
        rows: those in sight, each with its lane.
        port: the visible span.
        by: how bars are coloured.

    Returns:
        A section for rows of GPUs and one for the others, where there are any bars.
    """
    codes = codes_by(document, by)
    parts: dict[str, list[tuple[Int64, Int64]]] = {}
    counted: set[Row] = set()
    for lane, row in rows:
        if isinstance(row, CounterRow | InstantRow) or not len(row) or row in counted:
            continue  # a row may have several lines
        counted.add(row)
        title = "GPU rows" if lane.group in ("gpu", "note") else "host rows"
        parts.setdefault(title, []).append(_in_sight(row, port))
    sections = []
    for title, found in sorted(parts.items()):
        slices = np.concatenate([one for one, _ in found])
        entries = _entries(document, slices, np.concatenate([ns for _, ns in found]), codes, by)
        if entries:
            sections.append(Section(title, entries))
    return tuple(sections)


def _in_sight(row: Row, port: Viewport) -> tuple[Int64, Int64]:
    """The slices of a row that can be seen, by row of the trace, and for how long each."""
    begun = int(np.searchsorted(row.start_ns, port.end_ns, "left"))
    low = np.maximum(row.start_ns[:begun], port.start_ns)
    length = np.minimum(row.end_ns[:begun], port.end_ns) - low
    seen = np.flatnonzero(length > 0)
    return row.slices[seen].astype(np.int64), np.asarray(length[seen])


def _entries(
    document: Document, slices: Int64, length: Int64, codes: NDArray[np.uint8], by: ColourBy
) -> tuple[Entry, ...]:
    trace = document.trace
    if by is ColourBy.NAME:
        keys = trace.name_id[slices].astype(np.int64)
    elif by is ColourBy.STREAM:
        keys = np.where(codes[slices] == PLAIN, -1, _streams(document)[slices])
    else:
        keys = codes[slices].astype(np.int64)
    kinds, first, place = np.unique(keys, return_index=True, return_inverse=True)
    times = np.zeros(len(kinds), np.int64)
    np.add.at(times, place, length)
    total = int(times.sum())
    if not total:
        return ()
    order = np.argsort(-times, kind="stable").tolist()
    entries = []
    for which in order[:MOST_LINES]:
        row = int(slices[first[which]])
        slot = int(codes[row])
        label = _label(document, by, row, slot, int(kinds[which]))
        entries.append(Entry(slot, label, int(times[which]), int(times[which]) / total))
    rest = int(times[order[MOST_LINES:]].sum())
    if rest:
        entries.append(Entry(-1, f"{len(order) - MOST_LINES} more", rest, rest / total))
    return tuple(entries)


def _streams(document: Document) -> Int64:
    """The lane of GPU work, and of the work that a call launches: int64 (n,), else -1."""
    trace = document.trace
    on_stream = np.array([lane.kind == LaneKind.GPU_STREAM for lane in trace.lanes], np.bool_)
    lanes = np.where(on_stream[trace.lane_id], trace.lane_id, -1).astype(np.int64)
    launched = (trace.launch >= 0) & (lanes >= 0)
    lanes[trace.launch[launched]] = lanes[launched]
    return lanes


def _label(document: Document, by: ColourBy, row: int, slot: int, key: int) -> str:
    if slot == PLAIN and by in _PLAIN_WORDS:
        return _PLAIN_WORDS[by]
    if by is ColourBy.NAME:
        return document.names.short(row)
    if by is ColourBy.STREAM:
        lane = document.trace.lanes[key]
        return next(
            (
                shown.title
                for shown in document.lanes
                if shown.lane is lane and shown.group == "gpu"
            ),
            clean(str(lane.name or lane.stream)),
        )
    return slot_word(slot)
