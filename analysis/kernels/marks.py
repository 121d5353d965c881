"""What a matrix kernel's name tells about the hardware it uses: tensor cores, precision."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from whichlayer.analysis.kernels.names import family

# Negatives come first: "s1688gemm" is a tensor-core kernel, "sgemm" is not.
_NOT_TENSOR: Final = re.compile(
    r"ffma|simt|sgemm|scudnn|implicit_convolve_sgemm|cgemm|dgemm|volta_hgemm|maxwell_|gemv"
    r"|gemmk1|gemmsn|dot_kernel|winograd|fft2d|[dw]grad_(?:alg\d_)?engine|conv2d_grouped_direct"
    r"|conv_depthwise|depthwise_conv|[dw]grad2d"
)
_TENSOR: Final = re.compile(
    r"1688|16816|884(?:gemm|cudnn)|8816|161616|tensorop_|nvjet|flash|fmha|mfma|xdlops|gtcx?\d?_"
    r"|(?:^|[^a-z])(?:hmma|imma|qmma|gmma|hgmma|igmma|qgmma|wgmma|wmma)(?:$|[^a-z])"
)
_CUTLASS3: Final = re.compile(r"cutlass.*sm(?:90|1\d\d)_|^sm(?:90|1\d\d)_(?!xmma)")
_XMMA_TYPES: Final = re.compile(r"xmma.*(?:bf16|(?<!b)f16|tf32|e4m3|e5m2|i8i8|s8s8)")
_XMMA_FP32: Final = re.compile(r"xmma.*f32f32_f32f32_f32")
_MATRIX_FAMILIES: Final = frozenset({"matmul", "convolution", "attention", "compiled", "other"})
_ALIGN: Final = re.compile(r"align([12])(?!\d)")
_SHORTCUTS: Final = re.compile(r"winograd|fft", re.IGNORECASE)


@lru_cache(maxsize=65536)
def tensor_cores(name: str, vendor: str) -> bool | None:
    """Whether a kernel runs on matrix units; None where its name does not tell.

    Kernels that do no products at all (copies, norms, reductions) are False. A Triton kernel
    with a dot looks like one without: None.
    """
    low = name.lower()
    if low.startswith("cijk_"):
        return bool(re.search(r"_mi\d+x\d+", low))
    kind = family(name)
    if kind not in _MATRIX_FAMILIES:
        return False
    if _NOT_TENSOR.search(low) and not re.search(r"16816|tensorop|xdlops", low):
        return False
    if _TENSOR.search(low) or _XMMA_TYPES.search(low):
        return True
    if _XMMA_FP32.search(low):
        return False
    if vendor in ("nvidia", "") and _CUTLASS3.search(low):
        return True
    return None


def precision_of(
    names: tuple[str, ...], operands: str | None, vendor: str, *, has_tf32: bool
) -> str | None:
    """Precision in which a product of these operands ran; None where nothing tells.

    Args:
        names: the kernels of the operator.
        operands: type of the operands as recorded.
        vendor: of the device.
        has_tf32: whether the device has a TF32 (XF32) rate at all.
    """
    if operands != "fp32":
        return operands
    if not has_tf32:
        return "fp32"
    found = {_fp32_or_tf32(name, vendor) for name in names if family(name) in _MATRIX_FAMILIES}
    found.discard(None)
    if vendor == "amd":  # XF32 is off unless asked for, and then named
        return "tf32" if "tf32" in found else "fp32"
    # The main kernel decides; a split-K reduction beside it says "fp32" of its sums only.
    if "tf32" in found:
        return "tf32"
    return "fp32" if found else None


@lru_cache(maxsize=65536)
def _fp32_or_tf32(name: str, vendor: str) -> str | None:
    low = name.lower()
    if "tf32" in low or "xf32" in low or "_s_mx_" in low:
        return "tf32"
    if vendor == "amd":
        return "fp32"
    cores = tensor_cores(name, vendor)
    if cores is None:
        return None
    return "tf32" if cores else "fp32"


@lru_cache(maxsize=65536)
def is_poorly_aligned(name: str) -> bool:
    """Whether a kernel loads its operands one or two elements at a time."""
    return _ALIGN.search(name) is not None


@lru_cache(maxsize=65536)
def takes_shortcuts(name: str) -> bool:
    """Whether a convolution kernel does fewer products than its definition says."""
    return _SHORTCUTS.search(name) is not None
