"""The strip of windows: a cell each, the newest at the right, with what changed under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Final

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.shots import Shot
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of

#: Cells that a window takes, the one before it included.
_PER_WINDOW: Final = 3

#: Cells for the figures at the right.
_FIGURES: Final = 24
_LEAST_WINDOWS: Final = 6

_HEIGHTS: Final = "▁▂▃▄▅▆▇█"

#: A usual value stands at two thirds of the height: a longer one can be told from it, and values
#: that are all alike are no solid block.
_HEADROOM: Final = 1.5


class ShotPicked(Message):
    """The user chose a window by its cell."""

    def __init__(self, shot_id: int) -> None:
        """Take its number."""
        super().__init__()
        self.shot_id = shot_id


class WindowStrip(Pane):
    """Verdict and owner of each window; below, how long a step takes and how busy the GPU is."""

    HELP = (
        "The windows so far, the newest at the right. ▲ lost above CUDA, ▼ in kernels, ◆ both, "
        "✓ healthy, ? unclear; the letter and colour are the layer that loses the most. Below: "
        "length of a step and busy share of the GPU, window by window. A click shows a window."
    )

    def __init__(self, model: LiveModel, *, id: str | None = None) -> None:
        """Take what is known; whoever changes it refreshes the strip."""
        super().__init__(id=id)
        self.model = model
        self.busy_with: int | None = None

    def view_changed(self, old: View | None) -> None:
        """Nothing here depends on the view."""

    def render_line(self, y: int) -> Strip:
        """Cells, then step times, then busy shares."""
        shots = self._shots()
        label = ("windows", "step", "busy")[min(y, 2)]
        pieces: list[Piece] = [self.labelled(label)]
        if y == 0:
            pieces += self._cells(shots)
        elif y == 1:
            pieces += self._levels(shots, self._step, from_zero=False)
        else:
            pieces += self._levels(shots, self._busy, from_zero=True)
        used = sum(cell_len(text) for text, _ in pieces)
        room = max(self.size.width - used, 0)
        pieces.append((" " * max(room - _FIGURES, 0), self.palette.text))
        pieces.append((shortened(self._figure(y), min(room, _FIGURES)), self._figure_style(y)))
        return strip_of(pieces, self.size.width, self.palette.text)

    def on_click(self, event: events.Click) -> None:
        """Choose the window under the mouse."""
        shots = self._shots()
        place = (event.x - self.label_cells) // _PER_WINDOW
        if 0 <= place < len(shots) and event.x >= self.label_cells:
            self.post_message(ShotPicked(shots[place].id))

    @property
    def _room(self) -> int:
        """How many windows fit."""
        cells = self.size.width - self.label_cells
        return max((cells - _FIGURES) // _PER_WINDOW, min(_LEAST_WINDOWS, cells // _PER_WINDOW), 1)

    def _shots(self) -> list[Shot]:
        """Those in sight: the newest, or so that the chosen one is among them."""
        line, room = self.model.line, self._room
        places = [index for index, shot in enumerate(line) if shot.id == self.model.chosen]
        first = max(len(line) - room, 0)
        if places and places[0] < first:
            first = places[0]
        return line[first : first + room]

    def _cells(self, shots: Sequence[Shot]) -> list[Piece]:
        pieces: list[Piece] = []
        for shot in shots:
            text, style = self._cell(shot)
            chosen = shot.id == self.model.chosen
            lead = "▸" if chosen else " "
            pieces.append((lead, self.palette.accent if chosen else self.palette.text))
            pieces.append((text, style))
        return pieces

    def _cell(self, shot: Shot) -> Piece:
        model, palette = self.model, self.palette
        judged = model.judged.get(shot.id)
        if judged is None:
            if shot.id in model.failed:
                return "! ", palette.style(palette.colours.warning, bold=True)
            return ("… " if shot.id == self.busy_with else "· "), palette.dim
        letter = "·" if judged.owner is Layer.NONE else judged.owner.text.letter
        if shot.id in model.gone:
            return f"{judged.mark}{letter}", palette.faint
        if judged.owner is Layer.NONE:
            return f"{judged.mark}{letter}", palette.dim
        return f"{judged.mark}{letter}", palette.layer(judged.owner, strong=True)

    def _levels(
        self, shots: Sequence[Shot], value: Callable[[Shot], float | None], *, from_zero: bool
    ) -> list[Piece]:
        known = [one for one in map(value, shots) if one is not None]
        low = 0.0
        high = 1.0 if from_zero else max(known, default=1.0)
        pieces: list[Piece] = []
        for shot in shots:
            level = value(shot)
            style: Style = self.palette.style(
                self.palette.colours.accent
                if shot.id == self.model.chosen
                else self.palette.colours.dim
            )
            bar = "  " if level is None else height(level, low, high) * 2
            pieces.append((f" {bar}", style))
        return pieces

    def _step(self, shot: Shot) -> float | None:
        judged = self.model.judged.get(shot.id)
        return None if judged is None or judged.step_ns is None else float(judged.step_ns)

    def _busy(self, shot: Shot) -> float | None:
        judged = self.model.judged.get(shot.id)
        return None if judged is None else judged.busy_share

    def _figure(self, y: int) -> str:
        """What the chosen window has of this line."""
        model = self.model
        shot = None if model.chosen is None else model.shots.get(model.chosen)
        judged = None if shot is None else model.judged.get(shot.id)
        if y == 0:
            line = model.line
            place = next((i for i, one in enumerate(line, 1) if one.id == model.chosen), None)
            others = model.parties_text
            count = f"{place or '–'} of {len(line)}" if line else "none yet"
            return f" {count}" + (f" · {others}" if others else "")
        if y == 1:
            step = None if judged is None else judged.step_ns
            return f" {time_text(step)} a step"
        return f" {share_text(None if judged is None else judged.busy_share)} busy"

    def _figure_style(self, y: int) -> Style:
        return self.palette.dim if y == 0 else self.palette.text


def height(value: float, low: float, high: float) -> str:
    """A bar of one cell for a value between two others."""
    share = (value - low) / (high - low) if high > low else 1.0
    level = round(min(max(share, 0.0), 1.0) * (len(_HEIGHTS) - 1))
    return _HEIGHTS[level]


def sparkline(values: Sequence[float], cells: int) -> str:
    """The last values, each a bar of one cell, the usual one at two thirds of the height."""
    shown = list(values)[-cells:] if cells > 0 else []
    high = max(max(shown), _HEADROOM * median(shown)) if shown else 0.0
    return "".join(height(value, 0.0, high) if high > 0 else _HEIGHTS[0] for value in shown)
