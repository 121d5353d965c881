"""A recorded window as the live screen knows it, and what its analysis said in a few figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from whichlayer.analysis.layers import Layer

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis

#: A layer that takes less than this share of a window is not named as its owner.
_LEAST_SHARE: Final = 0.05

#: Marks of the verdict: where the time is lost, seen from the boundary to CUDA.
MARKS: Final = {
    "above-cuda": "▲",
    "below-pytorch": "▼",
    "both": "◆",
    "unclear": "?",
    "healthy": "✓",
}


@dataclass(frozen=True, slots=True)
class Shot:
    """One recorded window.

    Attributes:
        id: its number, from 1; later ones are newer.
        path: its trace.
        source: who recorded it, in words: ``rank 0``, ``process 4711``; empty where nobody tells.
        label: which it is, in words: ``steps 3–5``, or the name of its file.
        file_bytes: its size on disk.
        facts: what recording it cost, in words.
        arrived_ns: wall clock when it could be loaded.
    """

    id: int
    path: Path
    source: str
    label: str
    file_bytes: int
    facts: tuple[str, ...] = ()
    arrived_ns: int = 0


@dataclass(frozen=True, slots=True)
class Judged:
    """What an analysis says of a window, for its cell in the strip.

    Attributes:
        side: tag of the verdict.
        above_share, below_share: of the window, lost in gaps above CUDA and in kernels.
        owner: the layer that loses the most, ``Layer.NONE`` where none loses enough.
        owner_share: what it loses of the window.
        busy_share: part of the window in which kernels computed; None without a GPU.
        step_ns: length of a step, the mean; None without steps.
    """

    side: str
    above_share: float
    below_share: float
    owner: Layer
    owner_share: float
    busy_share: float | None
    step_ns: int | None

    @property
    def mark(self) -> str:
        """The verdict as one character."""
        return MARKS.get(self.side, "?")


def judged_of(analysis: Analysis) -> Judged:
    """The few figures that a strip of windows shows."""
    budget, verdict = analysis.budget, analysis.verdict
    lost: dict[Layer, int] = {
        layer: budget.lost_to(layer) for layer in Layer if layer is not Layer.NONE
    }
    owner = max(lost, key=lambda layer: lost[layer])
    share = lost[owner] / budget.total_ns if budget.total_ns > 0 else 0.0
    if share < _LEAST_SHARE:
        owner, share = Layer.NONE, 0.0
    busy = budget.at_roof_ns + sum(budget.loss_ns.values()) + budget.unjudged_ns
    return Judged(
        side=verdict.side,
        above_share=verdict.above_share,
        below_share=verdict.below_share,
        owner=owner,
        owner_share=share,
        busy_share=busy / budget.total_ns if analysis.devices and budget.total_ns > 0 else None,
        step_ns=_step_ns(analysis),
    )


def _step_ns(analysis: Analysis) -> int | None:
    """The window divided by its steps: what a step takes when the host runs ahead, too."""
    window = analysis.window
    steps = len(window.steps) or (0 if analysis.steps is None else len(analysis.steps.rows))
    return (window.end_ns - window.start_ns) // steps if steps else None
