"""A product got the wrong kernel: no tensor cores, narrow loads, or sizes that do not fit.

A matrix product or convolution in a type that has tensor cores runs under 60 % of what good
products reach, and its kernel has no tensor cores, or loads one or two elements at a time
(``align1``, ``align2`` in its name), or the rows of its operands or result in memory are no
multiple of 8 elements (16 for 8-bit types).
Padding the sizes, ``channels_last`` or a backend flag makes the library choose another.
Matrix-vector products (decoding) are never blamed: they are bound by memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.marks import is_poorly_aligned, tensor_cores
from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="kernel-selection",
    layer=Layer.BOUNDARY,
    title="the library chose a kernel that cannot use this card well",
    fix="pad sizes to multiples of 8 (16 for 8-bit types), use channels_last, check backend flags",
    thresholds={"rate": 0.60},
    source="alignment rules of cuBLAS, cuDNN and hipBLASLt; thresholds are whichlayer's",
    example="DLRM on an A100: cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align1 loads one "
    "element at a time, 52.7 TFLOP/s tf32: 34 % of the data sheet",
)
RANK: Final = 20
_MULTIPLE: Final = {"fp16": 8, "bf16": 8, "fp8": 16, "int8": 16}


def reason(measured: Measured) -> str:
    """What is wrong with the choice, or empty."""
    multiple = _MULTIPLE.get(measured.precision or "")
    if multiple is None and measured.precision != "tf32":
        return ""
    vendor = measured.peaks.vendor
    products = [name for name in measured.kernels if _is_product(name)]
    if products and all(tensor_cores(name, vendor) is False for name in products):
        return "its kernel has no tensor cores"
    if any(is_poorly_aligned(name) for name in measured.kernels):
        return "its kernel loads one or two elements at a time"
    odd = [str(size) for size in measured.work.contiguous if multiple and size % multiple]
    if odd:
        return f"rows of {', '.join(odd)} elements, no multiple of {multiple}"
    return ""


def _is_product(name: str) -> bool:
    return family(name) in ("matmul", "convolution", "compiled", "other")


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether a product above the ridge is slow for one of the three reasons."""
    if measured.work.category not in ("matmul", "convolution") or not measured.above_ridge:
        return False
    if min(measured.work.dims, default=0) <= 1:
        return False
    share = measured.eff_share
    return share is not None and share < settings["rate"] and bool(reason(measured))
