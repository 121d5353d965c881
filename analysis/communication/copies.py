"""The copies of a window by direction and kind of host memory, with their rates."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.communication.calls import Calls, calls_of
from whichlayer.analysis.results import Analysis, Role
from whichlayer.analysis.trace.columns import Int32, Int64, Trace
from whichlayer.analysis.trace.kinds import SliceKind

#: Directions, by what the names of copies hold. Source: names that Kineto makes of CUPTI's and
#: roctracer's copy kinds.
_DIRECTIONS = (
    ("PtoP", re.compile(r"\bPtoP\b|Peer", re.IGNORECASE)),
    ("HtoD", re.compile(r"\bHto[DA]\b|Host\s*(?:->|To)\s*(?:Device|Array)", re.IGNORECASE)),
    ("DtoH", re.compile(r"\b[DA]toH\b|(?:Device|Array)\s*(?:->|To)\s*Host", re.IGNORECASE)),
    ("DtoD", re.compile(r"\b[DA]to[DA]\b|Device\s*(?:->|To)\s*Device", re.IGNORECASE)),
    ("HtoH", re.compile(r"\bHtoH\b|Host\s*(?:->|To)\s*Host", re.IGNORECASE)),
)
_MEMORIES = ("pageable", "pinned", "managed", "unified")
_MEMORY_UNTOLD = (
    "whether the host's memory is pinned is not in this recording's names; "
    "CUDA recordings tell, on ROCm look at the rate"
)
_NO_BYTES = "their sizes are not recorded: record with a newer profiler"
_ON_DEVICE = "on one device: its own work, counted as compute and never exposed"
_SOME_BYTES = "rate of the copies whose size is recorded"
_LARGEST = 1 << 53


@dataclass(frozen=True, slots=True)
class CopyGroup:
    """Copies of one device in one direction and from or to one kind of host memory.

    Attributes:
        device: index into ``Analysis.devices``.
        direction: ``HtoD``, ``DtoH``, ``PtoP``, ``DtoD``, ``HtoH`` or ``other``.
        memory: ``pageable``, ``pinned``, ``managed`` or ``unified``; None where it is not told
            or no host memory takes part.
        calls: how many.
        bytes: of all whose size is recorded; None where none is.
        gbps: of those, bytes over time; None without.
        total_ns: their time in the window, one after the other.
        exposed_ns, hidden_ns, shared_ns: its parts: alone on the device; beside kernels;
            counted with another copy. None for copies on one device.
        streams: stream numbers.
        why: what is missing, or what limits the figures.
    """

    device: int
    direction: str
    memory: str | None
    calls: int
    bytes: int | None
    gbps: float | None
    total_ns: int
    exposed_ns: int | None
    hidden_ns: int | None
    shared_ns: int | None
    streams: tuple[int, ...]
    why: str


def direction_of(name: str) -> str:
    """Where a copy goes, by its name.

    >>> direction_of("Memcpy HtoD (Pageable -> Device)"), direction_of("CopyDeviceToHost")
    ('HtoD', 'DtoH')
    """
    for direction, pattern in _DIRECTIONS:
        if pattern.search(name):
            return direction
    return "other"


def memory_of(name: str) -> str | None:
    """The kind of host memory that a copy's name tells."""
    lowered = name.lower()
    return next((memory for memory in _MEMORIES if memory in lowered), None)


def find_copies(analysis: Analysis) -> tuple[CopyGroup, ...]:
    """The copies of all devices, most exposed first, then most time."""
    found: list[CopyGroup] = []
    for device in range(len(analysis.devices)):
        for role in (Role.COPY, Role.COMPUTE):
            calls = calls_of(analysis, device, role, SliceKind.MEMCPY)
            found += _groups(analysis.trace, device, calls, role == Role.COPY)
    found.sort(key=lambda group: (-(group.exposed_ns or 0), -group.total_ns, group.device))
    return tuple(found)


def _groups(trace: Trace, device: int, calls: Calls, transfers: bool) -> list[CopyGroup]:
    if not len(calls):
        return []
    names, inverse = np.unique(trace.name_id[calls.row], return_inverse=True)
    texts = [trace.strings[name] for name in names.tolist()]
    kinds = [(direction_of(text), memory_of(text)) for text in texts]
    numbers = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
    code = np.array([numbers[kind] for kind in kinds])[inverse.reshape(-1)]
    sizes = _sizes(trace, calls.row)
    return [
        _group(device, kind, calls, np.flatnonzero(code == i), sizes[code == i], transfers)
        for kind, i in numbers.items()
    ]


def _sizes(trace: Trace, row: Int32) -> Int64:
    """The recorded bytes of each copy, -1 where there are none."""
    details, inverse = np.unique(trace.detail_id[row], return_inverse=True)
    values = [trace.detail_by_id(detail).get("bytes") for detail in details.tolist()]
    return np.array([_size(value) for value in values], np.int64)[inverse.reshape(-1)]


def _size(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 17:
        value = int(value)
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
    return int(value) if good and isinstance(value, int) else -1


def _group(
    device: int,
    kind: tuple[str, str | None],
    calls: Calls,
    mine: NDArray[np.intp],
    sizes: Int64,
    transfers: bool,
) -> CopyGroup:
    sized = sizes >= 0
    # As Python's integers: a damaged file's sizes may be more than 64 bits hold together.
    total = sum(sizes[sized].tolist()) if sized.any() else None
    time = int(calls.duration_ns[mine][sized].sum())
    return CopyGroup(
        device=device,
        direction=kind[0],
        memory=kind[1],
        calls=len(mine),
        bytes=total,
        gbps=total / time if total and time else None,
        total_ns=int(calls.inside_ns[mine].sum()),
        exposed_ns=int(calls.exposed_ns[mine].sum()) if transfers else None,
        hidden_ns=int(calls.hidden_ns[mine].sum()) if transfers else None,
        shared_ns=int(calls.shared_ns[mine].sum()) if transfers else None,
        streams=tuple(np.unique(calls.stream[mine]).tolist()),
        why=_why(kind, bool(sized.any()), bool(sized.all()), transfers),
    )


def _why(kind: tuple[str, str | None], some: bool, every: bool, transfers: bool) -> str:
    reasons = []
    if not transfers:
        reasons.append(_ON_DEVICE)
    elif kind[0] in ("HtoD", "DtoH") and kind[1] is None:
        reasons.append(_MEMORY_UNTOLD)
    if not every:
        reasons.append(_SOME_BYTES if some else _NO_BYTES)
    return "; ".join(reasons)
