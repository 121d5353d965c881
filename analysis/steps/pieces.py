"""The stretches of the devices' time, cut where one step ends and the next begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import GapKind, Gaps, Kernels, Segments, State
from whichlayer.analysis.window import DeviceSteps

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pieces:
    """What lies in steps, of all devices; pieces that are edge are left out.

    Attributes:
        step: int64 (n,), place among the steps.
        length_ns: int64 (n,).
        state: uint8 (n,), a ``State``.
        layer: uint8 (n,), a ``Layer``.
        ref: int64 (n,), as in ``Segments``.
        following: int64 (n,), ``ref`` of the next busy segment of the device, or -1.
        steps: how many steps there are.
    """

    step: Int64
    length_ns: Int64
    state: NDArray[np.uint8]
    layer: NDArray[np.uint8]
    ref: Int64
    following: Int64
    steps: int

    def sums(self, chosen: NDArray[np.bool_]) -> Int64:
        """Time of some of the pieces by step: int64 (steps,)."""
        return total_by(self.step[chosen], self.length_ns[chosen], self.steps)


def total_by(place: Int64, length: Int64, count: int) -> Int64:
    """Sums of lengths by place, exact: int64 (count,)."""
    totals = np.zeros(count, np.int64)
    np.add.at(totals, place, length)
    return totals


def cut_pieces(segments: Sequence[Segments], placed: Sequence[DeviceSteps], steps: int) -> Pieces:
    """Cut the segments of each device where its steps lie.

    Args:
        segments: of each device.
        placed: the steps on each device.
        steps: how many steps there are.
    """
    parts = [_of_device(one, where) for one, where in zip(segments, placed, strict=True)]
    columns = [np.concatenate(each) for each in zip(*parts, strict=True)] if parts else []
    if not columns:
        none = np.empty(0, np.int64)
        columns = [none, none, none.astype(np.uint8), none.astype(np.uint8), none, none]
    step, length, state, layer, ref, following = columns
    return Pieces(step, length, state, layer, ref, following, steps)


def _of_device(segments: Segments, placed: DeviceSteps) -> tuple[NDArray[np.generic], ...]:
    edges = np.concatenate((placed.start_ns[:1], placed.end_ns))
    if not len(segments.start_ns):
        edges = edges[:0]
    low = int(segments.start_ns[0]) if len(edges) else 0
    high = int(segments.end_ns[-1]) if len(edges) else 0
    cuts = np.unique(np.concatenate((segments.start_ns, [high], np.clip(edges, low, high))))
    begin, end = (cuts[:-1], cuts[1:]) if len(edges) else (cuts[:0], cuts[:0])
    place = np.searchsorted(segments.start_ns, begin, "right") - 1
    # Of steps that are empty here and one that is not, the last begins where all of them do.
    step = np.searchsorted(edges, begin, "right") - 1
    kept = (step >= 0) & (step < len(placed.end_ns)) & (segments.state[place] != State.EDGE)
    place = place[kept]
    return (
        step[kept].astype(np.int64),
        (end - begin)[kept],
        segments.state[place],
        segments.layer[place],
        segments.ref[place].astype(np.int64),
        _following(segments)[place],
    )


def _following(segments: Segments) -> Int64:
    """Per segment the ``ref`` of the next busy one at or after it, -1 behind the last."""
    count = len(segments.ref)
    busy = segments.state <= State.UNJUDGED
    index = np.where(busy, np.arange(count), count)
    upcoming = np.minimum.accumulate(index[::-1])[::-1] if count else index
    return np.concatenate((segments.ref.astype(np.int64), [-1]))[upcoming]


def gap_kinds(pieces: Pieces, gaps: Gaps) -> NDArray[np.int64]:
    """The ``GapKind`` of each piece, -1 where it is no gap: int64 (n,)."""
    kinds = np.full(len(pieces.ref), -1, np.int64)
    gap = pieces.state == State.GAP
    kinds[gap] = gaps.kind[pieces.ref[gap]]
    kinds[pieces.state == State.SPACING] = GapKind.IDLE
    return kinds


def lost_by_layer(pieces: Pieces, kernels: Kernels) -> Int64:
    """Gaps and kernel losses of each step by owner: int64 (steps, layers).

    A kernel that a step's edge cuts gives its loss in proportion, as in a budget.
    """
    shape = (pieces.steps, len(Layer))
    gap = pieces.state == State.GAP
    keys = pieces.step[gap] * len(Layer) + pieces.layer[gap]
    lost = total_by(keys, pieces.length_ns[gap], shape[0] * shape[1])
    slow = pieces.state == State.SLOW
    many = max(len(kernels.row), 1)
    pairs, inside = np.unique(pieces.step[slow] * many + pieces.ref[slow], return_inverse=True)
    taken = total_by(inside, pieces.length_ns[slow], len(pairs))
    step, kernel = pairs // many, pairs % many
    owned, loss = np.maximum(kernels.owned_ns[kernel], 1), kernels.loss_ns[kernel]
    share = np.floor(loss * (taken / owned)).astype(np.int64)
    own: Int64 = np.minimum(np.where(taken >= owned, loss, share), taken)
    lost += total_by(step * len(Layer) + kernels.layer[kernel], own, len(lost))
    return lost.reshape(shape)
