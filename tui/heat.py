"""The gap heatmap: for each step and each part of it, how idle the device is and whose fault.

All rows share one scale, that of the longest step, so that columns compare and a slow step
is seen to be long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import collect_activities
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, Gaps
from whichlayer.analysis.window import steps_on
from whichlayer.tui.owners import GAP, Owners

Int64 = NDArray[np.int64]

#: Rows where a trace has no steps.
SLICES = 12


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One row: its label and the stretch of time it shows."""

    label: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Heat:
    """The cells of some rows.

    Attributes:
        edges: int64 (rows, cells + 1).
        inside: bool (rows, cells), the cell lies within the row's stretch.
        idle: float64 (rows, cells), share of the cell spent in gaps.
        layer: uint8 (rows, cells), owner of the largest gap.
        largest: int64 (rows, cells), that gap as index into ``Analysis.gaps``, or -1.
    """

    edges: Int64
    inside: NDArray[np.bool_]
    idle: NDArray[np.float64]
    layer: NDArray[np.uint8]
    largest: Int64


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
    window: tuple[int, int], steps: tuple[HeatRow, ...], span: tuple[int, int] | None
) -> list[HeatRow]:
    """The rows of a heatmap: steps, or equal slices where there are less than two.

    Args:
        window: the analysed stretch.
        steps: the window's steps on the device, see :func:`step_rows`.
        span: show only this stretch.
    """
    if span is None:
        return list(steps) if len(steps) > 1 else _equal_rows(*window)
    inside = [row for row in steps if row.start_ns < span[1] and row.end_ns > span[0]]
    return inside if len(inside) > 1 else _equal_rows(*span)


def step_rows(analysis: Analysis) -> tuple[tuple[HeatRow, ...], ...]:
    """The steps of the window as each device saw them, by ``analysis.devices``."""
    trace, wanted = analysis.trace, set(analysis.window.steps)
    spans = {a.number: steps_on(trace, a) for a in collect_activities(trace)} if wanted else {}
    rows: list[tuple[HeatRow, ...]] = []
    for device in analysis.devices:
        own = spans.get(device.number)
        if own is None:
            rows.append(())
            continue
        bounds = zip(trace.steps, own.start_ns.tolist(), own.end_ns.tolist(), strict=True)
        rows.append(
            tuple(
                HeatRow(f"step {step.number}", low, high)
                for step, low, high in bounds
                if step in wanted and high > low
            )
        )
    return tuple(rows)


def heat_of(
    rows: list[HeatRow], cells: int, owners: Owners, gaps: DeviceGaps, layers: NDArray[np.uint8]
) -> Heat:
    """The cells of some rows on one device.

    Args:
        rows: what to show.
        cells: columns.
        owners: owners of the device's time.
        gaps: the device's gaps.
        layers: the ``layer`` column of ``Analysis.gaps``.
    """
    start = np.array([row.start_ns for row in rows], dtype=np.int64)
    length = np.array([row.end_ns - row.start_ns for row in rows], dtype=np.int64)
    longest = max(int(length.max()), cells) if len(rows) else cells
    whole, rest = divmod(longest, cells)
    column = np.arange(cells + 1, dtype=np.int64)
    offset = whole * column + rest * column // cells
    edges = np.minimum(start[:, None] + offset, (start + length)[:, None])
    low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    width = high - low
    lost = owners.between(low, high)[GAP].sum(axis=0)
    place = gaps.largest(low, high)
    largest = np.where(place >= 0, gaps.index[place] if len(gaps) else -1, -1)
    owner = np.where(largest >= 0, layers[largest] if len(layers) else 0, Layer.NONE)
    shape = (len(rows), cells)
    return Heat(
        edges,
        (width > 0).reshape(shape),
        (lost / np.maximum(width, 1)).reshape(shape),
        owner.astype(np.uint8).reshape(shape),
        largest.astype(np.int64).reshape(shape),
    )


def _equal_rows(low: int, high: int) -> list[HeatRow]:
    count = max(min(SLICES, high - low), 1)
    edges = [low + (high - low) * i // count for i in range(count + 1)]
    return [HeatRow(f"part {i + 1}", edges[i], edges[i + 1]) for i in range(count)]
