"""Which faster precision a card has for products that ran in FP32."""

from __future__ import annotations

from typing import Final

from whichlayer.analysis.kernels.peaks import DeviceMatch

#: TF32 is worth proposing where it is at least this much faster than FP32: on A100 and newer
#: data-centre parts it is 4 to 15 times, on GeForce, L40 and A10G it is the same.
_WORTHWHILE_TF32: Final = 3.0
#: FP16 without a BF16 rate beside it is vector FP16 on parts without tensor cores (P100: twice
#: FP32) and tensor cores on Volta and Turing (from four times).
_TENSOR_FP16: Final = 3.0
_WORTHWHILE: Final = 1.5


def faster_than_fp32(peaks: DeviceMatch) -> str | None:
    """The precision to propose instead of FP32, or None where the card has none.

    ``tf32`` keeps the model's types; ``bf16`` and ``fp16`` mean autocast. On AMD it is
    autocast even where XF32 units exist: PyTorch does not use them unless told to.
    """
    fp32 = peaks.rate("fp32")
    if not fp32:
        return None
    tf32, bf16, fp16 = (peaks.tflops.get(name, 0.0) for name in ("tf32", "bf16", "fp16"))
    if peaks.vendor == "nvidia" and tf32 >= _WORTHWHILE_TF32 * fp32:
        return "tf32"
    if bf16:
        return "bf16" if bf16 >= _WORTHWHILE * fp32 else None
    return "fp16" if fp16 >= _TENSOR_FP16 * fp32 else None
