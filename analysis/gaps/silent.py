"""Processes of which only calls are recorded: no operator and no Python says what lies between.

Between two launches such a process may dispatch, compute, wait or sleep; all of it looks alike.
Where operators are recorded, the pauses between them are known to lie in PyTorch's own work, and
what is usual among them is dispatch; here there is nothing that a pause would lie between.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: What dispatching one operator takes at most, Python around it included (usual: 2 to 100 µs). A
#: longer silence is not known to be dispatch, however regular it is.
SILENCE_NS = 100_000
#: A thread of which half of all silences are shorter dispatches: what is some times as long then
#: are operators that make no call. In 22 recordings with operators (of Kineto and Nsight) whose
#: threads are like that, 99 % of the time in silences of 100 to 200 µs is dispatch.
_USUAL_NS = 50_000

_NSIGHT = (
    "record with nsys profile --trace=cuda,nvtx,osrt --pytorch=autograd-nvtx "
    "--python-sampling=true: it shows the operators, the Python and the waits between its calls"
)
_OPERATORS = (
    "record with ProfilerActivity.CPU and with_stack=True: they show the operators and the lines "
    "between its calls"
)


def is_silent(trace: Trace, lane: int) -> bool:
    """Whether the process of a thread holds neither operators nor Python frames."""
    return trace.lanes[lane].pid not in _telling_processes(trace)


def longest_dispatch(silences: NDArray[np.int64], least_ns: float) -> float:
    """Up to how long such a thread's silence is dispatch.

    Args:
        silences: int64 (n,), how long each of the thread's lasts.
        least_ns: shorter pauses between operators never mean anything.
    """
    dispatches = len(silences) > 0 and float(np.median(silences)) <= _USUAL_NS
    return max(SILENCE_NS, least_ns) if dispatches else SILENCE_NS


def record_operators(trace: Trace) -> str:
    """How to see what lies between the calls of such a process."""
    return _NSIGHT if trace.producer == "nsight" else _OPERATORS


@once_per_trace
def _telling_processes(trace: Trace) -> frozenset[int | str]:
    """The processes that hold an operator or a Python frame."""
    rows = (trace.kind == SliceKind.CPU_OP) | (trace.kind == SliceKind.PYTHON)
    lanes = np.unique(trace.lane_id[rows]).tolist()
    return frozenset(trace.lanes[lane].pid for lane in lanes)
