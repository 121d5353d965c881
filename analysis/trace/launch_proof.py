"""Which joins of an activity and a call of a file of several processes something proves.

A number that one call and one activity of the whole file have is theirs. So it is where both have
the same ``External id``, where a process has a call for each activity of a number, and where a
graph was launched of which no kernel runs on a stream that is the process's own.
"""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.trace.columns import Bool, Int32, Int64

_NONE = -1


def proven(
    work: Int64,
    call: Int64,
    number: Int64,
    external_id: Int64,
    start_ns: Int64,
    process: Int32,
    calls: Int64,
    graph: Bool,
    doubtful: Bool,
) -> Bool:
    """Which joins are beyond doubt, whoever else is on the stream.

    Args:
        work: rows of all joined activities.
        call: row of the call of each.
        number: int64 (all rows,), what they were joined by.
        external_id: int64 (all rows,), below 1 for none.
        start_ns: int64 (all rows,).
        process: int32 (all rows,), of the lane's process.
        calls: rows of all calls that can launch work.
        graph: bool (all rows,), names a call that launches a graph.
        doubtful: bool (len(work),), runs on a stream that is another process's.

    Returns:
        bool (len(work),).
    """
    mine, its = external_id[work], external_id[call]
    both = (mine > 0) & (its > 0)
    can = np.zeros(len(number), np.bool_)
    can[calls] = True
    same = both & (mine == its)
    likely = can[call] & (same | (~both & (start_ns[call] <= start_ns[work])))
    of_work, of_call = _groups(process[call], number[call], process[calls], number[calls])
    groups = int(max(of_work.max(initial=_NONE), of_call.max(initial=_NONE))) + 1
    agrees = likely & same
    some = np.bincount(of_work[agrees], minlength=groups) > 0
    # What carries the call's External id comes before what merely has its number.
    likely &= agrees | ~some[of_work]
    activities = np.bincount(of_work[likely], minlength=groups)
    enough = activities <= np.bincount(of_call, minlength=groups)
    at_home = np.bincount(of_work[likely & ~doubtful], minlength=groups)
    sole = graph[call] & (at_home[of_work] == 0)
    return np.asarray(likely & (enough[of_work] | sole))


def _groups(
    first_process: Int32, first_number: Int64, second_process: Int32, second_number: Int64
) -> tuple[Int64, Int64]:
    """Numbers the pairs of process and number that either has, alike ones alike."""
    process = np.concatenate((first_process, second_process))
    number = np.concatenate((first_number, second_number))
    order = np.lexsort((number, process))
    change = np.ones(len(order), np.bool_)
    change[1:] = (np.diff(process[order]) != 0) | (np.diff(number[order]) != 0)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(change) - 1
    return group[: len(first_process)], group[len(first_process) :]
