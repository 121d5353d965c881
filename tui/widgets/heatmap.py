"""The gap heatmap: rows are steps, streams or devices, cells are shaded by how idle they were."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from whichlayer.analysis.layers import Layer
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.messages import Looked, SpanOpened
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Piece, shortened, strip_of
from whichlayer.tui.widgets.panel import Panel

# The map waits for the analysis, the first timeline does not.
if TYPE_CHECKING:
    from whichlayer.tui import heat as heat_map
    from whichlayer.tui.heat import Heat, HeatRow
else:
    heat_map = Deferred("whichlayer.tui.heat")

#: Cells of the idle share at the end of a row.
_SHARE = 5

#: A longer label is cut.
_MOST_LABEL = 12

#: Idle share from which a cell carries its owner's letter in lower and in upper case: the
#: shade can be read without colours too.
_SOME, _MUCH = 0.1, 0.5

#: Shades that are told apart; more would cost runs and no eye would see them.
_SHADES = 4

#: Lines that it has where there is nothing to show.
_LEAST_LINES = 3


@dataclass(frozen=True, slots=True)
class HeatLook:
    """What rows of the map are; two are alike wherever its cursor is."""

    kind: int
    chosen: int = field(default=0, compare=False)
    top: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)

    @property
    def word(self) -> str:
        """What rows are."""
        return str(heat_map.ROWS[self.kind])


#: What the title says of steps, streams and devices, in full and then ever shorter. The share of
#: a stream is no idle time of its own: others may work while it has nothing to do.
TOLD = (
    (
        "length: time · letter: who was late · %: in gaps", "letter: who was late · %: in gaps",
        "who was late · gaps %", "gaps %",
    ),
    (
        "letter: who was late · %: gaps of the GPU while the stream ran nothing",
        "%: gaps of the GPU", "GPU gaps %", "GPU gap%",
    ),
    ("letter: who was late · %: in gaps", "who was late · gaps %", "gaps %"),
)  # fmt: skip
#: Cells of the rule at the ends of a title, and the blanks around what is told.
_TITLE_EDGES = 4


class Heatmap(Panel):
    """Steps (equal parts where there are none), the device's streams, or all devices."""

    HELP = (
        "Each row is a step, all on the scale of the longest; part 1 to part 12 are equal parts of "
        "the window, or of the selection, where it holds fewer than two steps. "
        "R shows a row for each stream of the device, or for each device, instead. "
        "The shade of a cell is the share of it spent in gaps, of a stream while it ran nothing "
        "itself; the letter is the owner of most of that, a capital from half of the cell on. "
        "Its cursor takes the timeline's along; enter shows the whole row there."
    )

    def __init__(self, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self.column = 0
        self._label_room = 1
        self._kind = 0
        self._fitted = 0
        self._heat: tuple[list[HeatRow], Heat] | None = None
        self._names = ""

    def document_changed(self) -> None:
        """Work the cells out anew."""
        self._heat = None

    def view_changed(self, old: View | None) -> None:
        """Work the cells out anew when device or selection change."""
        if old is None or self.view is None or (old.device, old.selection) != (
            self.view.device, self.view.selection
        ):  # fmt: skip
            self._heat = None
            self.refresh()

    def on_resize(self) -> None:
        """Other columns."""
        self._heat = None
        self._entitle()

    def share_place(self, tabs: tuple[str, ...]) -> None:
        """Name the panels of this place, and behind them what bars, letters and figures are."""
        if tabs != self.tabs:
            super().share_place(tabs)
            self._names = str(self.border_title)
            self._entitle()

    def _entitle(self) -> None:
        """Say in the title what is drawn, in as many words as there is room for."""
        taken = sum(len(name) + 2 for name in self.tabs)
        room = self.outer_size.width - taken - _TITLE_EDGES
        told = next((text for text in TOLD[self._kind] if len(text) <= room), "")
        title = f"{self._names}[dim] {told} [/]" if told else self._names
        if self.tabs and title != self.border_title:
            self.border_title = title

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As high as it has rows, where findings stand below it; room to say why it has none."""
        self._fitted = self.lines
        return max(self._fitted, _LEAST_LINES)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines; where there are other rows than when the height was found, it is anew."""
        if self.styles.is_auto_height and self.lines != self._fitted:
            self.call_later(self.refresh, layout=True)
        return super().render_lines(crop)

    def show_next_rows(self) -> str:
        """Let rows be something else; what they are then, in a word."""
        following = HeatLook((self._kind + 1) % len(heat_map.ROWS), column=self.column)
        self.look_as(following)
        return following.word

    @property
    def look(self) -> HeatLook:
        """What its rows are now."""
        return HeatLook(self._kind, self.chosen, self.top, self.column)

    def look_as(self, look: HeatLook) -> None:
        """Let rows be that, with the cursor where it was then."""
        self._kind, self._heat = look.kind, None
        self._entitle()
        self.chosen, self.top, self.column = look.chosen, look.top, look.column
        self.refresh()

    @property
    def lines(self) -> int:
        """One per row of the map."""
        heat = self._map()
        return 0 if heat is None else len(heat[0])

    @property
    def columns(self) -> int:
        """Cells of a row."""
        return max(self.size.width - self._label_room - _SHARE, 1)

    def move(self, columns: int, rows: int) -> None:
        """Move the panel's cursor both ways."""
        self.column = min(max(self.column + columns, 0), self.columns - 1)
        self.choose(self.chosen + rows)

    def choose(self, line: int) -> None:
        """Put the cursor on a row, and the timeline's on the largest gap of the cell."""
        super().choose(line)
        here = self._here()
        if here is not None and self.view is not None:
            row, time = here
            self.post_message(Looked(replace(self.view.at(time), device=row.device)))

    def follow(self) -> None:
        """Show the chosen row on the timeline, the cursor on the largest gap of the cell."""
        here = self._here()
        if here is not None:
            row, time = here
            self.post_message(SpanOpened(row.start_ns, row.end_ns, time, row.device))

    def _here(self) -> tuple[HeatRow, int] | None:
        """The chosen row, and the middle of the largest gap in the cell or of the cell."""
        heat = self._map()
        if heat is None or self.document is None or self.document.analysis is None:
            return None
        rows, cells = heat
        row = rows[self.chosen]
        gap = int(cells.largest[self.chosen, self.column])
        low, high = cells.edges[self.chosen, self.column : self.column + 2].tolist()
        if gap >= 0:
            gaps = self.document.analysis.gaps
            low, high = max(low, int(gaps.start_ns[gap])), min(high, int(gaps.end_ns[gap]))
        return row, (low + high) // 2

    def render_line(self, y: int) -> Strip:
        """One row: its label, its cells, its idle share."""
        palette, width = self.palette, self.size.width
        heat = self._map()
        if heat is None or self.top + y >= len(heat[0]):
            said = wrap(self._nothing(), max(width, 1)) if heat is None else []
            text = said[y] if y < len(said) else ""
            return strip_of([(text, palette.dim)], width, palette.text)
        index = self.top + y
        rows, cells = heat
        chosen = index == self.chosen and self.has_focus
        label = shortened(rows[index].label, self._label_room - 1) + " "
        pieces: list[Piece] = [(label, palette.accent if chosen else palette.dim)]
        pieces += self._cells(cells, index, chosen)
        pieces.append((f"{float(cells.share[index]):>{_SHARE}.0%}", palette.dim))
        return strip_of(pieces, width, palette.text)

    def on_click(self, event: events.Click) -> None:
        """Go to the cell."""
        heat = self._map()
        x, y = self.content_place(event)
        row = self.top + y
        if heat is None or y < 0 or row >= len(heat[0]):
            return
        self.column = min(max(x - self._label_room, 0), self.columns - 1)
        super().choose(row)
        self.follow()

    def _cells(self, cells: Heat, index: int, chosen: bool) -> list[Piece]:
        palette = self.palette
        pieces: list[Piece] = []
        for column in range(cells.idle.shape[1]):
            idle = float(cells.idle[index, column])
            layer = Layer(int(cells.layer[index, column]))
            letter = layer.text.letter
            if not cells.inside[index, column]:
                text, style = " ", palette.text
            elif idle < _SOME:
                text, style = "·", palette.faint
            else:
                text = letter.lower() if idle < _MUCH else letter
                shade = np.ceil(idle * _SHADES) / _SHADES
                style = palette.shade(layer, 0.2 + 0.8 * float(shade))
            if chosen and column == self.column:
                style = palette.chosen
            pieces.append((text, style))
        return pieces

    def _map(self) -> tuple[list[HeatRow], Heat] | None:
        if self._heat is None and self.document is not None and self.view is not None:
            document, device = self.document, self.view.device
            analysis = document.analysis
            if analysis is None or not document.owners:
                return None
            kind, selection = heat_map.ROWS[self._kind], self.view.selection
            rows = heat_map.heat_rows(analysis, kind, device, document.steps[device], selection)
            self._label_room = min(max(len(row.label) for row in rows), _MOST_LABEL) + 1
            heat = heat_map.heat_of(analysis, rows, self.columns, document.gaps)
            self._heat = (rows, heat)
            self.chosen = min(self.chosen, len(rows) - 1)
            self.column = min(self.column, self.columns - 1)
            self.top = min(self.top, max(len(rows) - self.body_height, 0))
        return self._heat

    def _nothing(self) -> str:
        analysis = None if self.document is None else self.document.analysis
        if analysis is None:
            return self.waiting
        return "no GPU activity: no gaps"
