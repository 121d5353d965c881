"""Launches in recordings of several processes that number their calls alike.

Correlation numbers are counted by each process. Where a file holds several (traces of ranks that
were merged, one recorder for two programs), a number may name a call of each of them, and no call
is taken on trust. What tells, in this order: calls that cannot launch work, calls that began
after the activity, and ``External id`` where just some of the calls share the activity's; that
each call launches one activity, where there are as many of both; and whose process all other
activities of the stream are. Anything else stays without a launch, and so does an activity on a
stream that another process owns, unless its join is proven
(:mod:`~whichlayer.analysis.trace.launch_proof`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Bool, Int32, Int64

#: Calls that put work on a device, of any vendor; others have a number and launch nothing.
_LAUNCHES: Final = re.compile(
    r"launch|memcpy|memset|copy|fill|prefetch|enqueue|submit|cooperative", re.IGNORECASE
)
_GRAPHS: Final = re.compile(r"graph_?launch|launch_?graph", re.IGNORECASE)
#: A stream is a process's if so many of its activities are, or at least half, and none another's.
_ENOUGH: Final = 20
#: A stream of which a process has more than that is its own: what else is there needs a proof.
_NEARLY_ALL: Final = 0.9
#: Of more processes with the same number nothing is told.
_MOST_PROCESSES: Final = 64
_NONE: Final = -1


def shared(numbers: Int64, process: Int32) -> Int64:
    """Numbers that calls of several processes carry, ascending.

    Args:
        numbers: int64 (n,), of the calls, ascending.
        process: int32 (n,), the process of each.
    """
    change = (numbers[1:] == numbers[:-1]) & (process[1:] != process[:-1])
    return np.unique(numbers[1:][change])


def on_foreign_stream(launch: Int32, process: Int32, stream: Int32) -> tuple[Int64, Bool]:
    """Which joined activities run on a stream that another process than their call's owns.

    Args:
        launch: int32 (all rows,).
        process: int32 (all rows,), of the lane's process, -1 for none.
        stream: int32 (all rows,), the lane.

    Returns:
        int64 (n,), rows of the activities that calls of processes launched; bool (n,), another
        process owns the stream: nearly all of its activities are that one's.
    """
    rows = np.flatnonzero(launch >= 0)
    callers = process[launch[rows]]
    rows, callers = rows[callers >= 0], callers[callers >= 0]
    if not len(rows) or bool((callers == callers[0]).all()):
        return rows, np.zeros(len(rows), np.bool_)
    wide = int(callers.max()) + 1
    pairs = stream[rows].astype(np.int64) * wide + callers
    kinds, times = np.unique(pairs, return_counts=True)
    count = int(stream.max()) + 1
    of_stream = np.bincount(kinds // wide, weights=times, minlength=count)
    owns = (times > _NEARLY_ALL * of_stream[kinds // wide]) & (times >= _ENOUGH)
    owner = np.full(count, _NONE, np.int64)
    owner[kinds[owns] // wide] = kinds[owns] % wide
    whose = owner[stream[rows]]
    return rows, np.asarray((whose >= 0) & (whose != callers))


def can_launch(names: Sequence[str]) -> Bool:
    """Which of these names belong to calls that put work on a device."""
    return np.fromiter((bool(_LAUNCHES.search(name)) for name in names), np.bool_, len(names))


def launches_graphs(names: Sequence[str]) -> Bool:
    """Which of these names belong to calls that launch a graph, of many kernels."""
    return np.fromiter((bool(_GRAPHS.search(name)) for name in names), np.bool_, len(names))


def settle(
    work: Int64,
    calls: Int64,
    number: Int64,
    external_id: Int64,
    start_ns: Int64,
    process: Int32,
    stream: Int32,
    launching: Bool,
    launch: Int32,
) -> Int64:
    """The launches of activities whose number several processes use, -1 where it cannot be told.

    Args:
        work: rows of those activities.
        calls: rows of all calls with such a number.
        number: int64 (all rows,), what calls and activities are joined by.
        external_id: int64 (all rows,).
        start_ns: int64 (all rows,).
        process: int32 (all rows,), of the lane's process, 0 … of those that call.
        stream: int32 (all rows,), the lane.
        launching: bool (all rows,), names a call that can launch work.
        launch: int32 (all rows,), what is settled already, -1 elsewhere.

    Returns:
        int64 (len(work),).
    """
    processes = np.unique(process[calls])
    found = np.full(len(work), _NONE, np.int64)
    if len(processes) > _MOST_PROCESSES:
        return found
    able = calls[launching[calls]]
    calls = able if len(able) else calls
    choices = np.stack(
        [_last_before(work, calls[process[calls] == one], number, start_ns) for one in processes]
    )
    _keep_same_id(choices, external_id, work)
    certain = (choices >= 0).sum(axis=0) == 1
    found[certain] = choices.max(axis=0)[certain]
    _settle_in_order(found, work, calls, number, start_ns)
    owner = _owners(found, work, stream, process, launch)
    _settle_by_owner(found, choices, processes, owner[stream[work]], number[work], stream[work])
    return found


def _last_before(work: Int64, calls: Int64, number: Int64, start_ns: Int64) -> Int64:
    """Per activity the last call with its number that began at or before it, else -1."""
    order = np.lexsort((start_ns[calls], number[calls]))
    calls = calls[order]
    both = np.concatenate((calls, work))
    is_work = np.arange(len(both)) >= len(calls)
    by_time = np.lexsort((is_work, start_ns[both], number[both]))
    place = np.where(is_work[by_time], -1, np.arange(len(by_time)))
    latest = np.maximum.accumulate(place)
    answer = np.full(len(both), _NONE, np.int64)
    known = latest >= 0
    rows = np.where(known, both[by_time[np.maximum(latest, 0)]], _NONE)
    same = known & (number[np.maximum(rows, 0)] == number[both[by_time]])
    answer[by_time] = np.where(same, rows, _NONE)
    return answer[len(calls) :]


def _keep_same_id(choices: NDArray[np.int64], external_id: Int64, work: Int64) -> None:
    """Drops calls with another ``External id`` where one has the activity's."""
    mine = external_id[work]
    same = (choices >= 0) & (external_id[np.maximum(choices, 0)] == mine) & (mine > 0)
    some = same.any(axis=0)
    choices[:, some] = np.where(same[:, some], choices[:, some], _NONE)


def _settle_in_order(
    found: Int64, work: Int64, calls: Int64, number: Int64, start_ns: Int64
) -> None:
    """As many calls of a number as activities: one each, where only one order is possible."""
    calls = calls[np.lexsort((start_ns[calls], number[calls]))]
    order = np.lexsort((start_ns[work], number[work]))
    of_call, of_work = number[calls], number[work][order]
    first = np.searchsorted(of_call, of_work, "left")
    several = np.searchsorted(of_call, of_work, "right") - first
    begin = np.searchsorted(of_work, of_work, "left")
    alike = several == np.searchsorted(of_work, of_work, "right") - begin
    rank = np.arange(len(order)) - begin
    if not alike.any():
        return
    at = np.minimum(first + rank, len(calls) - 1)
    mine, start = calls[at], start_ns[work][order]
    after = np.minimum(at + 1, len(calls) - 1)
    last = rank == several - 1
    apart = last | (start_ns[calls[after]] > start)
    before = np.concatenate(([True], apart[:-1])) | (rank == 0)
    told = alike & (start_ns[mine] <= start) & apart & before
    free = told & (found[order] < 0)
    found[order[free]] = mine[free]


def _owners(found: Int64, work: Int64, stream: Int32, process: Int32, launch: Int32) -> Int64:
    """The process of every stream whose settled activities are enough and of one, else -1."""
    rows = np.concatenate((np.flatnonzero(launch >= 0), work[found >= 0]))
    calls = np.concatenate((launch[launch >= 0].astype(np.int64), found[found >= 0]))
    count = int(stream.max(initial=0)) + 1
    low = np.full(count, np.iinfo(np.int64).max)
    high = np.full(count, _NONE, np.int64)
    np.minimum.at(low, stream[rows], process[calls])
    np.maximum.at(high, stream[rows], process[calls])
    votes = np.bincount(stream[rows], minlength=count)
    open_ = np.bincount(stream[work[found < 0]], minlength=count)
    return np.where((low == high) & (votes >= np.minimum(open_, _ENOUGH)), high, _NONE)


def _settle_by_owner(
    found: Int64,
    choices: NDArray[np.int64],
    processes: Int32,
    owner: Int64,
    number: Int64,
    stream: Int32,
) -> None:
    """Gives an activity to its stream's process, unless two there would share one call."""
    pairs = np.stack((stream.astype(np.int64), number))
    _, group, times = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
    open_ = (found < 0) & (owner >= 0) & (times[group.reshape(-1)] == 1)
    for index, one in enumerate(processes.tolist()):
        mine = open_ & (owner == one) & (choices[index] >= 0)
        found[mine] = choices[index][mine]
