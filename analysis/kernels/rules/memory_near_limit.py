"""The GPU's memory is nearly full, and the allocator had to give blocks back to get new ones.

With ``profile_memory`` recorded: what is allocated reaches 90 % of the device's memory, and
between the first and the last ``cudaMalloc`` of the recording there are calls of ``cudaFree``, as when
the caching allocator empties itself to try again. Each such retry waits for the whole device.
What it costs is in the gaps (``allocator``); this says why, and is given no time of its own.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from whichlayer.analysis.kernels.peaks import device_entry
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE: Final = Rule(
    id="memory-near-limit",
    layer=Layer.PYTORCH,
    title="the GPU's memory is nearly full",
    fix="activation checkpointing, a smaller micro-batch, less kept between steps",
    thresholds={"full": 0.90, "frees": 1.0},
    source="whichlayer's design; PyTorch's caching allocator frees its cache before a retry",
)
RANK: Final = 90
#: As :class:`whichlayer.analysis.trace.columns.Instants` numbers it.
CPU_ALLOCATOR: Final = 0
_ALLOCATES: Final = re.compile(r"^(?:cuda|hip)(?:Malloc|MallocAsync)$|^cuMemCreate$")
_FREES: Final = re.compile(r"^(?:cuda|hip)(?:Free|FreeAsync)$|^cuMemRelease$")


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: it is about the whole recording."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The calls that freed memory under pressure, or None."""
    trace = analysis.trace
    room = _least_memory(analysis)
    # The CPU's allocator counts for itself; files that name none are of the GPU's.
    known = np.isfinite(trace.instants.value) & (trace.instants.allocator != CPU_ALLOCATOR)
    held = trace.instants.value[known]
    if not room or not len(held) or held.max() < RULE.thresholds["full"] * room:
        return None
    calls = np.flatnonzero(trace.kind == SliceKind.RUNTIME)

    def named(pattern: re.Pattern[str]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        ids = [index for index, name in enumerate(trace.strings) if pattern.match(name)]
        return calls[np.isin(trace.name_id[calls], ids)]

    allocating, freeing = named(_ALLOCATES), named(_FREES)
    if not len(allocating):
        return None
    start = trace.start_ns
    first, last = start[allocating].min(), start[allocating].max()
    under = freeing[(start[freeing] > first) & (start[freeing] < last)]
    if len(under) < RULE.thresholds["frees"]:
        return None
    share = float(held.max()) / room
    return Hint(
        (
            f"{held.max() / 1e9:.1f} GB of {room / 1e9:.1f} GB allocated at most ({share:.0%})",
            f"memory was given back {len(under):,} times between allocations",
        ),
        tuple(under[np.argsort(start[under])].tolist()),
    )


def _least_memory(analysis: Analysis) -> int:
    """Bytes of the smallest GPU that worked; 0 where one is not recorded."""
    sizes: list[int] = []
    for device in analysis.devices:
        entry = device_entry(device.number, analysis.trace.header) or {}
        size = entry.get("totalGlobalMem")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 < size < 1 << 50:
            return 0
        sizes.append(size)
    return min(sizes, default=0)
