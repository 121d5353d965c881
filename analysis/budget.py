"""Where a window's time went, to the nanosecond, and the device's time as segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.accounting import Instant, Partition
from whichlayer.analysis.intervals import ragged_arange
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Budget, Gaps, Kernels, Segments, State

Int64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DeviceCut:
    """One device's window: its bounds, what is not edge, and where its tables begin.

    Attributes:
        low, high: the window.
        cut: the partition of the part that is not edge.
        first_kernel: index of the device's first activity in ``Kernels``.
    """

    low: int
    high: int
    cut: Partition
    first_kernel: int


def build_segments(device: int, part: DeviceCut, gaps: Gaps, kernels: Kernels) -> Segments:
    """Cut a device's window into stretches with one owner each."""
    cut = part.cut
    busy = cut.what == Instant.COMPUTE
    mine = np.flatnonzero(gaps.device == device)
    # Idle that is no gap piece is spacing; a piece cut by the window's edge stays a gap.
    at = np.searchsorted(gaps.start_ns[mine], cut.start_ns, "left")
    begins = np.append(gaps.start_ns[mine], np.iinfo(np.int64).max)
    spacing = (cut.what == Instant.IDLE) & (begins[at] >= cut.end_ns)
    kernel = part.first_kernel + cut.owner[busy]
    lost, judged = kernels.loss_ns[kernel] > 0, kernels.judged[kernel]
    busy_state = np.where(judged, np.where(lost, State.SLOW, State.AT_ROOF), State.UNJUDGED)
    busy_layer = np.where(lost & judged, kernels.layer[kernel], Layer.NONE)
    edges = _edges(part)
    count = (int(busy.sum()), int(spacing.sum()), len(mine), len(edges))
    start = np.concatenate(
        (cut.start_ns[busy], cut.start_ns[spacing], gaps.start_ns[mine], edges[:, 0])
    )
    end = np.concatenate((cut.end_ns[busy], cut.end_ns[spacing], gaps.end_ns[mine], edges[:, 1]))
    state = np.concatenate(
        (busy_state, *(np.full(n, s) for n, s in zip(count[1:], _REST, strict=True)))
    )
    none = Layer.NONE
    layer = np.concatenate(
        (busy_layer, np.full(count[1], none), gaps.layer[mine], np.full(count[3], none))
    )
    ref = np.concatenate((kernel, np.full(count[1], -1), mine, np.full(count[3], -1)))
    order = np.argsort(start, kind="stable")
    return Segments(
        start_ns=start[order],
        end_ns=end[order],
        state=state[order].astype(np.uint8),
        layer=layer[order].astype(np.uint8),
        ref=ref[order].astype(np.int32),
    )


_REST = (State.SPACING, State.GAP, State.EDGE)


def _edges(part: DeviceCut) -> Int64:
    """The parts of the window that are edge: int64 (0 to 2, 2)."""
    if not len(part.cut.start_ns):
        return np.array([(part.low, part.high)], np.int64)
    inner = int(part.cut.start_ns[0]), int(part.cut.end_ns[-1])
    found = [(part.low, inner[0]), (inner[1], part.high)]
    return np.array([e for e in found if e[1] > e[0]], np.int64).reshape(-1, 2)


def budget_of(segments: Segments, kernels: Kernels, low: int, high: int) -> Budget:
    """The budget of ``[low, high)`` of one device; its parts add up exactly.

    A judged kernel that the bounds cut gives its loss in proportion, rounded down.
    """
    (budget,) = budgets_of(segments, kernels, np.array([low]), np.array([high]))
    return budget


def budgets_of(segments: Segments, kernels: Kernels, low: Int64, high: Int64) -> list[Budget]:
    """The budget of each of several stretches, in time that grows with the segments in them.

    Args:
        segments: of one device.
        kernels: that they refer to.
        low: int64 (stretches,), starts.
        high: int64 (stretches,), ends.
    """
    first = np.searchsorted(segments.end_ns, low, "right")
    stop = np.maximum(np.searchsorted(segments.start_ns, high, "left"), first)
    row = ragged_arange(first, stop - first)
    part = np.repeat(np.arange(len(low)), stop - first)
    start = np.maximum(segments.start_ns[row], low[part])
    length = np.maximum(np.minimum(segments.end_ns[row], high[part]) - start, 0)
    state = segments.state[row]
    by_state = np.zeros((len(low), len(State)), np.int64)
    np.add.at(by_state, (part, state), length)
    slow = np.flatnonzero((state == State.SLOW) & (length > 0))
    loss = _losses(segments.ref[row[slow]], part[slow], length[slow], kernels, len(low))
    gap = np.zeros((len(low), len(Layer)), np.int64)
    gaps = np.flatnonzero(state == State.GAP)
    np.add.at(gap, (part[gaps], segments.layer[row[gaps]]), length[gaps])
    rows = zip(by_state.tolist(), loss.tolist(), gap.tolist(), strict=True)
    return [_budget(*row) for row in rows]


def _budget(by_state: list[int], loss: list[int], gap: list[int]) -> Budget:
    return Budget(
        total_ns=sum(by_state),
        at_roof_ns=by_state[State.AT_ROOF] + by_state[State.SLOW] - sum(loss),
        loss_ns={layer: loss[layer] for layer in Layer if loss[layer]},
        gap_ns={layer: gap[layer] for layer in Layer if gap[layer]},
        spacing_ns=by_state[State.SPACING],
        unjudged_ns=by_state[State.UNJUDGED],
        edge_ns=by_state[State.EDGE],
    )


def _losses(
    ref: NDArray[np.int32], part: Int64, length: Int64, kernels: Kernels, parts: int
) -> Int64:
    """Loss by stretch and owner, int64 (parts, layers): a kernel's loss by the share of it inside.

    Args:
        ref: int32 (n,), the kernel of each slow segment.
        part: int64 (n,), the stretch that it is in.
        length: int64 (n,), how much of it is inside.
        kernels: that ``ref`` points into.
        parts: how many stretches there are.
    """
    totals = np.zeros((parts, len(Layer)), np.int64)
    if not len(ref):
        return totals
    pair, inside = np.unique(part * len(kernels.row) + ref, return_inverse=True)
    of, kernel = np.divmod(pair, len(kernels.row))
    taken = np.zeros(len(pair), np.int64)
    np.add.at(taken, inside, length)
    owned = np.maximum(kernels.owned_ns[kernel], 1)
    whole = taken >= owned
    # In floating point only where the bounds cut a kernel; never more than was taken.
    share = np.floor(kernels.loss_ns[kernel] * (taken / owned)).astype(np.int64)
    loss = np.minimum(np.where(whole, kernels.loss_ns[kernel], share), taken)
    np.add.at(totals, (of, kernels.layer[kernel]), loss)
    return totals


def add_budgets(budgets: list[Budget]) -> Budget:
    """The sum of budgets: of devices, or of stretches that touch."""
    if len(budgets) == 1:
        return budgets[0]
    return Budget(
        total_ns=sum(b.total_ns for b in budgets),
        at_roof_ns=sum(b.at_roof_ns for b in budgets),
        loss_ns=_add([dict(b.loss_ns) for b in budgets]),
        gap_ns=_add([dict(b.gap_ns) for b in budgets]),
        spacing_ns=sum(b.spacing_ns for b in budgets),
        unjudged_ns=sum(b.unjudged_ns for b in budgets),
        edge_ns=sum(b.edge_ns for b in budgets),
    )


def _add(parts: list[dict[Layer, int]]) -> dict[Layer, int]:
    total: dict[Layer, int] = {}
    for part in parts:
        for layer, value in part.items():
            total[layer] = total.get(layer, 0) + value
    return total
