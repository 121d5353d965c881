"""All steps laid over one another: how idle each position of a step is, and how much steps differ.

Steps are aligned at their starts, as the device saw them, on the scale of the longest; the
warm-up step and steps that the window cuts are left out where others remain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.heat_rows import HeatRow, step_rows
from whichlayer.analysis.heatmap import GAPS, heat_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Folded:
    """The positions of a step, over all steps that reach them.

    Attributes:
        rows: the steps that were laid over one another, as a device saw them.
        offset_ns: int64 (bins + 1,), since the start of a step.
        steps: int64 (bins,), how many steps reach the position.
        median, low, high: float64 (bins,), share of the position spent in gaps: median, tenth
            and ninetieth percentile (nearest observed); NaN where no step reaches it.
        owner: uint8 (bins,), the ``Layer`` that owns most of that over all steps.
        worst: int64 (bins,), index into ``rows`` of the step with the most there, or -1.
    """

    rows: tuple[HeatRow, ...]
    offset_ns: NDArray[np.int64]
    steps: NDArray[np.int64]
    median: Floats
    low: Floats
    high: Floats
    owner: NDArray[np.uint8]
    worst: NDArray[np.int64]

    @property
    def spread(self) -> Floats:
        """How much steps differ at each position: ``high - low``."""
        return self.high - self.low


def fold_steps(analysis: Analysis, device: int, bins: int) -> Folded | None:
    """The steps of one device over one another; None with fewer than two of them.

    Args:
        analysis: any.
        device: index into ``Analysis.devices``.
        bins: positions, at least 1.
    """
    rows = _compared(analysis, device)
    if len(rows) < 2:
        return None
    heat = heat_of([analysis], rows, bins)
    inside, idle = heat.inside, np.where(heat.inside, heat.idle, np.nan)
    reached = inside.sum(axis=0)
    low, median, high = ranks(idle, inside)
    owners = heat.time_ns[:, :, GAPS].sum(axis=0)
    owner = np.where(owners.sum(axis=1) > 0, owners.argmax(axis=1), Layer.NONE)
    worst = np.where(reached > 0, np.nan_to_num(idle, nan=-1.0).argmax(axis=0), -1)
    offset = heat.edges_ns - heat.edges_ns[:, :1]
    return Folded(
        tuple(rows),
        offset.max(axis=0),
        reached.astype(np.int64),
        median,
        low,
        high,
        owner.astype(np.uint8),
        worst.astype(np.int64),
    )


def _compared(analysis: Analysis, device: int) -> list[HeatRow]:
    every = step_rows(analysis)
    if device >= len(every):
        return []
    rows = every[device]
    steps = () if analysis.steps is None else analysis.steps.rows
    usual = {f"step {row.step.number}" for row in steps if row.whole and not row.warm_up}
    kept = [row for row in rows if row.label in usual]
    return kept if len(kept) > 1 else list(rows)


def ranks(share: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Tenth percentile, median and ninetieth of each column: the nearest that was observed.

    Args:
        share: float64 (steps, bins), NaN outside.
        inside: bool (steps, bins), what counts.
    """
    # What is outside sorts to the end, so that the nearest rank is found among the others.
    ordered, reached = np.sort(np.where(inside, share, np.nan), axis=0), inside.sum(axis=0)
    low, median, high = (_ranked(ordered, reached, part) for part in (0.1, 0.5, 0.9))
    return low, median, high


def _ranked(ordered: Floats, reached: NDArray[np.int64], share: float) -> Floats:
    """The observed value of a rank in each column; NaN where nothing was observed."""
    place = np.clip(np.ceil(share * reached).astype(np.int64) - 1, 0, None)
    value = np.take_along_axis(ordered, place[None, :], axis=0)[0]
    return np.where(reached > 0, value, np.nan)
