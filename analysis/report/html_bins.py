"""Rows of coloured cells as SVG: each row one picture, equal neighbours one shape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

LEVELS = 5
"""How many shades tell how full a cell is; the style sheet has as many."""


def level_of(share: NDArray[np.float64]) -> NDArray[np.int8]:
    """The shade of each cell: 0 only where it holds nothing, so that no sliver is lost."""
    full = np.ceil(np.clip(share, 0.0, 1.0) * LEVELS - 1e-9)
    return np.where(share > 0, np.maximum(full, 1), 0).astype(np.int8)


def shapes(colour: NDArray[np.uint8], level: NDArray[np.int8], classes: dict[int, str]) -> str:
    """The cells of one row as paths of a picture that is one cell wide per column and 1 high.

    Args:
        colour: uint8 (columns,), keys of ``classes``.
        level: int8 (columns,), 0 for an empty cell.
        classes: the style of each colour.
    """
    drawn: dict[tuple[int, int], list[str]] = {}
    for start, end, hue, shade in _runs(colour, level):
        width = end - start
        drawn.setdefault((hue, shade), []).append(f"M{start} 0h{width}v1h-{width}z")
    return "".join(
        f'<path class="{classes[hue]} s{shade}" d="{"".join(parts)}"/>'
        for (hue, shade), parts in drawn.items()
    )


def picture(columns: int, inside: str, label: str) -> str:
    """One row as a picture; ``inside`` is SVG, ``label`` is HTML text for those who cannot see it."""
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {columns} 1" '
        f'preserveAspectRatio="none">{inside}</svg>'
    )


def _runs(
    colour: NDArray[np.uint8], level: NDArray[np.int8]
) -> Iterator[tuple[int, int, int, int]]:
    """(first column, end column, colour, level) of each stretch of equal cells that hold anything."""
    if not len(colour):
        return
    key = colour.astype(np.int32) * (LEVELS + 1) + level
    cut = np.flatnonzero(np.diff(key)) + 1
    starts = np.concatenate(([0], cut))
    ends = np.concatenate((cut, [len(key)]))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        if level[start]:
            yield start, end, int(colour[start]), int(level[start])
