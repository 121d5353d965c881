"""The gap heatmap of several recordings: a row for each device of each rank, from its own start.

The clocks of several hosts are never compared; only the lengths of rows are on one scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.heat_rows import HeatRow
from whichlayer.analysis.heatmap import heat_of as bins_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import gpu_text
from whichlayer.tui.document import Document
from whichlayer.tui.heat import Heat, heat_from, largest_gaps


@dataclass(frozen=True, slots=True)
class RankWindow:
    """The newest analysed window of one rank or process.

    Attributes:
        shot_id: its number.
        source: whose it is, in words.
        document: what is known of it; None where that is not at hand.
        is_shown: it is the one on the screen.
        why: why it has no rows, where that is known.
    """

    shot_id: int
    source: str
    document: Document | None
    is_shown: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class RankHeat:
    """Rows of ranks.

    Attributes:
        rows: each with the place of its window in ``windows`` as ``analysis``.
        heat: their cells.
        windows: those that have rows.
        absent: a line for each rank that has none.
    """

    rows: list[HeatRow]
    heat: Heat
    windows: tuple[RankWindow, ...]
    absent: tuple[str, ...]


def rank_heat(windows: Sequence[RankWindow], cells: int) -> RankHeat | None:
    """The cells of all ranks that are known; None where none is.

    Args:
        windows: in the order of their rows.
        cells: columns.
    """
    analyses: list[Analysis] = []
    gaps, rows, with_rows, absent = [], [], [], []
    for window in windows:
        analysis = None if window.document is None else window.document.analysis
        if window.document is None or analysis is None:
            absent.append(f"{window.source}: {window.why or 'not analysed yet'}")
            continue
        if not analysis.devices:
            absent.append(f"{window.source}: no GPU activity")
            continue
        low, high = analysis.window.start_ns, analysis.window.end_ns
        for index, device in enumerate(analysis.devices):
            several = f" {gpu_text(device.number)}" if len(analysis.devices) > 1 else ""
            rows.append(HeatRow(f"{window.source}{several}", low, high, index, -1, len(analyses)))
        analyses.append(analysis)
        gaps.append(window.document.gaps)
        with_rows.append(window)
    if not rows:
        return None
    bins = bins_of(analyses, rows, cells)
    largest = np.full(bins.gap_ns.shape, -1, np.int64)
    for place, own in enumerate(gaps):
        mine = [at for at, row in enumerate(rows) if row.analysis == place]
        largest_gaps(largest, mine, rows, bins.edges_ns, own)
    return RankHeat(rows, heat_from(bins, largest), tuple(with_rows), tuple(absent))
