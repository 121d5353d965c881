"""The gap heatmap of the screen: cells of ``analysis.heatmap``, with the largest gap to go to.

All rows share one scale, that of the longest, so that columns compare and a slow step is seen to
be long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.heat_rows import HeatRow as HeatRow  # noqa: PLC0414  found here too
from whichlayer.analysis.heat_rows import HeatRows, device_rows, stream_rows
from whichlayer.analysis.heatmap import Heatmap
from whichlayer.analysis.heatmap import heat_of as bins_of
from whichlayer.analysis.results import Analysis, Gaps

Int64 = NDArray[np.int64]

#: Rows where a trace has no steps.
SLICES = 12

#: What rows can be on the screen, in the order in which its key goes through them.
ROWS = (HeatRows.STEPS, HeatRows.STREAMS, HeatRows.DEVICES, HeatRows.RANKS)


@dataclass(frozen=True, slots=True)
class Heat:
    """The cells of some rows.

    Attributes:
        edges: int64 (rows, cells + 1).
        inside: bool (rows, cells), the cell lies within the row's stretch.
        idle: float64 (rows, cells), share of the cell spent in gaps.
        layer: uint8 (rows, cells), who owns most of that.
        largest: int64 (rows, cells), the largest gap as index into ``Analysis.gaps``, or -1.
        share: float64 (rows,), share of the row spent in gaps.
    """

    edges: Int64
    inside: NDArray[np.bool_]
    idle: NDArray[np.float64]
    layer: NDArray[np.uint8]
    largest: Int64
    share: NDArray[np.float64]


class DeviceGaps:
    """The gaps of one device, ready to be asked for the largest in a stretch."""

    def __init__(self, gaps: Gaps, device: int) -> None:
        """Pick one device's gaps; they are sorted by start and never overlap."""
        self.index = np.flatnonzero(gaps.device == device)
        self.start_ns = gaps.start_ns[self.index]
        self.end_ns = gaps.end_ns[self.index]
        length = self.end_ns - self.start_ns
        self.by_size = np.argsort(-length, kind="stable")

    def __len__(self) -> int:
        return len(self.index)

    def at(self, time_ns: int) -> int:
        """Place of the gap that covers an instant, or -1."""
        place = int(np.searchsorted(self.start_ns, time_ns, "right")) - 1
        return place if place >= 0 and self.end_ns[place] > time_ns else -1

    def largest(self, low_ns: Int64, high_ns: Int64) -> Int64:
        """Place of the gap with the most time in each ``[low, high)``, or -1: int64 (n,)."""
        if not len(self):
            return np.full(len(low_ns), -1, dtype=np.int64)
        first = np.searchsorted(self.end_ns, low_ns, "right")
        stop = np.searchsorted(self.start_ns, high_ns, "left")
        some = stop > first
        safe = np.minimum(first, len(self) - 1)
        last = np.maximum(stop - 1, 0)
        best = np.where(self._inside(last, low_ns, high_ns) > self._inside(safe, low_ns, high_ns),
                        last, safe)  # fmt: skip
        for cell in np.flatnonzero(stop - first > 2).tolist():
            whole = slice(int(first[cell]) + 1, int(stop[cell]) - 1)
            length = self.end_ns[whole] - self.start_ns[whole]
            top = int(length.argmax())
            if length[top] > self._inside(best[cell], low_ns[cell], high_ns[cell]):
                best[cell] = whole.start + top
        return np.where(some, best, -1)

    def _inside(self, place: Int64, low_ns: Int64, high_ns: Int64) -> Int64:
        part = np.minimum(self.end_ns[place], high_ns) - np.maximum(self.start_ns[place], low_ns)
        return np.asarray(part)


def heat_rows(
    analysis: Analysis,
    kind: HeatRows,
    device: int,
    steps: tuple[HeatRow, ...],
    span: tuple[int, int] | None,
) -> list[HeatRow]:
    """The rows of a heatmap: steps (equal parts where there are less than two), or others.

    Args:
        analysis: any.
        kind: one of :data:`ROWS` but for ranks, which are of several analyses.
        device: whose steps or streams.
        steps: the window's steps on the device, see ``heat_rows.step_rows``.
        span: show only this stretch, of steps that it cuts the part in it.
    """
    window = analysis.window
    low, high = span or (window.start_ns, window.end_ns)
    if kind is HeatRows.DEVICES:
        return list(device_rows(analysis, (low, high)))
    if kind is HeatRows.STREAMS:
        return list(stream_rows(analysis, device, (low, high)))
    inside = [
        replace(row, start_ns=max(row.start_ns, low), end_ns=min(row.end_ns, high))
        for row in steps
        if row.start_ns < high and row.end_ns > low
    ]
    return inside if len(inside) > 1 else equal_rows(low, high, device)


def heat_of(
    analysis: Analysis, rows: list[HeatRow], cells: int, gaps: tuple[DeviceGaps, ...]
) -> Heat:
    """The cells of some rows.

    Args:
        analysis: any.
        rows: what to show.
        cells: columns.
        gaps: of each device.
    """
    bins = bins_of([analysis], rows, cells)
    largest = np.full(bins.gap_ns.shape, -1, np.int64)
    largest_gaps(largest, range(len(rows)), rows, bins.edges_ns, gaps)
    return heat_from(bins, largest)


def largest_gaps(
    largest: Int64,
    mine: Sequence[int],
    rows: Sequence[HeatRow],
    edges_ns: Int64,
    gaps: tuple[DeviceGaps, ...],
) -> None:
    """Write the largest gap of each cell of the rows of one recording into ``largest``.

    Args:
        largest: int64 (rows, cells).
        mine: which rows are of the recording.
        rows: all of them.
        edges_ns: int64 (rows, cells + 1).
        gaps: of each of its devices.
    """
    for device in {rows[place].device for place in mine}:
        places = [place for place in mine if rows[place].device == device]
        own, at = gaps[device], edges_ns[places]
        if len(own):
            found = own.largest(at[:, :-1].ravel(), at[:, 1:].ravel())
            shape = (len(places), largest.shape[1])
            largest[places] = np.where(found >= 0, own.index[found], -1).reshape(shape)


def heat_from(bins: Heatmap, largest: Int64) -> Heat:
    """The cells as the screen shows them, with the largest gap of each."""
    largest[bins.gap_ns == 0] = -1  # a stream may work while its device is in a gap
    length = np.maximum(bins.edges_ns[:, -1] - bins.edges_ns[:, 0], 1)
    share = np.asarray(bins.gap_ns.sum(axis=1) / length)
    return Heat(bins.edges_ns, bins.inside, bins.idle, bins.owner, largest, share)


def equal_rows(low: int, high: int, device: int = 0) -> list[HeatRow]:
    """A stretch cut in equal parts that touch."""
    count = max(min(SLICES, high - low), 1)
    edges = [low + (high - low) * i // count for i in range(count + 1)]
    return [HeatRow(f"part {i + 1}", edges[i], edges[i + 1], device) for i in range(count)]
