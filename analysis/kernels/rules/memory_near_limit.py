"""The GPU's memory is nearly full, and the allocator had to give blocks back to get new ones.

With ``profile_memory`` recorded: what the caching allocator has reserved (where that is not
recorded, what it has given out) reaches 90 % of the device's memory, and between the first and the
last ``cudaMalloc`` of the recording there are calls of ``cudaFree``, as when the allocator empties
itself to try again; retries themselves are not recorded. Each waits for the whole device. So does an
allocation that failed for good (``[OutOfMemory]``), which is told however full the memory was.
What it costs is in the gaps (``allocator``); this says why, and is given no time of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.peaks import device_entry
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Rows = NDArray[np.int64]

RULE: Final = Rule(
    id="memory-near-limit",
    layer=Layer.PYTORCH,
    title="the GPU's memory is nearly full",
    fix="activation checkpointing, a smaller micro-batch, less kept between steps",
    thresholds={"full": 0.90, "frees": 1.0},
    source="whichlayer's design; PyTorch's caching allocator frees its cache before a retry",
    example="made: 76.0 GB of 80.0 GB allocated (95 %), and cudaFree between two calls of "
    "cudaMalloc",
)
RANK: Final = 90
#: As :class:`whichlayer.analysis.trace.columns.Instants` numbers it.
CPU_ALLOCATOR: Final = 0
_OUT_OF_MEMORY: Final = "[OutOfMemory]"
_ALLOCATES: Final = re.compile(r"^(?:cuda|hip)(?:Malloc|MallocAsync)$|^cuMemCreate$")
_FREES: Final = re.compile(r"^(?:cuda|hip)(?:Free|FreeAsync)$|^cuMemRelease$")


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: it is about the whole recording."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The calls that freed memory under pressure, or before which none was left; or None."""
    trace = analysis.trace
    calls = np.flatnonzero(trace.kind == SliceKind.RUNTIME)
    said, rows = _retries(analysis, calls)
    failed = _failures(trace)
    if len(failed):
        said = (*said, f"an allocation failed {len(failed):,} x ([OutOfMemory])")
        rows = rows if len(rows) else _calls_before(trace, calls, failed)
    return Hint(said, tuple(rows.tolist())) if len(rows) else None


def _retries(analysis: Analysis, calls: Rows) -> tuple[tuple[str, ...], Rows]:
    """What proves that memory was given back under pressure, and the calls that did so."""
    trace, options = analysis.trace, analysis.options
    room, most, what = _fullest(analysis)
    if not room or most < threshold(options, RULE.id, "full") * room:
        return (), calls[:0]

    def named(pattern: re.Pattern[str]) -> Rows:
        ids = [index for index, name in enumerate(trace.strings) if pattern.match(name)]
        return calls[np.isin(trace.name_id[calls], ids)]

    allocating, freeing = named(_ALLOCATES), named(_FREES)
    if not len(allocating):
        return (), calls[:0]
    start = trace.start_ns
    first, last = start[allocating].min(), start[allocating].max()
    under = freeing[(start[freeing] > first) & (start[freeing] < last)]
    if not len(under) or len(under) < threshold(options, RULE.id, "frees"):
        return (), calls[:0]
    return (
        f"{most / 1e9:.1f} GB of {room / 1e9:.1f} GB {what} at most ({most / room:.0%})",
        f"memory was given back {len(under):,} times between allocations",
    ), under[np.argsort(start[under])]


def _fullest(analysis: Analysis) -> tuple[int, float, str]:
    """Memory of the GPU that was fullest, most bytes held of it, and what those bytes are."""
    instants, header = analysis.trace.instants, analysis.trace.header
    # The CPU's allocator counts for itself; files that name none are of the GPU's.
    known = np.isfinite(instants.value) & (instants.allocator != CPU_ALLOCATOR)
    found = (0, 0.0, "")
    for allocator in np.unique(instants.allocator[known]).tolist():
        here = known & (instants.allocator == allocator)
        entry = device_entry(allocator & 0xFFFFFFFF, header) if allocator >= 0 else None
        room = _memory(entry or {}) or _least_memory(analysis)
        reserved = instants.reserved[here]
        told = bool(np.isfinite(reserved).any())
        held = float(np.nanmax(reserved)) if told else float(instants.value[here].max())
        if room and held / room > (found[1] / found[0] if found[0] else -1.0):
            found = room, held, "reserved" if told else "allocated"
    return found


def _failures(trace: Trace) -> Rows:
    """When allocations failed, ascending."""
    ids = [index for index, name in enumerate(trace.strings) if name == _OUT_OF_MEMORY]
    return trace.instants.time_ns[np.isin(trace.instants.name_id, ids)]


def _calls_before(trace: Trace, calls: Rows, times: Rows) -> Rows:
    """The last call before each time."""
    calls = calls[np.argsort(trace.start_ns[calls], kind="stable")]
    at = np.searchsorted(trace.start_ns[calls], times, "right") - 1
    return np.unique(calls[at[at >= 0]])


def _least_memory(analysis: Analysis) -> int:
    """Bytes of the smallest GPU that worked; 0 where one is not recorded."""
    entries = [device_entry(device.number, analysis.trace.header) for device in analysis.devices]
    return min((_memory(entry or {}) for entry in entries), default=0)


def _memory(entry: Mapping[str, Any]) -> int:
    """Bytes of a GPU's memory as recorded, or 0."""
    size = entry.get("totalGlobalMem")
    usable = isinstance(size, int) and not isinstance(size, bool) and 0 < size < 1 << 50
    return size if usable and isinstance(size, int) else 0
