"""Who owns each bin of each row of a heatmap, to the nanosecond.

For instance, how idle every step was and who is to blame::

    heat = heatmap(analysis, rows="steps", bins=60)
    heat.idle                    # float64 (rows, bins): share of each bin spent in gaps
    heat.owner                   # uint8 (rows, bins): the layer with most of that
    heat.time_ns.sum(axis=(1, 2))  # exactly the length of every row
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.heat_rows import (
    HeatRow,
    HeatRows,
    Span,
    device_rows,
    rank_rows,
    step_rows,
    stream_rows,
)
from whichlayer.analysis.intervals import (
    Intervals,
    Measure,
    complement,
    intersect,
    subtract,
    union,
)
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, State

Int64 = NDArray[np.int64]

#: Places on the last axis of ``Heatmap.time_ns``: gaps by ``Layer``, then what is no gap.
GAPS: Final = slice(0, len(Layer))
BUSY: Final = len(Layer)  # the device computes; of a stream, it runs anything
SPACING: Final = BUSY + 1  # idle up to the launch floor
ELSEWHERE: Final = BUSY + 2  # of a stream: only other streams of the device compute
EDGE: Final = BUSY + 3  # outside every step, or outside the window
OWNERS: Final = BUSY + 4

BINS: Final = 60


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The bins of some rows, all on the scale of the longest row.

    Attributes:
        rows: what each row shows.
        edges_ns: int64 (rows, bins + 1); the bins behind the end of a shorter row are empty.
        time_ns: int64 (rows, bins, ``OWNERS``); of one bin it adds up to its length.
    """

    rows: tuple[HeatRow, ...]
    edges_ns: Int64
    time_ns: Int64

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which bins lie within their row: bool (rows, bins)."""
        return np.diff(self.edges_ns, axis=1) > 0

    @property
    def gap_ns(self) -> Int64:
        """Time in gaps, whoever owns them: int64 (rows, bins)."""
        return np.asarray(self.time_ns[:, :, GAPS].sum(axis=2))

    @property
    def idle(self) -> NDArray[np.float64]:
        """Share of each bin that is spent in gaps: float64 (rows, bins), 0 in empty bins."""
        return np.asarray(self.gap_ns / np.maximum(np.diff(self.edges_ns, axis=1), 1))

    @property
    def owner(self) -> NDArray[np.uint8]:
        """The ``Layer`` with most of a bin's gap time, ``NONE`` without any: uint8 (rows, bins)."""
        most = self.time_ns[:, :, GAPS].argmax(axis=2)
        return np.where(self.gap_ns > 0, most, Layer.NONE).astype(np.uint8)


def heatmap(
    analysis: Analysis | Sequence[Analysis],
    rows: HeatRows | str = HeatRows.STEPS,
    bins: int = BINS,
    span: Span | None = None,
    device: int | None = None,
) -> Heatmap:
    """A heatmap of one recording, or of several ranks of a job.

    Args:
        analysis: of one recording; of several for ``rows="ranks"``.
        rows: ``steps``, ``streams``, ``devices`` or ``ranks``.
        bins: how many columns, at least 1.
        span: show only this stretch (ns); by default the window of the analysis.
        device: only this index into ``Analysis.devices``.

    Raises:
        ValueError: no such rows, or several recordings for rows of one.
    """
    kind = HeatRows(rows)
    several = [analysis] if isinstance(analysis, Analysis) else list(analysis)
    if kind is HeatRows.RANKS:
        chosen = rank_rows(several)
    elif len(several) != 1:
        raise ValueError(f"rows of {kind} are of one recording, not of {len(several)}")
    else:
        chosen = _rows_of(several[0], kind, span)
    if device is not None:
        chosen = tuple(row for row in chosen if row.device == device)
    if span is not None:
        clipped = (_clipped(row, span) for row in chosen)
        chosen = tuple(row for row in clipped if row.end_ns > row.start_ns)
    return heat_of(several, chosen, bins)


def heat_of(analyses: Sequence[Analysis], rows: Sequence[HeatRow], bins: int) -> Heatmap:
    """The bins of any rows."""
    bins = max(bins, 1)
    edges = _edges(rows, bins)
    time = np.zeros((len(rows), bins, OWNERS), np.int64)
    tracks: dict[tuple[int, int, int], list[int]] = {}
    for place, row in enumerate(rows):
        tracks.setdefault((row.analysis, row.device, row.lane), []).append(place)
    for (which, device, lane), places in tracks.items():
        at = edges[places]
        parts = _parts_of(analyses[which], device, lane, (int(at.min()), int(at.max())))
        for owner, part in parts.items():
            time[places, :, owner] = np.diff(Measure(part).until(at.ravel()).reshape(at.shape))
        rest = EDGE if lane < 0 else ELSEWHERE
        time[places, :, rest] += np.diff(at) - time[places].sum(axis=2)
    return Heatmap(tuple(rows), edges, time)


def _rows_of(analysis: Analysis, kind: HeatRows, span: Span | None) -> tuple[HeatRow, ...]:
    whole = span or (analysis.window.start_ns, analysis.window.end_ns)
    if kind is HeatRows.DEVICES:
        return device_rows(analysis, whole)
    if kind is HeatRows.STREAMS:
        streams = (stream_rows(analysis, i, whole) for i in range(len(analysis.devices)))
        return tuple(row for rows in streams for row in rows)
    return tuple(row for rows in step_rows(analysis) for row in rows)


def _clipped(row: HeatRow, span: Span) -> HeatRow:
    low, high = max(row.start_ns, span[0]), min(row.end_ns, span[1])
    return HeatRow(row.label, low, high, row.device, row.lane, row.analysis)


def _edges(rows: Sequence[HeatRow], bins: int) -> Int64:
    start = np.array([row.start_ns for row in rows], np.int64)
    length = np.array([max(row.end_ns - row.start_ns, 0) for row in rows], np.int64)
    longest = max(int(length.max()), bins) if len(rows) else bins
    whole, rest = divmod(longest, bins)
    column = np.arange(bins + 1, dtype=np.int64)
    offset = whole * column + rest * column // bins
    return np.asarray(np.minimum(start[:, None] + offset, (start + length)[:, None]))


def _parts_of(analysis: Analysis, device: int, lane: int, span: Span) -> dict[int, Intervals]:
    """When each owner has the time of a device, or of one of its streams.

    All but the rest: EDGE of a device, ELSEWHERE of a stream.

    Args:
        analysis: any.
        device: index into its devices.
        lane: of a stream, or -1.
        span: what is asked for.
    """
    segments = analysis.segments[device]
    state, start, end = segments.state, segments.start_ns, segments.end_ns
    gap, spacing = state == State.GAP, state == State.SPACING
    chosen = {int(layer): gap & (segments.layer == layer) for layer in Layer}
    chosen[SPACING] = spacing
    if lane < 0:
        chosen[BUSY] = ~(gap | spacing | (state == State.EDGE))
        return {owner: Intervals(start[some], end[some]) for owner, some in chosen.items()}
    activities = analysis.activities
    mine = (activities.device == device) & (analysis.trace.lane_id[activities.row] == lane)
    runs = union(activities.start_ns[mine], activities.end_ns[mine])
    parts = {owner: subtract(union(start[some], end[some]), runs) for owner, some in chosen.items()}
    told = state != State.EDGE
    accounted = union(start[told], end[told])
    parts[EDGE] = complement(accounted, *span)
    parts[BUSY] = intersect(runs, accounted)
    return parts
