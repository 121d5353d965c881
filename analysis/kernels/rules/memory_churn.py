"""Memory goes back to the device and is asked for again, over and over.

Told where ``profile_memory`` is recorded. A step takes and gives back at least what is held at most,
which a caching allocator that has warmed up serves from what it has; here it calls the device:
memory was given back to it (``cudaFree``) and asked for again (``cudaMalloc``) in each step after
the first, and at least twice, by one process and for one GPU. What goes into a pool of the driver
(``cudaFreeAsync``) has not gone back to the device. Blocks of changing sizes do that, and ``empty_cache()`` in the loop. A
memory that is nearly full explains it better (``memory-near-limit``). What it costs is in the gaps
(``allocator``); this says why, and is given no time of its own.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from whichlayer.analysis.kernels.rules.memory_near_limit import RULE as NEAR_LIMIT
from whichlayer.analysis.kernels.rules.memory_near_limit import find as near_limit
from whichlayer.analysis.memory.churn import RULE
from whichlayer.analysis.memory.device_calls import asked_again
from whichlayer.analysis.memory.usage import MemoryUse, memory_use
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Hint
from whichlayer.analysis.settings import enabled
from whichlayer.analysis.text import clean

__all__ = ["RANK", "RULE", "applies", "find"]

RANK: Final = 91


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: it is about the whole window."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The calls that ask again for what was given back; None where memory is served from what is held."""
    trace = analysis.trace
    if not np.isfinite(trace.instants.value).any():
        return None
    if not len(asked_again(trace, analysis.window)):  # before all allocations are looked at
        return None
    churning = [one for one in memory_use(analysis) if one.churns]
    if not churning:
        return None
    if enabled(analysis.options, NEAR_LIMIT.id) and near_limit(analysis) is not None:
        return None
    most = max(churning, key=lambda one: one.taken_bytes)
    rows = asked_again(trace, analysis.window, most.allocator)
    return Hint(_said(most), tuple(rows.tolist()))


def _said(one: MemoryUse) -> tuple[str, ...]:
    times = f"{one.turnover or 0.0:.1f} times the most that is held"
    said = [
        f"{one.taken_bytes / 1e9:.2f} GB taken in {one.taken:,} allocations, {times} in each step",
        f"memory went back to the device and was asked for again {one.asked_again:,} times",
    ]
    if one.by_operator:
        most = one.by_operator[0]
        said.append(f"most by {clean(most.operator)}: {most.bytes / 1e9:.2f} GB up to the peak")
    return tuple(said)
