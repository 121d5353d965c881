"""Writes to the terminal what differs from what it shows already.

Textual paints a widget anew whenever anything about it may have changed, and all of the screen
after every change of its layout: half of what it writes while a trace opens is there already. On
a slow line every such byte is waited for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
from rich.segment import Segment
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.geometry import Size
from textual.strip import Strip


class Shown:
    """What was written last at every place of the terminal, piece by piece as it was written."""

    def __init__(self) -> None:
        """Nothing is known to be there."""
        self._lines: dict[int, dict[int, Strip]] = {}
        self._size: Size | None = None

    def forget(self) -> None:
        """Something else may have changed what the terminal shows."""
        self._lines.clear()

    def resized(self, size: Size) -> None:
        """Forget all where the screen has another size: terminals move text about then."""
        if size != self._size:
            self.forget()
            self._size = size

    def note(self, x: int, y: int, strip: Strip) -> tuple[int, Strip] | None:
        """Note that a strip is written at a place.

        Returns:
            Where what differs from what is there begins, and that part; None where nothing does.
        """
        line = self._lines.setdefault(y, {})
        end = x + strip.cell_length
        known = line.get(x)
        if end == x or (known is not None and known == strip):
            return None
        known = _taken(line, x, end)
        line[x] = strip
        if known is None:
            return x, strip
        low, high = changed_cells(known, strip)
        return (x + low, strip.crop(low, high)) if high > low else None


def _taken(line: dict[int, Strip], x: int, end: int) -> Strip | None:
    """What a line is known to show from ``x`` to ``end``, taken out of it; None if not all is."""
    parts: list[Strip] = []
    at = x
    for start in sorted(line):
        old = line[start]
        stop = start + old.cell_length
        if start >= end or stop <= x:
            continue
        del line[start]
        if start < x:
            line[start] = old.crop(0, x - start)
        if stop > end:
            line[end] = old.crop(end - start)
        if start <= at:
            parts.append(old.crop(max(x - start, 0), min(end, stop) - start))
            at = stop
    return Strip.join(parts) if at >= end and parts else None


def difference(renderable: RenderableType | None, shown: Shown) -> RenderableType | None:
    """What to write of an update; whatever else is written is left as it is."""
    if isinstance(renderable, LayoutUpdate | ChopsUpdate):
        return Difference(renderable, shown)
    if renderable is not None:
        shown.forget()
    return renderable


class Difference(CompositorUpdate):
    """An update of Textual's, without what is there already."""

    def __init__(self, update: LayoutUpdate | ChopsUpdate, shown: Shown) -> None:
        """Take the update, and what the terminal shows when it is written."""
        self._update = update
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The whole update: whoever asks for this does not write to the terminal."""
        yield from self._update.__rich_console__(console, options)

    def render_segments(self, console: Console) -> str:
        """What to write; called once, and its result is written."""
        if isinstance(self._update, LayoutUpdate):
            self._shown.resized(self._update.region.size)
            places = _all_strips(self._update)
        else:
            places = _chopped_strips(self._update)
        return _written(places, self._shown.note, console)


Place = tuple[int, int, Strip]

#: ASCII, frames, blocks, arrowheads and what times are written with.
_NARROW = re.compile("[ -~µ·…≥\u2500-\u259f▲▶▸▼◀]*")


def changed_cells(old: Strip, new: Strip) -> tuple[int, int]:
    """The first and the last + 1 cell in which two strips of one length may differ.

    Equal beginnings and ends are found without splitting wide characters.
    """
    before, after = list(old), list(new)
    left = _alike(before, after, 1)
    if left >= new.cell_length:
        return 0, 0
    right = _alike(before[::-1], after[::-1], -1)
    return left, max(new.cell_length - right, left)


def _alike(old: list[Segment], new: list[Segment], step: int) -> int:
    """Cells that two lines have in common from one end: whole segments, then plain characters."""
    cells = 0
    for one, other in zip(old, new, strict=False):
        if one == other:
            cells += one.cell_length
            continue
        if one.style == other.style and _is_narrow(one.text) and _is_narrow(other.text):
            for a, b in zip(one.text[::step], other.text[::step], strict=False):
                if a != b:
                    break
                cells += 1
        break
    return cells


def _is_narrow(text: str) -> bool:
    """Whether every character surely takes one cell."""
    return text.isascii() or _NARROW.fullmatch(text) is not None


def _written(
    places: Iterable[Place],
    note: Callable[[int, int, Strip], tuple[int, Strip] | None],
    console: Console,
) -> str:
    parts: list[str] = []
    behind = (-1, -1)
    for x, y, strip in places:
        changed = note(x, y, strip)
        if changed is None:
            continue
        at, part = changed
        if (at, y) != behind:
            parts.append(Control.move_to(at, y).segment.text)
        parts.append(part.render(console))
        behind = (at + part.cell_length, y)
    return "".join(parts)


def _all_strips(update: LayoutUpdate) -> Iterable[Place]:
    for y, line in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in line:
            yield x, y, strip
            x += strip.cell_length


def _chopped_strips(update: ChopsUpdate) -> Iterable[Place]:
    """The strips that an update writes, cropped to its spans as Textual crops them."""
    for y, low, high in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is None or x > high or end <= low:
                continue
            yield (
                x,
                y,
                strip if low <= x < high and end <= high else strip.crop(0, min(end, high) - x),
            )
