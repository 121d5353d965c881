"""So many registers or so much shared memory that few warps hide memory's latency.

The kernel is slow for its work, takes more than 5 % of the device's own time, and at most 30 %
of the warps that a multiprocessor could hold fit it, because of registers or shared memory.
Matrix products, convolutions and attention are never blamed: they hide latency by other means.
What the warps really wait for, only hardware counters tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="low-occupancy",
    layer=Layer.CUDA,
    title="too few warps fit a multiprocessor",
    fix="set launch bounds, use smaller blocks or tiles, keep less in registers",
    thresholds={"efficiency": 0.60, "occupancy": 0.30, "share": 0.05, "trivial_kernels": 3.0},
    source="CUDA's occupancy calculator; thresholds are whichlayer's",
    example="made: 255 registers a thread in blocks of 128 let 8 of 64 warps fit a "
    "multiprocessor, 12 %; the kernel moves 40 % of what the memory could",
)
RANK: Final = 36
_LIMITERS: Final = ("registers", "shared memory")


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether a slow kernel that matters has few warps because of what each of them needs."""
    found, efficiency = measured.residency, measured.efficiency
    if found is None or efficiency is None or measured.is_matrix or measured.has_products:
        return False
    if measured.share <= settings["share"] or not measured.outlasts(settings["trivial_kernels"]):
        return False
    few = found.limiter in _LIMITERS and found.occupancy < settings["occupancy"]
    return few and efficiency < settings["efficiency"]


def reason(measured: Measured) -> str:
    """The figures that decided."""
    found = measured.residency
    if found is None:
        return ""
    shape = found.shape
    what = (
        f"{shape.registers} registers a thread"
        if found.limiter == "registers"
        else f"{shape.shared_bytes:,} bytes of shared memory a block"
        if shape.shared_bytes is not None
        else found.limiter
    )
    return f"{found.occupancy:.0%} of the warps fit: {what}"
