"""The gap heatmap: rows of steps, streams, devices or ranks, shaded by how idle they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from whichlayer.analysis.layers import Layer
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.messages import Looked, RankOpened, SpanOpened
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Piece, shortened, strip_of
from whichlayer.tui.widgets.panel import Panel

# The map waits for the analysis, the first timeline does not.
if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis
    from whichlayer.tui import heat as heat_map
    from whichlayer.tui import rank_heat
    from whichlayer.tui.heat import Heat, HeatRow
    from whichlayer.tui.rank_heat import RankHeat, RankWindow
else:
    rank_heat = Deferred("whichlayer.tui.rank_heat")
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

#: Ranks from which they have rows.
_SEVERAL = 2

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


#: What the title says of steps, streams, devices and ranks, in full and then ever shorter. The share of
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
    ("each from its own start · letter: who was late · %: in gaps", "who was late · gaps %", "gaps %"),
)  # fmt: skip
#: Which rows are ranks: the last.
_RANKS = len(TOLD) - 1

#: Cells of the rule at the ends of a title, and the blanks around what is told.
_TITLE_EDGES = 4


class Heatmap(Panel):
    """Steps (equal parts where there are none), the device's streams, all devices, or all ranks.

    Attributes:
        ranks: tells the windows of all ranks, where there may be several recordings.
    """

    HELP = (
        "Each row is a step, all on the scale of the longest; part 1 to part 12 are equal parts of "
        "the window, or of the selection, where it holds fewer than two steps. "
        "R shows a row for each stream of the device, or for each device, instead; of a folder of "
        "ranks also a row for each rank: the newest window of each from its own start, for clocks "
        "of several hosts are not compared. "
        "The shade of a cell is the share of it spent in gaps, of a stream while it ran nothing "
        "itself; the letter is the owner of most of that, a capital from half of the cell on. "
        "Its cursor takes the timeline's along; enter shows the whole row there, and opens the "
        "rank whose row it is. ] and [ step from gap to gap, over those of less than 0.1 % of the "
        "window while a larger one lies ahead; } and { go by the time lost in a gap, what nobody "
        "owns left out."
    )

    ranks: Callable[[], Sequence[RankWindow]] | None = None

    def __init__(self, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self.column = 0
        self._label_room = 1
        self._kind = 0
        self._fitted = 0
        self._heat: tuple[list[HeatRow], Heat] | None = None
        self._names = ""
        self._ranks: RankHeat | None = None

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
        self._fitted = self._lines_needed
        return max(self._fitted, _LEAST_LINES)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines; where there are other rows than when the height was found, it is anew."""
        if self.styles.is_auto_height and self._lines_needed != self._fitted:
            self.call_later(self.refresh, layout=True)
        return super().render_lines(crop)

    def show_next_rows(self) -> str:
        """Let rows be something else; what they are then, in a word."""
        kind = (self._kind + 1) % len(heat_map.ROWS)
        if kind == _RANKS and len(self._windows) < _SEVERAL:
            kind = 0
        following = HeatLook(kind, column=self.column)
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
    def _lines_needed(self) -> int:
        lines = self.lines
        return lines + (0 if self._ranks is None else len(self._ranks.absent))

    @property
    def _windows(self) -> Sequence[RankWindow]:
        return () if self.ranks is None else self.ranks()

    def ranks_changed(self) -> None:
        """Work rows of ranks out anew, where another window is known or shown."""
        if self._shows_ranks:
            self._heat = None
            self.refresh()

    @property
    def _shows_ranks(self) -> bool:
        return self._kind == _RANKS

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
        if here is not None and self.view is not None and self._elsewhere(here[0]) is None:
            row, time = here
            self.post_message(Looked(replace(self.view.at(time), device=row.device)))

    def follow(self) -> None:
        """Show the chosen row on the timeline, the cursor on the largest gap of the cell."""
        here = self._here()
        if here is not None:
            row, time = here
            span, other = (
                SpanOpened(row.start_ns, row.end_ns, time, row.device),
                self._elsewhere(row),
            )
            self.post_message(span if other is None else RankOpened(other.shot_id, span))

    def _elsewhere(self, row: HeatRow) -> RankWindow | None:
        """The window of a row that is not of the one on the screen."""
        window = None if self._ranks is None else self._ranks.windows[row.analysis]
        return None if window is None or window.is_shown else window

    def _analysis_of(self, row: HeatRow) -> Analysis | None:
        window = None if self._ranks is None else self._ranks.windows[row.analysis]
        document = self.document if window is None else window.document
        return None if document is None else document.analysis

    def _here(self) -> tuple[HeatRow, int] | None:
        """The chosen row, and the middle of the largest gap in the cell or of the cell."""
        heat = self._map()
        if heat is None:
            return None
        rows, cells = heat
        row = rows[self.chosen]
        analysis = self._analysis_of(row)
        if analysis is None:
            return None
        gap = int(cells.largest[self.chosen, self.column])
        low, high = cells.edges[self.chosen, self.column : self.column + 2].tolist()
        if gap >= 0:
            gaps = analysis.gaps
            low, high = max(low, int(gaps.start_ns[gap])), min(high, int(gaps.end_ns[gap]))
        return row, (low + high) // 2

    def render_line(self, y: int) -> Strip:
        """One row: its label, its cells, its idle share."""
        palette, width = self.palette, self.size.width
        heat = self._map()
        if heat is None or self.top + y >= len(heat[0]):
            said = wrap(self._nothing(), max(width, 1)) if heat is None else []
            if self._ranks is not None and heat is not None:
                said = list(self._ranks.absent)
                y += self.top - len(heat[0])
            text = shortened(said[y], width) if y < len(said) else ""
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
            self._ranks = None
            if self._shows_ranks:
                found = self._rank_rows()
                if found is None:
                    return None
                rows, heat = found.rows, found.heat
            else:
                rows = heat_map.heat_rows(analysis, kind, device, document.steps[device], selection)
                self._label_room = min(max(len(row.label) for row in rows), _MOST_LABEL) + 1
                heat = heat_map.heat_of(analysis, rows, self.columns, document.gaps)
            self._heat = (rows, heat)
            self.chosen = min(self.chosen, len(rows) - 1)
            self.column = min(self.column, self.columns - 1)
            self.top = min(self.top, max(len(rows) - self.body_height, 0))
        return self._heat

    def _rank_rows(self) -> RankHeat | None:
        """Rows of all ranks that are known."""
        windows = self._windows
        if len(windows) < _SEVERAL:
            return None
        room = max(len(window.source) for window in windows) + len(" GPU0")
        self._label_room = min(room, _MOST_LABEL) + 1
        self._ranks = rank_heat.rank_heat(windows, self.columns)
        return self._ranks

    def _nothing(self) -> str:
        if self._shows_ranks and self.document is not None:
            return "one recording is open: a folder of ranks has a row for each (R: other rows)"
        analysis = None if self.document is None else self.document.analysis
        if analysis is None:
            return self.waiting
        return "no GPU activity: no gaps"
