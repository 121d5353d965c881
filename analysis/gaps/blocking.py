"""Copies that block the thread that asks for them, and what part of the call is the copy.

A blocking call first waits for earlier work of its stream, then copies. CUDA says so in the
copy's name ("Pageable"); ROCm does not, there a call that returns only after its copy has
ended is taken as blocking.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_TO_DEVICE = re.compile(r"\bHtoD\b|Host -> Device|Host To Device", re.IGNORECASE)
_TO_HOST = re.compile(r"\bDtoH\b|Device -> Host|Device To Host", re.IGNORECASE)
_PAGEABLE = re.compile(r"pageable", re.IGNORECASE)
_PINNED = re.compile(r"pinned", re.IGNORECASE)


def copies_to_device(name: str) -> bool:
    """Whether a copy of this name goes from the host to a device."""
    return _TO_DEVICE.search(name) is not None


def copies_to_host(name: str) -> bool:
    """Whether a copy of this name goes from a device to the host."""
    return _TO_HOST.search(name) is not None


@dataclass(frozen=True, slots=True)
class BlockingCopy:
    """A runtime call that returned only after its copy.

    Attributes:
        call: trace row of the call.
        copy: trace row of the copy.
        to_device: host to device, else device to host.
        named: the copy's name says pageable; otherwise it was told by its timing.
    """

    call: int
    copy: int
    to_device: bool
    named: bool


#: An asynchronous call whose copy's name does not tell has waited for it if the copy makes up
#: half of the call and the call is longer than any launch.
_LONG_CALL_NS = 50_000


def _waited(trace: Trace, call: int, start: int, end: int) -> bool:
    """Whether a call without a word on its memory returned only when the copy was done."""
    begun, returned = int(trace.start_ns[call]), int(trace.end_ns[call])
    done = returned >= end - (end - start) // 10
    if not trace.name(call).endswith("Async"):
        return done
    return done and returned - begun >= _LONG_CALL_NS and 2 * (end - start) >= returned - begun


def blocking_copies(trace: Trace) -> dict[int, BlockingCopy]:
    """Blocking copies by the row of their call."""
    copies = np.flatnonzero((trace.kind == SliceKind.MEMCPY) & (trace.launch >= 0))
    found: dict[int, BlockingCopy] = {}
    for copy in copies.tolist():
        call = int(trace.launch[copy])
        name = trace.name(copy)
        to_device = copies_to_device(name)
        if not to_device and not copies_to_host(name):
            continue
        if trace.kind[call] != SliceKind.RUNTIME or "Graph" in trace.name(call):
            continue
        named = _PAGEABLE.search(name) is not None
        told_pinned = _PINNED.search(name) is not None and not named
        # The last staged chunk may still be on its way when a pageable copy's call returns.
        start, end = int(trace.start_ns[copy]), int(trace.end_ns[copy])
        waited = int(trace.end_ns[call]) > start if named else _waited(trace, call, start, end)
        if told_pinned or not waited:
            continue
        found[call] = BlockingCopy(call, copy, to_device, named)
    return found


def cause_of_copy(trace: Trace, blocking: dict[int, BlockingCopy], row: int, launch: int) -> str:
    """What a copy that nothing overlaps is: by its direction and whether it blocked.

    Args:
        trace: the recording.
        blocking: blocking copies by their call.
        row: the copy.
        launch: its call, -1 where the file holds none.
    """
    name = trace.name(row)
    blocked = launch in blocking
    if copies_to_device(name):
        pageable = blocked or "pageable" in name.lower()
        return "h2d-pageable" if pageable else "h2d-exposed"
    if copies_to_host(name):
        return "host-sync" if blocked else "d2h-exposed"
    return "p2p-exposed"


def causes_of_copies(
    trace: Trace,
    blocking: dict[int, BlockingCopy],
    rows: NDArray[np.int32],
    launches: NDArray[np.int32],
) -> NDArray[np.int32]:
    """As :func:`cause_of_copy`, of many copies, as cause codes: int32 (rows,)."""
    blocked = among(launches, list(blocking))
    keys = 2 * trace.name_id[rows].astype(np.int64) + blocked
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    told = [
        cause_code(cause_of_copy(trace, blocking, int(rows[i]), int(launches[i])))
        for i in first.tolist()
    ]
    return np.array(told, np.int32)[which]
