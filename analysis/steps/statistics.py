"""Over the steps: the usual one, the spread, and what makes a long step long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.results import Gaps, Kernels, State
from whichlayer.analysis.steps.model import Growth, Outlier, Statistics, StepFigures
from whichlayer.analysis.steps.pieces import Pieces, total_by
from whichlayer.analysis.trace.columns import Step, Trace

Int64 = NDArray[np.int64]

#: A first step this much longer than the median is warm-up (gate Q8; source: nsys-ai).
WARM_UP_RATIO = 1.5
#: Fewer steps have no usual one.
MIN_STEPS = 3
#: A step is longer than the others from this share of the median on ...
OUTLIER_SHARE = 0.10
#: ... and from so many times the median distance from the median (ours).
OUTLIER_SPREADS = 4
#: Parts that grew by less than this share of the excess explain nothing.
GROWTH_SHARE = 0.10
#: How many parts are named, and how many steps.
MOST_GROWTHS, MOST_OUTLIERS = 3, 10

_SPACING, _FOREIGN = -1, -2
_OTHER = {_SPACING: "launch spacing", _FOREIGN: "work launched outside the step"}


def mark_warm_up(rows: tuple[StepFigures, ...], *, first: bool) -> tuple[StepFigures, ...]:
    """The rows, with the first marked where it is warm-up.

    Args:
        rows: the steps of the window.
        first: the first of them is the first of the recording.
    """
    lengths = [row.duration_ns for row in rows if row.whole]
    if not first or len(lengths) < MIN_STEPS or not rows[0].whole:
        return rows
    warm = rows[0].duration_ns > WARM_UP_RATIO * _rank(sorted(lengths), 0.5)
    return (replace(rows[0], warm_up=warm), *rows[1:])


def statistics_of(rows: Sequence[StepFigures], steps: Sequence[Step]) -> Statistics | None:
    """Over the whole steps that are no warm-up; None without any.

    Args:
        rows: the steps of the window.
        steps: all of the recording.
    """
    lengths = sorted(_comparable(row, steps) for row in rows if _counts(row))
    if not lengths:
        return None
    return Statistics(
        steps=len(lengths),
        median_ns=_rank(lengths, 0.5),
        p10_ns=_rank(lengths, 0.1),
        p90_ns=_rank(lengths, 0.9),
        shortest_ns=lengths[0],
        longest_ns=lengths[-1],
    )


def find_outliers(
    trace: Trace,
    steps: Sequence[Step],
    rows: Sequence[StepFigures],
    chosen: Int64,
    pieces: Pieces,
    gaps: Gaps,
    kernels: Kernels,
) -> tuple[Outlier, ...]:
    """The steps that are much longer than the median, the longest first, and why.

    Args:
        trace: the recording.
        steps: all of its steps, that ``pieces.step`` counts.
        rows: those of the window.
        chosen: their places among the steps.
        pieces: the devices' time by step.
        gaps: what ``pieces.ref`` of a gap points into.
        kernels: what it points into otherwise.
    """
    usual = statistics_of(rows, steps)
    if usual is None or usual.steps < MIN_STEPS:
        return ()
    length = np.array([_comparable(row, steps) for row in rows], np.int64)
    counted = np.array([_counts(row) for row in rows], np.bool_)
    spread = float(np.median(np.abs(length[counted] - usual.median_ns)))
    limit = usual.median_ns + max(OUTLIER_SHARE * usual.median_ns, OUTLIER_SPREADS * spread)
    whole = np.array([row.whole for row in rows], np.bool_)
    long = np.flatnonzero(whole & (length > limit))
    like = np.flatnonzero(counted & (length <= limit))
    long = long[np.argsort(-length[long], kind="stable")][:MOST_OUTLIERS]
    if not len(long) or not len(like):
        return ()
    parts = _Parts(trace, steps, pieces, gaps, kernels)
    return tuple(
        Outlier(
            index=index,
            over_ns=int(length[index]) - usual.median_ns,
            growths=parts.grown(
                int(chosen[index]),
                chosen[like],
                rows[index].total_ns - usual.median_ns * max(len(rows[index].spans), 1),
            ),
        )
        for index in long.tolist()
    )


class _Parts:
    """What the time of each step consists of: causes of gaps, kernels by name, spacing."""

    def __init__(
        self,
        trace: Trace,
        steps: Sequence[Step],
        pieces: Pieces,
        gaps: Gaps,
        kernels: Kernels,
    ) -> None:
        self._trace, self._gaps = trace, gaps
        gap, busy = pieces.state == State.GAP, pieces.state <= State.UNJUDGED
        part = np.full(len(pieces.ref), _SPACING, np.int64)
        causes = len(gaps.rule_ids)
        part[gap] = gaps.cause[pieces.ref[gap]]
        rows = kernels.row[pieces.ref[busy]]
        own = _launched_inside(trace, steps, rows, pieces.step[busy])
        part[busy] = np.where(own, causes + trace.name_id[rows], _FOREIGN)
        self._many = causes + len(trace.strings) + 2
        keys, inside = np.unique(pieces.step * self._many + part + 2, return_inverse=True)
        self._taken = total_by(inside, pieces.length_ns, len(keys))
        self._step, self._part = np.divmod(keys, self._many)
        self._part -= 2

    def grown(self, step: int, like: Int64, over_ns: int) -> tuple[Growth, ...]:
        """The parts of a step that took longer than the median of some others."""
        grown = sorted(self._all(step, like), key=lambda one: (-one.grown_ns, one.name))
        least = max(GROWTH_SHARE * over_ns, 1)
        return tuple(one for one in grown if one.grown_ns >= least)[:MOST_GROWTHS]

    def _all(self, step: int, like: Int64) -> Iterator[Growth]:
        mine = np.flatnonzero(self._step == step)
        largest = mine[np.argsort(-self._taken[mine], kind="stable")][:50]
        for place in largest.tolist():
            part = int(self._part[place])
            same = np.flatnonzero(self._part == part)
            taken = np.zeros(len(like), np.int64)
            rows = np.searchsorted(self._step[same], like)
            rows = np.minimum(rows, len(same) - 1)
            there = self._step[same[rows]] == like
            taken[there] = self._taken[same[rows[there]]]
            usual = int(np.sort(taken)[(len(taken) - 1) // 2])
            yield self._named(part, usual, int(self._taken[place]))

    def _named(self, part: int, usual_ns: int, taken_ns: int) -> Growth:
        causes = self._gaps.rule_ids
        if part < 0:
            return Growth("other", _OTHER[part], usual_ns, taken_ns)
        if part < len(causes):
            return Growth("cause", causes[part], usual_ns, taken_ns)
        return Growth("kernel", self._trace.strings[part - len(causes)], usual_ns, taken_ns)


def _launched_inside(
    trace: Trace, steps: Sequence[Step], rows: NDArray[np.int32], step: Int64
) -> NDArray[np.bool_]:
    """Whether the host launched work in the very step in which it ran; so if nobody knows."""
    launch = trace.launch[rows]
    if not steps[0].on_host or not bool((launch >= 0).any()):
        return np.ones(len(rows), np.bool_)
    begin = np.array([one.start_ns for one in steps], np.int64)[step]
    end = np.array([one.end_ns for one in steps], np.int64)[step]
    made = trace.start_ns[launch]
    inside: NDArray[np.bool_] = (launch >= 0) & (made >= begin) & (made < end)
    return inside


def _comparable(row: StepFigures, steps: Sequence[Step]) -> int:
    """A step's length; of the recording's last one without what a next one would take over.

    What the host does after a step's last kernel is a part of the next step on the device, but
    the last has no next: where its tail counts as its own, its length on the host is fairer.
    """
    if row.step != steps[-1] or row.host_ns is None or not row.spans:
        return row.duration_ns
    tail = all(end == row.step.end_ns for _, end in row.spans)
    return min(row.duration_ns, row.host_ns) if tail else row.duration_ns


def _counts(row: StepFigures) -> bool:
    return row.whole and not row.warm_up


def _rank(lengths: Sequence[int], share: float) -> int:
    """The value that this share of sorted values does not exceed (nearest rank)."""
    return lengths[max(int(np.ceil(share * len(lengths))) - 1, 0)]
