"""Steps over one another as rows of a chart: how busy or idle each position is, and how that varies.

The GPU's gaps come first, then its streams and the threads that launch work: of each the median
and the spread over all steps, position by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.steps.folded import Floats, Folded, ranks
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind
from whichlayer.tui.lanes import ShownLane

Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]

#: Of more steps than this every lane is drawn from as many, evenly chosen.
_MOST_STEPS = 1000

#: Lanes that are drawn at most.
_MOST_LANES = 12

#: What a thread does in its operators and calls: marks and frames last as long as the step.
_HOST_WORK = (SliceKind.CPU_OP, SliceKind.RUNTIME)

#: How far a cell is filled: not at all, by one step in ten or fewer not, by most, by nearly all.
NOTHING, ABOVE, MEDIAN, BELOW = range(4)


@dataclass(frozen=True, slots=True)
class Curve:
    """One row of the chart.

    Attributes:
        label: at its left.
        group: ``gaps``, or the group of its lane.
        low, median, high: float64 (bins,): share of each position; tenth percentile, median and
            ninetieth over the steps that reach it; NaN where none does.
    """

    label: str
    group: str
    low: Floats
    median: Floats
    high: Floats


def curves_of(
    trace: Trace, lanes: Sequence[ShownLane], device: int, found: Folded
) -> tuple[Curve, ...]:
    """The rows below that of the gaps: streams of a device, then threads that do something.

    Args:
        trace: the recording.
        lanes: of the screen, in their order.
        device: number of the device as recorded.
        found: the steps over one another.
    """
    chosen = found.rows[:: -(-len(found.rows) // _MOST_STEPS)]
    start = np.array([row.start_ns for row in chosen], np.int64)
    end = np.array([row.end_ns for row in chosen], np.int64)
    edges = np.minimum(start[:, None] + found.offset_ns[None, :], end[:, None])
    length = np.diff(edges, axis=1)
    curves = []
    for lane in lanes:
        gpu = lane.group == "gpu" and lane.device == device
        if not gpu and lane.group != "cpu":
            continue
        begins, ends = _busy(trace, lane, GPU_WORK if gpu else _HOST_WORK)
        taken = np.diff(_busy_until(begins, ends, edges), axis=1)
        if not taken.any():
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(length > 0, taken / np.maximum(length, 1), np.nan)
        low, median, high = ranks(share, length > 0)
        curves.append(Curve(lane.title.strip(), lane.group, low, median, high))
        if len(curves) == _MOST_LANES:
            break
    return tuple(curves)


def _busy(trace: Trace, lane: ShownLane, kinds: Sequence[SliceKind]) -> tuple[Int64, Int64]:
    """Where a lane does work of some kinds: sorted stretches that do not touch."""
    rows = np.sort(lane.rows_in_order()[0])
    rows = rows[np.isin(trace.kind[rows], kinds)]
    begin, end = trace.start_ns[rows], trace.end_ns[rows]
    if not len(rows):
        return begin, end
    reach = np.maximum.accumulate(end)
    first = np.concatenate(([True], begin[1:] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return begin[first], reach[last]


def _busy_until(begin: Int64, end: Int64, times: Int64) -> Int64:
    """How long stretches have lasted up to each of some times."""
    if not len(begin):
        return np.zeros_like(times)
    before = np.concatenate(([0], np.cumsum(end - begin)))
    place = np.searchsorted(begin, times, "right")
    last = np.maximum(place - 1, 0)
    over = np.where(place > 0, np.maximum(end[last] - times, 0), 0)
    return np.asarray(before[place] - over, np.int64)


def bands(curve: Curve, lines: int) -> tuple[UInt8, UInt8, UInt8]:
    """What each cell of a row of so many lines shows, from the top: uint8 (lines, bins) each.

    Returns:
        The band at the foot of the cell, the eighths of the cell that it fills, the band above it.
    """
    levels = [
        np.ceil(np.nan_to_num(share) * 8 * lines - 1e-9).astype(np.int64)
        for share in (curve.high, curve.median, curve.low)
    ]
    bins = len(curve.median)
    eighths = np.arange(8 * lines).reshape(lines, 8)[::-1]
    band = np.zeros((lines, 8, bins), np.uint8)
    for level in levels:
        band += (eighths[:, :, None] < level[None, None, :]).astype(np.uint8)
    foot = band[:, 0, :]
    same = (band == foot[:, None, :]).astype(np.uint8)
    filled = np.minimum.accumulate(same, axis=1).sum(axis=1).astype(np.uint8)
    above = np.take_along_axis(band, np.minimum(filled, 7)[:, None, :].astype(np.intp), 1)[:, 0, :]
    return foot, filled, above
