"""The first sentence of a review: on which side of the CUDA boundary the time is lost."""

from __future__ import annotations

from whichlayer.analysis.layers import ABOVE_CUDA, Layer
from whichlayer.analysis.results import Budget, Verdict

#: A side that loses less than this share of the window is no verdict.
SIDE_SHARE = 0.20
#: More unknown or unjudged than this, and the trace proves nothing.
UNCLEAR_SHARE = 0.50

_NO_GPU = "No GPU verdict: the recording holds no GPU activity that is known as such."
_CUT = "No GPU verdict: no GPU activity in what could be read; profilers write it last."


def verdict_of(
    budget: Budget, gpu: bool, caveat: str = "", *, cut: bool = False, whole: str = "window"
) -> Verdict:
    """Compare gaps owned above CUDA with the time lost in kernels.

    Args:
        budget: of the whole window.
        gpu: whether the recording holds any GPU activity.
        caveat: why the verdict is to be trusted less, or empty.
        cut: whether the recording goes on behind what could be read.
        whole: the word for what the budget is of.
    """
    if not gpu or budget.total_ns <= 0:
        return Verdict("unclear", 0.0, 0.0, _CUT if cut and not gpu else _NO_GPU)
    total = budget.total_ns
    above = sum(budget.gap_ns.get(layer, 0) for layer in ABOVE_CUDA) / total
    below = sum(budget.loss_ns.values()) / total
    unknown = (budget.gap_ns.get(Layer.UNKNOWN, 0) + budget.unjudged_ns) / total
    side = side_of(above, below, unknown)
    return Verdict(side, above, below, _text(side, above, below, unknown, whole), caveat)


def side_of(above: float, below: float, unknown: float) -> str:
    """The side of shares of a window, each from 0 to 1."""
    if above >= SIDE_SHARE and below >= SIDE_SHARE:
        return "both"
    if above >= SIDE_SHARE:
        return "above-cuda"
    if below >= SIDE_SHARE:
        return "below-pytorch"
    return "unclear" if unknown > UNCLEAR_SHARE else "healthy"


def _text(side: str, above: float, below: float, unknown: float, whole: str) -> str:
    # One decimal: 19.8 % is no side, and must not read as the 20 % that is one.
    above_text, below_text = f"{100 * above:.1f} %", f"{100 * below:.1f} %"
    shares = f"{above_text} of the {whole} in gaps above CUDA, {below_text} lost in kernels"
    # What is not known may still be a problem, as large as one that would be a side.
    not_known = f"{100 * unknown:.1f} % of the {whole} is unknown or unjudged"
    healthy = f"Healthy as far as is known: {shares}, but {not_known}."
    return {
        "above-cuda": f"Above CUDA: {shares}.",
        "below-pytorch": f"Below PyTorch: {shares}.",
        "both": f"Both sides: {shares}.",
        "unclear": f"Unclear: {not_known} ({shares}).",
        "healthy": healthy if unknown >= SIDE_SHARE else f"Healthy: {shares}.",
    }[side]
