"""From a picture to what Textual writes: strips, those of rows that look as before kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from whichlayer.tui.frame_runs import Painted, Places, find_runs

#: What a strip keeps of one sort of its parts.
_KEPT = 4


class Line(Strip):
    """A strip that makes what Textual keeps beside it when that is first asked for.

    Most lines of a frame are written once and never cropped or filtered: seven empty caches
    each would take longer to make than the line itself.
    """

    __slots__ = ()

    def __init__(self, segments: list[Segment], cell_length: int) -> None:
        """Take the segments, which nobody else may change, and how many cells they take."""
        self._segments = segments
        self._cell_length = cell_length
        self._render_cache = self._link_ids = self._cell_count = None

    def __getattr__(self, name: str) -> FIFOCache[Any, Any]:
        if not name.endswith("_cache"):
            raise AttributeError(name)
        cache: FIFOCache[Any, Any] = FIFOCache(_KEPT)
        setattr(self, name, cache)
        return cache

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """The parts between some cells: the line itself where it is not cut."""
        cuts = list(cuts)
        return [self] if cuts == [self._cell_length] else super().divide(cuts)


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
        same = _alike(known, painted, heights)
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

    def changes(
        self, painted: Painted, labels: Sequence[Segment], heights: Places, lines: int
    ) -> list[tuple[int, tuple[int, int]]]:
        """What of some lines looks otherwise than when they were last drawn.

        Args:
            painted: the cells of those lines.
            labels: what is at the left of each.
            heights: intp (n,), where each is on the screen.
            lines: how many are on the screen.

        Returns:
            Of each line that does: its height, and the first such column and the last + 1.
        """
        known = self._known(lines, painted.glyphs.shape[1])
        changed = painted.codes != known.codes[heights]
        changed |= painted.glyphs != known.glyphs[heights]
        found = []
        for y, label, cells in zip(heights.tolist(), labels, changed, strict=True):
            width = label.cell_length
            (places,) = cells.nonzero()
            columns = [width + int(places[0]), width + int(places[-1]) + 1] if len(places) else []
            if label != self._labels[y]:
                columns += [0, width]
            if columns:
                found.append((y, (min(columns), max(columns))))
        return found

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
        parts = zip(runs.texts(), map(styles.__getitem__, codes), repeat(None))
        segments = list(map(tuple.__new__, repeat(Segment), parts))
        bounds = runs.bounds.tolist()
        cells = painted.glyphs.shape[1]
        for place, (at, label) in enumerate(zip(heights, labels, strict=True)):
            mine = [label, *segments[bounds[place] : bounds[place + 1]]]
            self._labels[at] = label
            self._strips[at] = Line(mine, label.cell_length + cells)


def _alike(known: Painted, painted: Painted, heights: Places) -> list[bool]:
    """Which lines look as they did before."""
    everywhere = len(heights) == len(known.codes)
    codes = known.codes if everywhere else known.codes[heights]
    same: list[bool] = (codes == painted.codes).all(axis=1).tolist()
    if any(same):
        glyphs = known.glyphs if everywhere else known.glyphs[heights]
        alike = (glyphs == painted.glyphs).all(axis=1).tolist()
        return [one and other for one, other in zip(same, alike, strict=True)]
    return same
