"""Writes to the terminal what differs from what it shows already.

Textual paints a widget anew whenever anything about it may have changed, and all of the screen
after every change of its layout: half of what it writes while a trace opens is there already. On
a slow line every such byte is waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.control import Control
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

    def note(self, x: int, y: int, strip: Strip) -> bool:
        """Note that a strip is written at a place; False where that would change nothing."""
        line = self._lines.setdefault(y, {})
        end = x + strip.cell_length
        known = line.get(x)
        if known is not None and known == strip:
            return False
        for other in [at for at, old in line.items() if at < end and x < at + old.cell_length]:
            del line[other]
        line[x] = strip
        return True


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


def _written(
    places: Iterable[Place], note: Callable[[int, int, Strip], bool], console: Console
) -> str:
    parts: list[str] = []
    behind = (-1, -1)
    for x, y, strip in places:
        if not note(x, y, strip):
            continue
        if (x, y) != behind:
            parts.append(Control.move_to(x, y).segment.text)
        parts.append(strip.render(console))
        behind = (x + strip.cell_length, y)
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
