"""What to record where a recording cannot tell why a device was idle."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.findings.where import RECORD_STACKS, holds_stacks
from whichlayer.analysis.gaps.held import LEAST_NS
from whichlayer.analysis.gaps.lost_work import lost_line
from whichlayer.analysis.gaps.silent import is_silent, record_operators
from whichlayer.analysis.gaps.waits import wait_fix, wait_of_row
from whichlayer.analysis.results import Gaps
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.analysis.trace.undecided import undecided

RECORD_LAUNCH = (
    "the launch is not in the file: record from before it, with a warm-up step in the schedule"
)
_LAUNCH_NSIGHT = "the launch is not in the file: start nsys profile --trace=cuda,nvtx before the work is launched"
SEPARATE = (
    "which call launched it cannot be told, the file holds calls of several processes: record each "
    "process into a file of its own"
)
_SYNC_NSIGHT = "record with nsys profile --trace=cuda,nvtx --cuda-event-trace=true"
RECORD_SYNC = "record with _ExperimentalConfig(enable_cuda_sync_events=True)"
_SYNC_ROCM = "record with rocprofv3 --sys-trace: it shows what the queues waited for"
_SYSTEM_CUDA = (
    "record with nsys profile --trace=cuda,nvtx,osrt --sample=process-tree: it shows the thread's "
    "waits in the operating system, and the native code that it ran"
)
_SYSTEM_ROCM = (
    "record with rocprof-sys-sample: it shows the thread's waits in the operating system, and "
    "the native code that it ran"
)
_SYSTEM = "record with perf record -g, or py-spy record --native: they show what the thread ran"
_WHOLE = "get the whole file: copy it again, or record again and let the profiler finish writing"
_PAGEABLE = "; pinned memory (pin_memory=True) would rule out the staging of the copy"


def record_launch(trace: Trace, row: int) -> str:
    """How to get the launch of an activity that has none.

    Args:
        trace: the recording.
        row: the activity.
    """
    if undecided(trace, np.array([row])).any[0]:
        return SEPARATE
    return _LAUNCH_NSIGHT if trace.producer == "nsight" else RECORD_LAUNCH


def record_sync(trace: Trace) -> str:
    """How to see what queued work waited for."""
    if trace.producer == "nsight":
        return _SYNC_NSIGHT
    return _SYNC_ROCM if _is_rocm(trace) else RECORD_SYNC


def _is_rocm(trace: Trace) -> bool:
    hip = any(text.startswith("hip") for text in trace.strings)
    return hip and "cudaLaunchKernel" not in trace.strings


def record_system(trace: Trace) -> str:
    """How to see what a thread did where neither calls nor Python tell."""
    if all(lane.kind != LaneKind.GPU_STREAM for lane in trace.lanes):
        return _SYSTEM
    return _SYSTEM_ROCM if _is_rocm(trace) else _SYSTEM_CUDA


def record_thread(trace: Trace, call: int = -1) -> str:
    """How to see what a thread did while it recorded nothing.

    Args:
        trace: the recording.
        call: a call of that thread, -1 where none is known.
    """
    if call >= 0 and is_silent(trace, int(trace.lane_id[call])):
        return record_operators(trace)
    return record_system(trace) if holds_stacks(trace) else RECORD_STACKS


def unattributed_fix(trace: Trace, gaps: Gaps, index: int) -> str:
    """What would show the cause of one piece that cannot be attributed."""
    launch, following = int(gaps.launch_row[index]), int(gaps.next_row[index])
    start, culprit = int(gaps.start_ns[index]), int(gaps.culprit_row[index])
    if culprit >= 0 and trace.lanes[int(trace.lane_id[culprit])].kind == LaneKind.GPU_STREAM:
        return "record again: times of this recording are wrong (see the evidence)"
    if lost_line(trace, start, int(gaps.end_ns[index]), following) is not None:
        return _WHOLE
    wait = wait_of_row(trace, culprit)
    late = following < 0 or launch < 0 or int(trace.start_ns[launch]) > start
    if wait is not None and late and (told := wait_fix(wait)) is not None:
        return told
    if following < 0:
        return record_thread(trace)
    if launch < 0:
        return record_launch(trace, following)
    if int(trace.start_ns[launch]) > start:
        return record_system(trace) if holds_host(trace, culprit) else record_thread(trace, launch)
    if int(trace.end_ns[launch]) > start:
        pageable = trace.kind[following] == SliceKind.MEMCPY and "ageable" in trace.name(following)
        return record_system(trace) + (_PAGEABLE if pageable else "")
    return record_sync(trace)


def holds_host(trace: Trace, row: int) -> bool:
    """Whether a slice is a call or an operator that held its thread with no call inside."""
    if row < 0 or trace.kind[row] not in (SliceKind.CPU_OP, SliceKind.RUNTIME):
        return False
    return int(trace.end_ns[row] - trace.start_ns[row]) >= LEAST_NS
