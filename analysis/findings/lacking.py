"""Withholds a side that what a damaged file lacks could change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whichlayer.analysis.findings.verdict import side_of
from whichlayer.analysis.layers import ABOVE_CUDA, Layer
from whichlayer.analysis.results import Budget, Verdict


@dataclass(frozen=True, slots=True)
class Missing:
    """What a damaged file lacks.

    Attributes:
        idle_ns: time of the window that looks idle and may have been work.
        beyond_ns: time outside the window of which only the host's part was read.
        cut: the file is cut off: what would tell of the rest may be gone as well.
    """

    idle_ns: int = 0
    beyond_ns: int = 0
    cut: bool = False


def withheld(verdict: Verdict, budget: Budget, missing: Missing) -> Verdict:
    """The verdict, or none where what is missing could have been time of another side.

    Args:
        verdict: of what was read.
        budget: it is of.
        missing: what was not read of the file.
    """
    lacking = missing.idle_ns + missing.beyond_ns
    if missing.cut:
        lacking = budget.gap_ns.get(Layer.UNKNOWN, 0) + budget.unjudged_ns + missing.beyond_ns
    if not lacking or verdict.side == "unclear":
        return verdict
    total = budget.total_ns + missing.beyond_ns
    above = sum(budget.gap_ns.get(layer, 0) for layer in ABOVE_CUDA)
    below = sum(budget.loss_ns.values())
    ends = [(above, below), (above + lacking, below), (above, below + lacking)]
    if all(side_of(one / total, other / total, 0.0) == verdict.side for one, other in ends):
        return verdict
    how = "cut off" if missing.cut else "damaged"
    known = verdict.text.partition(": ")[2].removesuffix(".")
    text = (
        f"Unclear: the file is {how}, and the work that it lacks could change the side ({known})."
    )
    return replace(verdict, side="unclear", text=text)
