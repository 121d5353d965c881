"""The kernel has fewer blocks than the card has multiprocessors, so part of the card idles.

It is slow for its work (under 60 % of the roof that binds it), long beside the trace's trivial
kernels, and its grid leaves multiprocessors without a block. Where all of its data is less than
one vector load for every thread that the card holds, the work itself is too small: only a larger
batch helps, and that is decided in PyTorch. Else the kernel does not split its work far enough.
Matrix products and attention are never blamed: persistent and split designs look like this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="small-grid",
    layer=Layer.CUDA,
    title="fewer blocks than the card has multiprocessors",
    fix="split the work over more blocks (split reductions, fuse small operators), or batch more",
    thresholds={"efficiency": 0.60, "trivial_kernels": 3.0, "load_bytes": 16.0},
    source="grid and multiprocessors as recorded; thresholds are whichlayer's",
    example="ResNet-18 on an MI300X: batch_norm_backward launches 64 blocks for 304 "
    "multiprocessors and moves 273 GB/s, 5 % of the data sheet",
)
RANK: Final = 32
#: Threads that a multiprocessor of the cards seen holds at least.
_RESIDENT: Final = 1536


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether a slow kernel leaves multiprocessors without work."""
    if measured.work.category in ("matmul", "attention") or measured.has_products:
        return False
    if not 0 < measured.blocks < measured.peaks.units:
        return False
    if not measured.outlasts(settings["trivial_kernels"]):
        return False
    efficiency = measured.efficiency
    return efficiency is not None and efficiency < settings["efficiency"]


def owner(measured: Measured, settings: Mapping[str, float]) -> Layer:
    """PyTorch where the work is too small for the card however it is cut."""
    room = measured.peaks.units * _RESIDENT * settings["load_bytes"]
    small = measured.work.bytes is not None and measured.work.bytes < room
    return Layer.PYTORCH if small else Layer.CUDA


def reason(measured: Measured) -> str:
    """The figures that decided."""
    return f"{measured.blocks} blocks for {measured.peaks.units} multiprocessors"
