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

#: Bytes round one run of a style with 256 colours, and those that send the cursor somewhere.
_RUN_BYTES, _MOVE_BYTES = 24, 8

#: Segments that may be new in a line of which most is taken to be as it was.
_FEW = 6


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

    def note(self, x: int, y: int, strip: Strip) -> list[tuple[int, Strip]]:
        """Note that a strip is written at a place.

        Returns:
            What differs from what is there: parts, and where each begins.
        """
        line = self._lines.setdefault(y, {})
        end = x + strip.cell_length
        known = line.get(x)
        if end == x or (known is not None and known == strip):
            return []
        known = _taken(line, x, end)
        line[x] = strip
        if known is None:
            return [(x, strip)]
        return [(x + low, part) for low, part in _cut(strip, changed_cells(known, strip))]


def _cut(strip: Strip, stretches: list[tuple[int, int]]) -> list[tuple[int, Strip]]:
    """The parts of a strip in some stretches of cells, with the cell of each."""
    if len(stretches) < 2:
        return [(low, strip.crop(low, high)) for low, high in stretches]
    cuts = [cell for stretch in stretches for cell in stretch]
    if cuts[0] == 0:
        del cuts[0]
    if cuts[-1] != strip.cell_length:
        cuts.append(strip.cell_length)
    parts = dict(zip([0, *cuts], strip.divide(cuts), strict=False))
    return [(low, parts[low]) for low, _ in stretches]


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

#: Characters that surely take one cell: ASCII, what times and names are written with, frames, blocks,
#: arrowheads, Braille.
_NARROW = re.compile("[ -~\u00a0-\u00ac\u00ae-\u024f…≥\u2500-\u259f▲▶▸▼◀\u2800-\u28ff]*")


def changed_cells(old: Strip, new: Strip) -> list[tuple[int, int]]:
    """The stretches of cells, first and last + 1, in which two strips of one length may differ.

    What lies between two of them would cost more than to move over it; it is looked for where most
    of a line is as it was. Wide characters are not split.
    """
    before, after = list(old), list(new)
    cells, same = _alike(before, after)
    before, after = before[same:], after[same:]
    if not after:
        return []
    if _are_few(before, after):
        return _stretches(before, after, cells)
    left = cells + (_alike_cells(before[0], after[0], 1) if before else 0)
    before.reverse()
    after.reverse()
    right, same = _alike(before, after)
    if same < len(after) and same < len(before):
        right += _alike_cells(before[same], after[same], -1)
    return [(left, max(new.cell_length - right, left))]


def _are_few(before: list[Segment], after: list[Segment]) -> bool:
    """Whether few segments are new; styles are told apart by what they are, not by how they look."""
    known = {(text, id(style)) for text, style, _ in before}
    left = _FEW
    for text, style, _ in after:
        if (text, id(style)) not in known:
            left -= 1
            if left < 0:
                return False
    return True


def _stretches(before: list[Segment], after: list[Segment], at: int) -> list[tuple[int, int]]:
    """Where segments differ from those that were in their place, from a cell on."""
    found: list[tuple[int, int]] = []
    place, start, last_run = 0, at, 0
    for run, segment in enumerate(after):
        begin, stop = at, at + segment.cell_length
        while at < stop and place < len(before):
            known = before[place]
            end = start + known.cell_length
            until = min(stop, end)
            low, high = _unlike(known, at - start, segment, at - begin, until - at)
            if low < high:
                apart = at + low - found[-1][1] if found else 0
                if found and apart + _RUN_BYTES * (run - last_run - 1) <= _MOVE_BYTES:
                    found[-1] = (found[-1][0], at + high)
                else:
                    found.append((at + low, at + high))
                last_run = run
            at = until
            if until == end:
                place, start = place + 1, end
    return found


def _alike(old: list[Segment], new: list[Segment]) -> tuple[int, int]:
    """How many cells and segments two lines begin with alike."""
    cells = 0
    for place, (one, other) in enumerate(zip(old, new, strict=False)):
        if one != other:
            return cells, place
        cells += one.cell_length
    return cells, min(len(old), len(new))


def _alike_cells(old: Segment, new: Segment, step: int) -> int:
    """Cells that two segments have in common from one end."""
    if old.style != new.style or not (_is_narrow(old.text) and _is_narrow(new.text)):
        return 0
    pairs = zip(old.text[::step], new.text[::step], strict=False)
    return next(
        (cells for cells, (one, other) in enumerate(pairs) if one != other),
        min(len(old.text), len(new.text)),
    )


def _unlike(old: Segment, old_at: int, new: Segment, new_at: int, cells: int) -> tuple[int, int]:
    """The first and last + 1 of some cells of two segments in which they may differ."""
    if old.style != new.style:
        return 0, cells
    if old_at == new_at and old.text == new.text:
        return 0, 0
    if not (_is_narrow(old.text) and _is_narrow(new.text)):
        return 0, cells
    one, other = old.text[old_at : old_at + cells], new.text[new_at : new_at + cells]
    if one == other:
        return 0, 0
    low, high = 0, cells
    while one[low] == other[low]:
        low += 1
    while one[high - 1] == other[high - 1]:
        high -= 1
    return low, high


def _is_narrow(text: str) -> bool:
    """Whether every character surely takes one cell."""
    return text.isascii() or _NARROW.fullmatch(text) is not None


def _written(
    places: Iterable[Place],
    note: Callable[[int, int, Strip], list[tuple[int, Strip]]],
    console: Console,
) -> str:
    parts: list[str] = []
    behind = (-1, -1)
    for x, y, strip in places:
        for at, part in note(x, y, strip):
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
