"""The time ruler: round times, the selection, and the cursor.

The cursor lives here and in its own row of the timeline only: a line down the whole screen
would cost a repaint of everything for every step of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.geometry import Region
from textual.strip import Strip

from whichlayer.analysis.report.units import time_text
from whichlayer.analysis.text import clean
from whichlayer.tui.go_to import wall_clock_ns
from whichlayer.tui.ruler import Axis, axis_of, clock_axis
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Piece, shortened, strip_of
from whichlayer.tui.widgets.time_pane import TimePane

if TYPE_CHECKING:
    from whichlayer.tui.notes_file import Bookmark

#: Cells of a bookmark's name, at most; of a narrow axis no more than this part, so that ticks
#: keep their labels.
_MOST_NAME, _NAME_PART = 20, 5

#: No label of the cursor is longer, the blank after it included.
_MOST_LABEL = 28

#: Nanoseconds of the last decimal, from none of a millisecond to all six.
_PRECISIONS = tuple(10**digits for digits in range(6, -1, -1))


class Ruler(TimePane):
    """One line of time."""

    HELP = "Time since the recording began. ▼ is the cursor, ◆ a bookmark; a selection shows its length."

    def __init__(self, *, id: str | None = None) -> None:
        """Start without marks."""
        super().__init__(id=id)
        self._axis: tuple[object, Axis] | None = None
        self._bookmarks: Sequence[Bookmark] = ()

    def mark_places(self, bookmarks: Sequence[Bookmark]) -> None:
        """Take the bookmarks, in order of time."""
        if list(bookmarks) != list(self._bookmarks):
            self._bookmarks = tuple(bookmarks)
            self.refresh()

    def instant_under(self, x: int) -> int:
        """The bookmark in a column, else the column's middle: what one aims at is hit exactly."""
        cell = x - self.label_cells
        for at, time, _ in self._places():
            if at == cell:
                return time
        return super().instant_under(x)

    def view_changed(self, old: View | None) -> None:
        """Everything here moves with the view; the cursor only over its own cells."""
        view = self.view
        if view is None or old is None or _drawn_by(old) != _drawn_by(view):
            self.refresh()
        elif old.cursor_ns != view.cursor_ns:
            last = max(view.port.cell_of(time) for time in (old.cursor_ns, view.cursor_ns))
            cells = self.label_cells + max(last, 0) + _MOST_LABEL
            self.refresh(Region(0, 0, min(cells, self.size.width), 1))

    def render_line(self, y: int) -> Strip:
        """One line."""
        palette, width = self.palette, self.size.width
        if self.view is None:
            return strip_of([self.labelled("time")], width, palette.text)
        port = self.view.port
        zero = self._zero_ns
        if self._axis is None or self._axis[0] != (port, zero):
            self._axis = ((port, zero), axis_of(port) if zero is None else clock_axis(port, zero))
        axis = self._axis[1]
        selection, cursor = self._selection(self.view), self._cursor(self.view, axis)
        notes = [*self._bookmarked([*selection, *cursor]), *selection, *cursor]
        line = Written(port.cells)
        for cell, text in axis.marks:
            covered = cell + len(text) + 1 > port.cells or any(
                cell < note + len(words) + 1 and note < cell + len(text) + 2
                for note, words, _ in notes
            )
            line.write(cell, "│" if covered else f"│{text}", 0)
        for cell, words, code in notes:
            line.write(cell, words, code)
        styles = (palette.faint, palette.strong, palette.accent)
        pieces: list[Piece] = [self.labelled(self._base(axis))]
        pieces += [(text, styles[code]) for text, code in line.runs()]
        return strip_of(pieces, width, palette.text)

    def _bookmarked(self, above: list[tuple[int, str, int]]) -> list[tuple[int, str, int]]:
        """(cell, text, style) of the bookmarks, with as much name as leaves room for others."""
        found = []
        cells = 0 if self.view is None else self.view.port.cells
        for cell, _, name in self._places():
            room = min(cells - cell - 1, max(cells // _NAME_PART, 4))
            for at, words, _ in above:
                if at > cell:
                    room = min(room, at - cell - 2)
                elif at + len(words) > cell:
                    room = 0
            name = shortened(name, room).rstrip() if len(name) > room > 2 else name
            found.append((cell, f"◆{name}" if len(name) <= room else "◆", 2))
        return found

    def _places(self) -> list[tuple[int, int, str]]:
        """(cell, instant, name) of the bookmarks in sight; names end before the next one."""
        if self.view is None or self.document is None or not self._bookmarks:
            return []
        port, origin = self.view.port, self.document.trace.origin_ns
        found: list[tuple[int, int, str]] = []
        for mark in self._bookmarks:
            cell = port.cell_of(mark.clock_ns - origin)
            if 0 <= cell < port.cells:
                name = clean(mark.name)
                # A character of two cells could lose one of them to what is written over it.
                plain = name if cell_len(name) == len(name) else ""
                found.append((cell, mark.clock_ns - origin, plain))
        if not found:
            return []
        rooms = [after[0] - here[0] - 1 for here, after in pairwise(found)] + [_MOST_NAME]
        return [
            (cell, time, shortened(name, min(room, _MOST_NAME)).rstrip() if room > 2 else "")
            for (cell, time, name), room in zip(found, rooms, strict=True)
        ]

    @property
    def _zero_ns(self) -> int | None:
        """The wall clock at time 0, where times are told by it."""
        if self.view is None or not self.view.clock or self.document is None:
            return None
        return wall_clock_ns(self.document.trace)

    def _base(self, axis: Axis) -> str:
        """What the labels count from, if it fits: part of a number would be a wrong one."""
        if axis.zero_ns is not None:
            return "UTC"
        if not axis.base_ns:
            return "time"
        precision = next(p for p in _PRECISIONS if axis.base_ns % p == 0)
        text = f"{axis.instant(axis.base_ns, precision)} +"
        return text if len(text) <= self.label_cells - 2 else "time +"

    @staticmethod
    def _selection(view: View) -> list[tuple[int, str, int]]:
        """(cell, text, style) of the selection's extent, with its length where that fits."""
        if view.marked is None:
            return []
        first = max(view.port.cell_of(view.marked[0]), 0)
        cells = min(view.port.cell_of(view.marked[1] - 1) + 1, view.port.cells) - first
        length = time_text(view.marked[1] - view.marked[0])
        if cells > len(length) + 2:
            room, cursor = cells - 2, view.port.cell_of(view.cursor_ns) - first - 1
            at = (room - len(length)) // 2
            if at - 1 <= cursor <= at + len(length):
                # The cursor would hide a digit, and make it another length.
                right = cursor + 2
                at = right if right + len(length) <= room else cursor - 1 - len(length)
                if at < 0:
                    return [(first, f"├{'─' * room}┤", 1)]
            return [(first, f"├{'─' * at}{length}".ljust(room + 1, "─") + "┤", 1)]
        return [(first, "━" * cells, 1)] if cells > 0 else []

    @staticmethod
    def _cursor(view: View, axis: Axis) -> list[tuple[int, str, int]]:
        """(cell, text, style) of the cursor, with its time where that hides no length."""
        port, cell = view.port, view.port.cell_of(view.cursor_ns)
        if not 0 <= cell < port.cells:
            return []
        if view.marked is not None and view.marked[0] <= view.cursor_ns <= view.marked[1]:
            return [(cell, "▼", 2)]
        text = axis.instant(view.cursor_ns, max(port.span_ns // port.cells // 2, 1))
        if cell + len(text) < port.cells:
            return [(cell, f"▼{text}", 2)]
        return [(cell - len(text), f"{text}▼", 2)]


def _drawn_by(view: View) -> tuple[object, ...]:
    """What all of the line depends on."""
    return view.port, view.marked, view.clock


class Written:
    """A line onto which later texts are written over earlier ones."""

    def __init__(self, cells: int) -> None:
        """Start blank."""
        self._chars = [" "] * cells
        self._codes = [0] * cells

    def write(self, cell: int, text: str, code: int) -> None:
        """Write text, cutting what sticks out."""
        for place, char in enumerate(text, start=cell):
            if 0 <= place < len(self._chars):
                self._chars[place], self._codes[place] = char, code

    def runs(self) -> list[tuple[str, int]]:
        """Stretches of one code."""
        runs: list[tuple[str, int]] = []
        for char, code in zip(self._chars, self._codes, strict=True):
            if runs and (runs[-1][1] == code or char == " "):
                runs[-1] = (runs[-1][0] + char, runs[-1][1])
            else:
                runs.append((char, code))
        return runs
