"""The GPU's memory is nearly full, and the allocator had to give blocks back to get new ones.

With ``profile_memory`` recorded: what the caching allocator has reserved (where that is not
recorded, what it has given out) reaches 90 % of the device's memory, and between the first and the
last ``cudaMalloc`` of the same process, for the same GPU, there are two calls of ``cudaFree`` or more,
as when the allocator empties itself to try again; retries themselves are not recorded. Each waits for
the whole device. One call alone may be a workspace of a library, and ``cudaFreeAsync`` gives to a pool
of the driver, not to the device. An allocation that failed for good (``[OutOfMemory]``) is told however
full the memory was. Where no backward pass is recorded, the fix is that of inference.
What it costs is in the gaps (``allocator``); this says why, and is given no time of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.communication_fixes import trains
from whichlayer.analysis.kernels.peaks import device_entry
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.memory.device_calls import asking, giving
from whichlayer.analysis.memory.whose_calls import CPU_ALLOCATOR, calls_for, process_of_lanes
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.steps import engine_steps

Rows = NDArray[np.int64]

TRAINING: Final = "activation checkpointing, a smaller micro-batch, less kept between steps"
INFERENCE: Final = (
    "leave more room beside the KV cache: a lower gpu_memory_utilization or a smaller cache, a smaller "
    "maximum batch (max_num_seqs, max_num_batched_tokens)"
)

RULE: Final = Rule(
    id="memory-near-limit",
    layer=Layer.PYTORCH,
    title="the GPU's memory is nearly full",
    fix=f"in training: {TRAINING}; in inference: {INFERENCE}",
    thresholds={"full": 0.90, "frees": 2.0},
    source="whichlayer's design; PyTorch's caching allocator frees its cache before a retry",
    example="made: 76.0 GB of 80.0 GB allocated (95 %), and cudaFree between two calls of "
    "cudaMalloc",
)
RANK: Final = 90
_OUT_OF_MEMORY: Final = "[OutOfMemory]"


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: it is about the whole recording."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The calls that freed memory under pressure, or before which none was left; or None."""
    trace = analysis.trace
    said, rows = _retries(analysis)
    failed = _failures(trace)
    if len(failed):
        said = (*said, f"an allocation failed {len(failed):,} x ([OutOfMemory])")
        calls = np.flatnonzero(trace.kind == SliceKind.RUNTIME)
        rows = rows if len(rows) else _calls_before(trace, calls, failed)
    return Hint(said, tuple(rows.tolist()), _fix(trace)) if len(rows) else None


def _retries(analysis: Analysis) -> tuple[tuple[str, ...], Rows]:
    """What proves that memory was given back under pressure, and the calls that did so."""
    trace, options = analysis.trace, analysis.options
    asks, gives = asking(trace), giving(trace)
    if not len(asks) or len(gives) < threshold(options, RULE.id, "frees"):
        return (), gives[:0]
    for one in _full(analysis):
        asked = trace.start_ns[calls_for(trace, asks, one.allocator, one.process)]
        given = calls_for(trace, gives, one.allocator, one.process)
        if not len(asked):
            continue
        start = trace.start_ns[given]
        under = given[(start > asked.min()) & (start < asked.max())]
        if len(under) and len(under) >= threshold(options, RULE.id, "frees"):
            of_all = f"{one.most / 1e9:.1f} GB of {one.room / 1e9:.1f} GB {one.what}"
            said = (
                f"{of_all} at most ({one.most / one.room:.0%})",
                f"memory was given back {len(under):,} times between allocations",
            )
            return said, under[np.argsort(trace.start_ns[under], kind="stable")]
    return (), gives[:0]


@dataclass(frozen=True, slots=True)
class _Held:
    """What one process holds of one GPU: the most bytes, and what those bytes are."""

    allocator: int
    process: int
    room: int
    most: float
    what: str


def _full(analysis: Analysis) -> list[_Held]:
    """Memory that reached the threshold, the fullest first."""
    trace, header = analysis.trace, analysis.trace.header
    instants = trace.instants
    # The CPU's allocator counts for itself; files that name none are of the GPU's.
    known = np.isfinite(instants.value) & (instants.allocator != CPU_ALLOCATOR)
    known &= instants.lane_id >= 0
    process = np.full(len(known), -1, np.int64)
    process[known] = process_of_lanes(trace)[instants.lane_id[known]]
    pairs = np.unique(np.stack((instants.allocator[known], process[known])), axis=1)
    found = []
    for allocator, owner in pairs.T.tolist():
        here = known & (instants.allocator == allocator) & (process == owner)
        entry = device_entry(allocator & 0xFFFFFFFF, header) if allocator >= 0 else None
        room = _memory(entry or {}) or _least_memory(analysis)
        reserved = instants.reserved[here]
        told = bool(np.isfinite(reserved).any())
        held = float(np.nanmax(reserved)) if told else float(instants.value[here].max())
        if room and held >= threshold(analysis.options, RULE.id, "full") * room:
            what = "reserved" if told else "allocated"
            found.append(_Held(allocator, owner, room, held, what))
    return sorted(found, key=lambda one: -one.most / one.room)


def _fix(trace: Trace) -> str:
    """What to change: inference has no activations to recompute and no micro-batch."""
    if trains(trace):
        return TRAINING
    forward = engine_steps(trace) or bool((trace.kind == SliceKind.CPU_OP).any())
    return INFERENCE if forward else ""


def _failures(trace: Trace) -> Rows:
    """When allocations failed, ascending."""
    ids = [index for index, name in enumerate(trace.strings) if name == _OUT_OF_MEMORY]
    return trace.instants.time_ns[among(trace.instants.name_id, ids)]


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
