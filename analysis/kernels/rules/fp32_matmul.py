"""Products run in FP32 although the card has tensor cores for narrower types.

The loss is what they take beyond the proposed precision's own ideal time, even where the
kernel is at the roof of FP32: TF32 on A100 and newer data-centre parts, else FP16 or BF16
through autocast. Only products whose flops take longer than their bytes in FP32 are counted;
the others would gain nothing from faster arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.kernels.precision import faster_than_fp32
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="fp32-matmul",
    layer=Layer.PRECISION,
    title="FP32 products on a card with tensor cores",
    fix="run the products in a narrower precision (autocast, or TF32 where it is faster)",
    thresholds={"gain": 1.25},
    source="data-sheet rates; TF32 equals FP32 on GeForce, L40 and A10G",
    example="sample fp32_matmul_a100: ampere_sgemm_128x128_nt at 16 TFLOP/s; in TF32 good "
    "products reach 85 % of 156 TFLOP/s; 84 % of the window",
)
RANK: Final = 10
_FIXES: Final = {
    "tf32": "torch.set_float32_matmul_precision('high') (and torch.backends.cudnn.allow_tf32), "
    "or autocast(dtype=torch.bfloat16)",
    "bf16": "torch.autocast(dtype=torch.bfloat16) around the forward pass",
    "fp16": "torch.autocast(dtype=torch.float16) with a GradScaler",
}


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether FP32 arithmetic is what limits a product that could run faster."""
    if measured.work.category not in ("matmul", "convolution") or measured.precision != "fp32":
        return False
    rate = ideal_rate(measured)
    if rate is None or not measured.above_ridge:
        return False
    if measured.time_ns <= measured.roof_ns(rate):
        return False
    now = max(measured.ideal_ns(measured.rate), measured.time_ns)
    return now >= settings["gain"] * measured.ideal_ns(rate)


def ideal_rate(measured: Measured) -> float | None:
    """Dense rate of the precision that is proposed."""
    faster = faster_than_fp32(measured.peaks)
    return None if faster is None else measured.peaks.tflops.get(faster)


def why(measured: Measured) -> str:
    """What the loss is measured against."""
    faster = faster_than_fp32(measured.peaks)
    rate = ideal_rate(measured) or 0.0
    return (
        f"FP32 {measured.tflops or 0:.3g} TFLOP/s; ideal in {(faster or '').upper()} at "
        f"{measured.peaks.eff:.0%} of {rate:.4g} TFLOP/s"
    )


def fix(peaks: DeviceMatch) -> str:
    """What to change on this card."""
    return _FIXES.get(faster_than_fp32(peaks) or "", RULE.fix)
