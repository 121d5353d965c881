"""Both halves of a precision fix: the policy above, and what the card supports below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from whichlayer.analysis.kernels.peaks import DeviceMatch, device_entry, match_device
from whichlayer.analysis.kernels.precision import faster_than_fp32
from whichlayer.analysis.results import Analysis

_SHOWN: Final = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")
#: Less than this of the products is nothing to change anything for.
_LEAST: Final = 0.01
_ABOVE: Final = {
    "tf32": 'torch.set_float32_matmul_precision("high") keeps the model\'s types; '
    "torch.autocast(dtype=torch.bfloat16) goes further",
    "bf16": "torch.autocast(dtype=torch.bfloat16) around the forward pass",
    "fp16": "torch.autocast(dtype=torch.float16) with torch.amp.GradScaler",
}
#: TF32 is allowed: what still runs in FP32 found no kernel for its sizes.
_FELL_BACK: Final = (
    "TF32 is on already; what is left runs in FP32 by its sizes: pad them to multiples of 4, or "
    "torch.autocast(dtype=torch.bfloat16)"
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What to change, and what it rests on.

    Attributes:
        above: the policy in PyTorch.
        below: what the card supports, with its dense rates.
        faster: the precision to move to, or None where the card has none.
    """

    above: str
    below: str
    faster: str | None


def advise(analysis: Analysis, shares: Mapping[str, float]) -> Advice | None:
    """What to change about products that ran in FP32; None where none did or no card is known.

    Args:
        analysis: the analysis.
        shares: of the products' time, by precision.
    """
    if shares.get("fp32", 0.0) < _LEAST or not analysis.devices:
        return None
    header = analysis.trace.header
    entry = device_entry(analysis.devices[0].number, header)
    peaks = match_device(entry, header, analysis.options)
    rates = _rates(peaks)
    if "fp32" not in peaks.tflops:
        return None
    faster = faster_than_fp32(peaks)
    if faster is None:
        return Advice("nothing: this card multiplies no faster in another type", rates, None)
    if faster == "tf32" and shares.get("tf32", 0.0) > shares["fp32"]:
        return Advice(_FELL_BACK, rates, "bf16" if peaks.rate("bf16") else faster)
    return Advice(_ABOVE[faster], rates, faster)


def _rates(peaks: DeviceMatch) -> str:
    """The dense rates of a card, those that nobody confirmed marked."""
    shown = []
    for name in _SHOWN:
        rate = peaks.rate(name)
        if rate:
            doubt = " (unconfirmed)" if name in peaks.unconfirmed else ""
            shown.append(f"{name.upper()} {rate:.4g}{doubt}")
    return f"{peaks.model or 'this card'}: {', '.join(shown)} TFLOP/s dense" if shown else ""
