"""From a picture to what Textual writes: strips, those of rows that look as before kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from whichlayer.tui.frame_runs import Painted, Places, find_runs


class Strips:
    """The strips of the lines on the screen, by their height there."""

    def __init__(self) -> None:
        """Nothing is drawn yet."""
        self._painted: Painted | None = None
        self._labels: list[Segment | None] = []
        self._strips: list[Strip | None] = []

    def forget(self) -> None:
        """Keep nothing: styles or the size have changed."""
        self._painted = None

    def drawn(
        self,
        painted: Painted,
        labels: Sequence[Segment],
        heights: Places,
        lines: int,
        style_of: Callable[[int], Style],
    ) -> list[Strip]:
        """Strips of some lines.

        Args:
            painted: the cells of those lines.
            labels: what is at the left of each.
            heights: intp (n,), where each is on the screen.
            lines: how many are on the screen.
            style_of: the style of a code.
        """
        known = self._known(lines, painted.glyphs.shape[1])
        alike = (known.glyphs[heights] == painted.glyphs) & (known.codes[heights] == painted.codes)
        same = alike.all(axis=1).tolist()
        places = heights.tolist()
        new = [
            i
            for i, (at, is_same) in enumerate(zip(places, same, strict=True))
            if not is_same or self._labels[at] != labels[i]
        ]
        if len(new) == lines:  # all of them, from top to bottom
            self._painted = painted
            self._make(painted, labels, places, style_of)
        elif new:
            fresh = np.array(new)
            part = Painted(painted.glyphs[fresh], painted.codes[fresh])
            known.glyphs[heights[fresh]], known.codes[heights[fresh]] = part.glyphs, part.codes
            self._make(part, [labels[i] for i in new], [places[i] for i in new], style_of)
        return [strip for at in places if (strip := self._strips[at]) is not None]

    def _known(self, lines: int, cells: int) -> Painted:
        if self._painted is None or self._painted.glyphs.shape != (lines, cells):
            shape = (lines, cells)
            self._painted = Painted(np.zeros(shape, np.uint32), np.zeros(shape, np.int32))
            self._labels, self._strips = [None] * lines, [None] * lines
        return self._painted

    def _make(
        self,
        painted: Painted,
        labels: Sequence[Segment],
        heights: Sequence[int],
        style_of: Callable[[int], Style],
    ) -> None:
        runs = find_runs(painted)
        codes = runs.codes.tolist()
        styles = {code: style_of(code) for code in set(codes)}
        segments = list(map(Segment, runs.texts(), map(styles.__getitem__, codes)))
        bounds = runs.bounds.tolist()
        cells = painted.glyphs.shape[1]
        for place, (at, label) in enumerate(zip(heights, labels, strict=True)):
            mine = [label, *segments[bounds[place] : bounds[place + 1]]]
            self._labels[at] = label
            self._strips[at] = Strip(mine, label.cell_length + cells)
