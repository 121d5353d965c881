"""Waits of Python: frames in which a thread works at nothing, and for what it waits.

A recording shows such a frame as it shows one that computes. What it waits for comes from
elsewhere, so nothing is known of why it lasted; only a sleep is the program's own decision.
Work that is called inside (a message that is decoded) has a frame of its own.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind


class Wait(Enum):
    """For what a thread waits."""

    THREAD = "a lock, a queue or a result of another thread"
    MESSAGE = "a message, a connection or a timer"
    PROCESS = "another process"
    SLEEP = "nothing: until a time is over"


# Members of an IntEnum are looked up slowly, and compared with NumPy's numbers more slowly.
_PYTHON = int(SliceKind.PYTHON)
#: Where the standard library's files lie; profilers leave out the part that is in sys.path.
_STDLIB = r"(?:^|/(?:lib|Lib)/(?:python[\d.]+t?/)?)"
_CALLED = r"\.pyx?\(\d+\): (?:\w+\.)*"
#: Python's own functions as profilers write them, with what they belong to.
_BUILT_IN = re.compile(
    r"^<(?:built-in function|built-in method|cyfunction|method) '?(?P<scope>(?:\w+\.)*)(?P<call>\w+)'?"
    r"(?: of '?(?P<owner>[\w.]+))?"
)
_LOCK_TYPES = re.compile(r"^(_thread\.(R?lock|_ThreadHandle|LockType)|_queue\.SimpleQueue)$")
_LOCK_CALLS = frozenset({"acquire", "acquire_lock", "__enter__", "get", "join"})
_SEMAPHORE = "_multiprocessing.SemLock"
_SLEEPS = frozenset({"sleep", "nanosleep", "clock_nanosleep"})
#: Of a module: functions of the operating system. Tensors have a ``select`` too.
_SYSTEM_MESSAGES = frozenset({"select", "read", "readv", "zmq_poll", "sigwait", "sigwaitinfo",
    "sigtimedwait", "pause", "WaitForSingleObject", "WaitForMultipleObjects",
    "GetQueuedCompletionStatus"})  # fmt: skip
_SYSTEM_PROCESSES = frozenset({"wait", "wait3", "wait4", "waitid", "waitpid", "sched_yield"})
#: Of an object: sockets, pollers, queues of completions.
_OBJECTS_MESSAGES = frozenset({"poll", "accept", "_accept", "recv", "recv_into", "recvfrom",
    "recvfrom_into", "recvmsg", "recvmsg_into", "recv_multipart", "next_event"})  # fmt: skip
#: C++ bound to Python; those of collectives wait for peers.
_BOUND = "PyCapsule"
_OF_PEERS = frozenset({"wait", "monitored_barrier"})
_LOOPS = frozenset({"run_until_complete", "run_forever"})
#: Waits of streams of a device for each other: the thread goes on at once.
_ON_DEVICE = re.compile(r"Event|Stream|^Tensor$|^type$|^dict$|Future$")
_FRAMES = (
    (Wait.THREAD, _STDLIB + r"(?:queue|threading)" + _CALLED
        + r"(?:get|put|wait|wait_for|join|acquire|_wait_for_tstate_lock)$"),
    (Wait.THREAD, _STDLIB + r"concurrent/futures/_base" + _CALLED
        + r"(?:result|exception|wait|as_completed)$"),
    (Wait.MESSAGE, _STDLIB + r"selectors" + _CALLED + r"select$"),
    (Wait.MESSAGE, _STDLIB + r"(?:socket|ssl)" + _CALLED + r"(?:accept|recv\w*|readinto)$"),
    (Wait.MESSAGE, _STDLIB + r"asyncio/windows_events" + _CALLED + r"(?:select|_poll)$"),
    (Wait.MESSAGE, _STDLIB + r"multiprocessing/(?:connection|queues)" + _CALLED
        + r"(?:_?recv\w*|_?poll|_?wait|accept|get|_get_more_data|_exhaustive_wait)$"),
    (Wait.PROCESS, _STDLIB + r"multiprocessing/(?:popen_\w+|process|pool|synchronize)" + _CALLED
        + r"(?:wait|poll|join|acquire|get|__enter__)$"),
    (Wait.PROCESS, _STDLIB + r"subprocess" + _CALLED
        + r"(?:wait|_wait|_try_wait|communicate|_communicate)$"),
    (Wait.PROCESS, r"(?:^|/)shm_broadcast" + _CALLED + r"(?:acquire_read|acquire_write)$"),
    (Wait.MESSAGE, r"(?:^|/)zmq/\w+/(?:\w+/)?\w+" + _CALLED + r"(?:zmq_poll|poll|recv|recv_multipart)$"),
    (Wait.MESSAGE, r"(?:^|/)grpc/_(?:channel|common|server)" + _CALLED
        + r"(?:wait|_wait_once|_blocking|result|_next)$"),
)  # fmt: skip
_PATTERNS = tuple((wait, re.compile(pattern)) for wait, pattern in _FRAMES)


@lru_cache(maxsize=4096)
def wait_of(name: str) -> Wait | None:
    """For what a Python frame of this name waits; None for one that works.

    >>> wait_of("selectors.py(451): select"), wait_of("tokenizer.py(7): select")
    (<Wait.MESSAGE: 'a message, a connection or a timer'>, None)
    """
    if name.startswith("<"):
        return _of_built_in(name)
    name = name.replace("\\", "/")
    return next((wait for wait, pattern in _PATTERNS if pattern.search(name)), None)


def _of_built_in(name: str) -> Wait | None:
    match = _BUILT_IN.match(name)
    if match is None:
        return None
    call, owner = match["call"], match["owner"] or match["scope"].rstrip(".")
    if owner in ("", "module", "time", "posix", "nt", "select", "_winapi", "_signal"):
        if call in _SLEEPS:
            return Wait.SLEEP
        if call in _SYSTEM_PROCESSES:
            return Wait.PROCESS
        return Wait.MESSAGE if call in _SYSTEM_MESSAGES else None
    if _LOCK_TYPES.match(owner):
        return Wait.THREAD if call in _LOCK_CALLS else None
    if owner == _SEMAPHORE:
        return Wait.PROCESS if call in _LOCK_CALLS else None
    if owner == "select.kqueue" or owner.startswith("uvloop."):
        return Wait.MESSAGE if call == "control" or call in _LOOPS else None
    if owner == _BOUND:
        return Wait.PROCESS if call in _OF_PEERS else None
    if _ON_DEVICE.search(owner):
        return None
    reads = call == "read" and owner.startswith("_ssl.")
    return Wait.MESSAGE if reads or call == "wait" or call in _OBJECTS_MESSAGES else None


def wait_of_row(trace: Trace, row: int) -> Wait | None:
    """For what the thread of a slice waits in it; None for no wait of Python's."""
    if row < 0 or trace.kind.item(row) != _PYTHON:
        return None
    return wait_of(trace.name(row))


def wait_line(trace: Trace, row: int, thread: str) -> str:
    """A wait in words: its frame, and what is known of what it waits for.

    Args:
        trace: the recording.
        row: a slice of which :func:`wait_of_row` tells a wait.
        thread: the name of its thread for people.
    """
    wait, frame = wait_of_row(trace, row), clean(trace.name(row))
    if wait == Wait.SLEEP:
        caller = _caller(trace, row)
        called = f", called in {clean(caller)}" if caller else ""
        return f"{thread} slept in {frame}{called}: the program pauses itself, it does not work"
    text = f"{thread} waited in {frame}"
    if wait == Wait.THREAD:
        return text + (", for another thread" if _has_company(trace, row) else "")
    if wait == Wait.MESSAGE:
        return f"{text}, for a message, a connection or a timer"
    return f"{text}, for another process"


def wait_fix(wait: Wait) -> str | None:
    """What to do about a wait whose other side is not recorded; None where recording more helps."""
    return _FIXES.get(wait)


_FIXES = {
    Wait.SLEEP: "the program sleeps here (see the place): where the device had work to do, take the "
    "pause out, or wait for an event or a queue instead of looking again after a time",
    Wait.MESSAGE: "a wait for requests is none of the model's: with none there the device has nothing "
    "to do; with some, record whoever sends them as well (another process, the network)",
    Wait.PROCESS: "record the process that it waits for as well: this recording holds one side only",
}


def _caller(trace: Trace, row: int) -> str:
    """The Python function around a slice, empty for none."""
    frames = (up for up in trace.enclosing(row) if trace.kind[up] == SliceKind.PYTHON)
    return next((trace.name(up) for up in frames), "")


def _has_company(trace: Trace, row: int) -> bool:
    """Whether another thread of the process is recorded."""
    mine = int(trace.lane_id[row])
    pid = trace.lanes[mine].pid
    return any(
        lane.kind == LaneKind.CPU_THREAD and lane.pid == pid and number != mine
        for number, lane in enumerate(trace.lanes)
    )
