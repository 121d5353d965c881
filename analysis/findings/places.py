"""Where most of a finding's time is: its pieces by place, and those of the place that wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.kernels.numbering import number_pairs
from whichlayer.analysis.results import Where
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

Int64 = NDArray[np.int64]

#: At most so many groups of slices are asked for their place, those with the most time first.
ASKED = 40
#: A line of code is named before an operator without one if lines have this share of the time.
LINES_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Place:
    """The place with the most time.

    Attributes:
        where: that place.
        members: int64, indices of what lies there, in the order given.
        lead: int64, of these the ones in the operator that has most of the time.
        time_ns: the time of all members.
    """

    where: Where
    members: Int64
    lead: Int64
    time_ns: int


def main_place(trace: Trace, rows: Int64, time_ns: Int64, roots: Sequence[str] = ()) -> Place:
    """The place at which slices have most of their time.

    Slices of one innermost operator and Python frame are at one place; a place is a line of
    code, or where none is known an operator.

    Args:
        trace: the recording.
        rows: int64 (n,), slices of threads, -1 for none.
        time_ns: int64 (n,), what each stands for.
        roots: ``Options.source_roots``.
    """
    operator = _innermost(trace, rows, (SliceKind.CPU_OP, SliceKind.ANNOTATION))
    frame = _innermost(trace, rows, (SliceKind.PYTHON,))
    group, count = number_pairs(operator, frame)
    total = np.zeros(count, np.int64)
    np.add.at(total, group, time_ns)
    found: list[tuple[int, Where]] = []
    for one in np.argsort(-total, kind="stable")[:ASKED].tolist():
        members = np.flatnonzero(group == one)
        longest = int(members[np.argmax(time_ns[members])])
        found.append((one, where_of(trace, int(rows[longest]), roots)))
    chosen = _heaviest(found, total)
    mine = [one for one, where in found if _same(where) == _same(chosen)]
    members = np.flatnonzero(among(group, mine))
    lead = np.flatnonzero(group == mine[0])
    return Place(chosen, members, lead, int(time_ns[members].sum()))


def _same(where: Where) -> tuple[str | None, int | str | None]:
    """What makes two places one."""
    if where.file is not None:
        return where.file, where.line
    return None, (where.operator or "").rsplit(" > ", 1)[-1]


def _heaviest(found: list[tuple[int, Where]], total: Int64) -> Where:
    weight: Counter[tuple[str | None, int | str | None]] = Counter()
    for one, where in found:
        weight[_same(where)] += int(total[one])
    lines = Counter({key: ns for key, ns in weight.items() if key[0] is not None})
    if lines and sum(lines.values()) >= LINES_SHARE * sum(weight.values()):
        weight = lines
    best = weight.most_common(1)[0][0]
    return next(where for _, where in found if _same(where) == best)


def _innermost(trace: Trace, rows: Int64, kinds: tuple[SliceKind, ...]) -> Int64:
    """Name of the innermost slice of some kinds around each slice: int64 (n,), -1 for none."""
    wanted = [int(kind) for kind in kinds]
    found = np.full(len(rows), -1, np.int64)
    at = np.flatnonzero(rows >= 0)
    up = rows[at].astype(np.int64)
    while len(at):
        hit = among(trace.kind[up], wanted)
        found[at[hit]] = trace.name_id[up[hit]]
        up = trace.parent[up].astype(np.int64)
        going = ~hit & (up >= 0)
        at, up = at[going], up[going]
    return found


def on_threads(trace: Trace, *candidates: Int64) -> Int64:
    """Of several rows for each piece, the first that lies on a thread: int64 (n,), -1 for none."""
    kinds = np.array([int(lane.kind) for lane in trace.lanes] or [-1])
    found = np.full(len(candidates[0]), -1, np.int64)
    for rows in candidates:
        safe = np.maximum(rows, 0)
        takes = (found < 0) & (rows >= 0)
        takes &= kinds[trace.lane_id[safe]] == int(LaneKind.CPU_THREAD)
        found[takes] = rows[takes]
    return found
