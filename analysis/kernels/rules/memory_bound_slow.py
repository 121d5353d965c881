"""A memory-bound kernel moves its bytes well below the card's bandwidth.

Even counting only the bytes that it must move, once each, it stays under 60 % of the data
sheet after its launch floor is taken off. Layout, vector width, too few bytes in flight or
an old library version are the usual reasons; a fused or Triton kernel is the usual cure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import ATTAINABLE_BANDWIDTH, Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="memory-bound-slow",
    layer=Layer.CUDA,
    title="memory-bound kernel far below the card's bandwidth",
    fix="check layout and alignment of its tensors, update the library, or write it in Triton",
    thresholds={"bandwidth": 0.60, "trivial_kernels": 3.0},
    source="whichlayer's design; tried on 143 recorded traces",
    example="sample memory_bound_slow: an addition in bf16 moves 804 GB/s on an H100, 24 % of "
    "the data sheet; 36 % of the window",
)
RANK: Final = 40


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether it is below the ridge, long enough to judge, and slow after its floor."""
    if measured.work.bytes is None or not measured.peaks.bandwidth_gbps or measured.above_ridge:
        return False
    if measured.time_ns <= settings["trivial_kernels"] * measured.floor_ns:
        return False
    if not measured.floor.measured and measured.memory_ns < measured.floor_ns:
        return False  # how long its launches take is not known, and its bytes take less
    moving = measured.time_ns - measured.launches * measured.floor.excused_ns
    needed = measured.memory_ns * ATTAINABLE_BANDWIDTH
    return needed < settings["bandwidth"] * moving
