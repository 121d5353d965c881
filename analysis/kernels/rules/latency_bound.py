"""The kernel is too short to judge: its time is mostly that of launching any kernel.

More than half of what it must take is the floor, the time of the trace's own trivial kernels,
and it takes no more than half as long again. Its cure is fewer, larger launches
(torch.compile, a CUDA graph, a larger batch, fused operators), never a faster kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="latency-bound",
    layer=Layer.BOUNDARY,
    title="kernel too short to fill the card",
    fix="launch fewer, larger kernels: torch.compile, CUDA graphs, a larger batch",
    thresholds={"floor_share": 0.5, "slack": 1.5},
    source="whichlayer's design; floors as read from each trace",
    example="sample launch_bound_decode: gemvx, 100 calls of 2.2 µs: little more than "
    "a kernel without any work takes",
)
RANK: Final = 25


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether its floor is most of its ideal time and it is near that."""
    work = max(measured.memory_ns, measured.compute_ns)
    ideal = measured.floor_ns + work
    floor = measured.floor_ns
    return floor > settings["floor_share"] * ideal and measured.time_ns <= settings["slack"] * ideal
