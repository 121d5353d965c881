"""Where the time of a stretch went: the layer budget of whatever is selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.owned_within import owned_within
from whichlayer.tui.owners import AT_ROOF, EDGE, GAP, LOSS, SPACING, UNJUDGED, Owners

if TYPE_CHECKING:  # the first timeline does not wait for the tables of an analysis
    from whichlayer.analysis.results import Analysis, KernelGroup

Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a stretch of one device's time went; the parts add up to ``total_ns``.

    Attributes:
        gap_ns, loss_ns: by layer.
        outside_ns: beyond every step, and beyond what the device's recording holds.
    """

    total_ns: int
    at_roof_ns: int
    gap_ns: dict[Layer, int]
    loss_ns: dict[Layer, int]
    spacing_ns: int
    unjudged_ns: int
    outside_ns: int

    def lost_to(self, layer: Layer) -> int:
        """Gaps and kernel losses of one layer."""
        return self.gap_ns[layer] + self.loss_ns[layer]


def summarise(owners: Owners, low_ns: int, high_ns: int) -> Summary:
    """The budget of ``[low, high)`` on one device."""
    one = owners.between(np.array([low_ns], np.int64), np.array([high_ns], np.int64))[:, 0]
    total = high_ns - low_ns
    return Summary(
        total_ns=total,
        at_roof_ns=int(one[AT_ROOF]),
        gap_ns=dict(zip(Layer, one[GAP].tolist(), strict=True)),
        loss_ns=dict(zip(Layer, one[LOSS].tolist(), strict=True)),
        spacing_ns=int(one[SPACING]),
        unjudged_ns=int(one[UNJUDGED]),
        outside_ns=total - int(one.sum()) + int(one[EDGE]),
    )


@dataclass(frozen=True, slots=True)
class Ranked:
    """A row of the kernel table: a group and its part of the span.

    Attributes:
        index: into ``Analysis.kernels``.
        calls: calls that have time in the span.
        time_ns: their time there, each instant counted once.
        share: of the span times its devices.
    """

    index: int
    group: KernelGroup
    calls: int
    time_ns: int
    share: float


def rank_kernels(
    analysis: Analysis, span: tuple[int, int] | None, mask: Bool | None = None
) -> list[Ranked]:
    """The kernel groups of a span, most time first; of the analysed window without a span.

    Args:
        analysis: what is known.
        span: start and end; None for the analysed window.
        mask: bool by row of the trace, the calls that count; None for all.
    """
    if mask is not None:
        ranked = _rank_within(analysis, span, mask)
    elif span is None:
        ranked = [
            Ranked(i, group, group.calls, group.total_ns, group.share)
            for i, group in enumerate(analysis.kernels)
        ]
    else:
        ranked = _rank_within(analysis, span, None)
    return sorted(ranked, key=lambda row: (-row.time_ns, row.index))


def _rank_within(
    analysis: Analysis, span: tuple[int, int] | None, mask: Bool | None
) -> list[Ranked]:
    low, high = span or (analysis.window.start_ns, analysis.window.end_ns)
    groups = len(analysis.kernels)
    activities = analysis.activities
    of_activity, touched = activity_times(analysis, span, mask)
    touched = touched & (activities.group >= 0)
    time = np.zeros(groups, dtype=np.int64)
    np.add.at(time, activities.group[touched], of_activity[touched])
    calls = np.bincount(activities.group[touched], minlength=groups)
    whole = (high - low) * max(len(analysis.segments), 1)
    return [
        Ranked(i, analysis.kernels[i], int(calls[i]), int(time[i]), int(time[i]) / whole)
        for i in np.flatnonzero(calls).tolist()
    ]


def activity_times(
    analysis: Analysis, span: tuple[int, int] | None, mask: Bool | None = None
) -> tuple[Int64, Bool]:
    """Time of each activity in a span, each instant counted once, and which of them are in it.

    Args:
        analysis: what is known.
        span: start and end; None for the analysed window.
        mask: bool by row of the trace, the calls that count; None for all.

    Returns:
        int64 (n,) and bool (n,), by ``analysis.activities``.
    """
    activities = analysis.activities
    counts: Bool | bool = True if mask is None else mask[activities.row]
    if span is None:
        return activities.owned_ns, np.asarray((activities.group >= 0) & counts)
    low, high = span
    time = owned_within(analysis, low, high)
    return time, np.asarray((activities.start_ns < high) & (activities.end_ns > low) & counts)


def longest_call(
    analysis: Analysis,
    group: KernelGroup,
    span: tuple[int, int] | None,
    mask: Bool | None = None,
) -> int:
    """Trace row of a group's longest call, in the span where one is given; -1 for none.

    With a mask, by row of the trace, the longest of those that it lets through.
    """
    rows = group.rows if mask is None else group.rows[mask[group.rows]]
    trace = analysis.trace
    if span is not None:
        rows = rows[(trace.start_ns[rows] < span[1]) & (trace.end_ns[rows] > span[0])]
    if not len(rows):
        return -1
    return int(rows[int((trace.end_ns[rows] - trace.start_ns[rows]).argmax())])
