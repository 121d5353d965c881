"""Who owns the time between any two instants of one device, to the nanosecond.

Prefix sums over ``Analysis.segments``: the layer strip, the overview, the heatmap and the
summary of a selection all read the same numbers, so they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.units import ROOF_MARK, UNKNOWN
from whichlayer.analysis.states import State

if TYPE_CHECKING:  # the first timeline does not wait for the tables of an analysis
    from whichlayer.analysis.results import Analysis, Kernels, Segments

Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]

#: Rows of :meth:`Owners.between`: gap time by layer, kernel loss by layer, then the rest.
LAYERS = len(Layer)
GAP = slice(0, LAYERS)
LOSS = slice(LAYERS, 2 * LAYERS)
AT_ROOF = 2 * LAYERS
SPACING = AT_ROOF + 1
UNJUDGED = AT_ROOF + 2
EDGE = AT_ROOF + 3
PARTS = AT_ROOF + 4

#: What time that no layer loses is: idle without an owner, work at the roof, work not judged.
REST_MARKS = (Layer.NONE.text.letter, ROOF_MARK, UNKNOWN)

#: Lost share of a column from which its owner is named, and from which it fills the column.
NAMED_SHARE = 0.1
STRONG_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class _Part:
    """Stretches of one part, sorted: how much of ``[start, end)`` counts, and the sum before."""

    start_ns: Int64
    length: Int64
    weight: Int64
    before: Int64

    def until(self, time_ns: Int64) -> Int64:
        if not len(self.start_ns):
            return np.zeros_like(time_ns)
        begun = np.searchsorted(self.start_ns, time_ns, "right")
        last = np.maximum(begun - 1, 0)
        inside = np.minimum(time_ns - self.start_ns[last], self.length[last])
        weight, length = self.weight[last], self.length[last]
        # Only a kernel's loss weighs less than its length; the share is rounded down, so that
        # the sums of neighbouring cells still add up.
        partial = np.where(
            weight == length, inside, np.floor(weight * (inside / length)).astype(np.int64)
        )
        partial = np.where(inside == length, weight, np.minimum(partial, inside))
        return np.asarray(self.before[begun] - np.where(begun > 0, weight - partial, 0))


class Owners:
    """The owners of one device's time."""

    def __init__(self, segments: Segments, activities: Kernels) -> None:
        """Prepare the prefix sums of one device's segments."""
        length = segments.end_ns - segments.start_ns
        real = length > 0
        start, length = segments.start_ns[real], length[real]
        state, layer, ref = segments.state[real], segments.layer[real], segments.ref[real]
        loss = _loss_of(activities, state, ref, length)
        judged = (state == State.AT_ROOF) | (state == State.SLOW)
        parts = [_part(start, length, length, (state == State.GAP) & (layer == k)) for k in Layer]
        parts += [_part(start, length, loss, (loss > 0) & (layer == k)) for k in Layer]
        parts += [
            _part(start, length, length, judged),
            _part(start, length, length, state == State.SPACING),
            _part(start, length, length, state == State.UNJUDGED),
            _part(start, length, length, state == State.EDGE),
        ]
        self._parts = tuple(parts)
        self.start_ns = int(start[0]) if len(start) else 0
        self.end_ns = int(start[-1] + length[-1]) if len(start) else 0

    def between(self, low_ns: Int64, high_ns: Int64) -> Int64:
        """Time of every part in each ``[low, high)``: int64 (PARTS, n).

        The parts of a stretch within the device's segments add up to its length.
        """
        times = np.zeros((PARTS, len(low_ns)), dtype=np.int64)
        for row, part in enumerate(self._parts):
            if len(part.start_ns):
                times[row] = part.until(high_ns) - part.until(low_ns)
        times[AT_ROOF] -= times[LOSS].sum(axis=0)
        return times


@dataclass(frozen=True, slots=True)
class Columns:
    """The owner of every column: what the layer strip shows.

    Attributes:
        layer: uint8 (n,), the layer that loses most of the column's time; NONE where less
            than ``NAMED_SHARE`` of it is lost.
        strong: bool (n,), at least half of the column is lost.
        busy: float64 (n,), share with work that counts as compute, judged or not.
        known: bool (n,), the column lies within the analysed window.
        rest: uint8 (n,), an index into :data:`REST_MARKS`, what most of its other time is.
    """

    layer: UInt8
    strong: NDArray[np.bool_]
    busy: NDArray[np.float64]
    known: NDArray[np.bool_]
    rest: UInt8


def columns_of(owners: Owners, low_ns: Int64, high_ns: Int64) -> Columns:
    """The owners of columns that show ``[low, high)`` each."""
    times = owners.between(low_ns, high_ns)
    width = np.maximum(high_ns - low_ns, 1)
    lost = times[GAP] + times[LOSS]
    lost[Layer.NONE] = 0
    layer = lost.argmax(axis=0).astype(np.uint8)
    share = lost.sum(axis=0) / width
    layer[share < NAMED_SHARE] = Layer.NONE
    busy = (times[AT_ROOF] + times[UNJUDGED] + times[LOSS].sum(axis=0)) / width
    known = times[EDGE] < times.sum(axis=0)
    idle = times[GAP][Layer.NONE] + times[LOSS][Layer.NONE] + times[SPACING] + times[EDGE]
    rest = np.stack((idle, times[AT_ROOF], times[UNJUDGED])).argmax(axis=0).astype(np.uint8)
    return Columns(layer, share >= STRONG_SHARE, busy, known, rest)


def owners_of(analysis: Analysis) -> tuple[Owners, ...]:
    """The owners of every device of an analysis."""
    return tuple(Owners(segments, analysis.activities) for segments in analysis.segments)


def _part(start: Int64, length: Int64, weight: Int64, mine: NDArray[np.bool_]) -> _Part:
    chosen = weight[mine]
    before = np.concatenate(([0], np.cumsum(chosen))).astype(np.int64)
    return _Part(start[mine], length[mine], chosen, before)


def _loss_of(activities: Kernels, state: UInt8, ref: NDArray[np.int32], length: Int64) -> Int64:
    """The loss within each segment: a kernel's loss spread over its segments, whole in sum."""
    loss = np.zeros(len(length), dtype=np.int64)
    slow = np.flatnonzero((state == State.SLOW) & (ref >= 0))
    if not len(slow):
        return loss
    slow = slow[np.argsort(ref[slow], kind="stable")]
    kernel = ref[slow]
    first = np.concatenate(([True], kernel[1:] != kernel[:-1]))
    total = np.cumsum(length[slow])
    group = np.cumsum(first) - 1
    offset = (total - length[slow])[first][group]
    done = total - offset
    whole = np.maximum(activities.owned_ns[kernel], 1)
    of_kernel = np.minimum(activities.loss_ns[kernel], whole)
    share = np.minimum(done / whole, 1.0)
    reached = np.where(done >= whole, of_kernel, np.floor(of_kernel * share).astype(np.int64))
    previous = np.where(first, 0, np.concatenate(([0], reached[:-1])))
    loss[slow] = np.clip(reached - previous, 0, length[slow])
    return loss
