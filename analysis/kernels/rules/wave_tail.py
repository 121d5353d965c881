"""The last wave of blocks leaves most of the card idle.

The grid is one to four times what the card holds at once, and its last wave is far from full:
the waves are less than 75 % full on average. With full waves the kernel would reach 60 % of the
roof that binds it, so the tail is what makes it slow. Kernels that only stream are never blamed:
what is left of their blocks finds all of the bandwidth for itself. How many blocks run at once is worked out
from registers, shared memory and threads; AMD's recordings do not hold them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.floor import STREAMING
from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="wave-tail",
    layer=Layer.CUDA,
    title="the last wave of blocks leaves most of the card idle",
    fix="choose sizes in multiples of tile times multiprocessors, or split the last tiles",
    thresholds={"efficiency": 0.60, "most_waves": 4.0, "full": 0.75, "trivial_kernels": 3.0},
    source="CUDA's occupancy calculator; thresholds are whichlayer's",
    example="DLRM on an A100: a product of 1.19 waves of 216 blocks takes the time of 2, 28 % "
    "of the data sheet's rate",
)
RANK: Final = 34


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether a kernel is slow by about as much as its last wave is empty."""
    found, efficiency = measured.residency, measured.efficiency
    if found is None or efficiency is None or not measured.outlasts(settings["trivial_kernels"]):
        return False
    if measured.launches != 1 or measured.work.category in STREAMING:
        return False
    if not 1 < found.waves < settings["most_waves"] or found.tail >= settings["full"]:
        return False
    least = settings["efficiency"]
    return efficiency < least <= efficiency / found.tail


def reason(measured: Measured) -> str:
    """The figures that decided."""
    found = measured.residency
    if found is None:
        return ""
    return (
        f"{found.waves:.2f} waves of {found.resident * found.units:,} blocks "
        f"take the time of {math.ceil(found.waves)}"
    )
