"""The first two lines: what is looked at, and the verdict on it."""

from __future__ import annotations

import os

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.strip import Strip

from whichlayer.analysis.errors import Severity
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.quality import severity_of
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis, Budget
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.tui.document import Document, warnings_of
from whichlayer.tui.messages import QualityAsked
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of

#: Tags of the verdict, as people read them.
_SIDES = {
    "above-cuda": "ABOVE CUDA",
    "below-pytorch": "BELOW PYTORCH",
    "both": "BOTH SIDES",
    "unclear": "UNCLEAR",
    "healthy": "HEALTHY",
}


#: Width from which the header says what its notes are about.
_ROOMY = 110


class Header(Pane):
    """Program, file, GPU, rank, window and how far loading is."""

    def __init__(self, path: str, *, id: str | None = None) -> None:
        """Name the file at once; the rest follows when it is loaded."""
        super().__init__(id=id)
        self._path = path
        self._state = "opening"
        self._done: float | None = None

    def report(self, state: str, done: float | None = None) -> None:
        """Say what is being done, and the share done where it is known."""
        if (state, done) != (self._state, self._done):
            self._state, self._done = state, done
            self.refresh()

    def view_changed(self, old: View | None) -> None:
        """Only the device matters here."""
        if old is None or self.view is None or old.device != self.view.device:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        colours = self.palette.colours
        bar = self.palette.style(colours.text, colours.surface)
        quiet = self.palette.style(colours.dim, colours.surface)
        name = self.palette.style(colours.canvas, colours.accent, bold=True)
        right, notes = self._loading(), self._notes()
        room = self.size.width - cell_len(right) - cell_len(notes) - 13
        facts = [clean(os.path.basename(self._path.rstrip("/")) or self._path), *self._facts()]
        text, rest = f" {facts[0]}", "".join(f" · {fact}" for fact in facts[1:])
        first = shortened(text, min(cell_len(text), max(room, 0)))
        second = shortened(rest, max(room - cell_len(first), 0))
        pieces: list[Piece] = [(" whichlayer ", name), (first, bar), (second, quiet)]
        pieces += [(notes, self._notes_style(bar)), (" " + right, bar)]
        return strip_of(pieces, self.size.width, bar)

    def _loading(self) -> str:
        if not self._state:
            return "● ready "
        if self._done is None:
            return f"○ {self._state} … "
        full = round(self._done * 10)
        return f"{self._state} {'█' * full}{'░' * (10 - full)} {self._done:4.0%} "

    def _facts(self) -> list[str]:
        if self.document is None:
            return []
        facts = device_facts(self.document, self.view.device if self.view else 0)
        facts += rank_facts(self.document)
        analysis = self.document.analysis
        if analysis is None:
            return [*facts, count_text(self.document.trace.events, "event")]
        window = analysis.window
        if window.steps:
            first, last = window.steps[0].number, window.steps[-1].number
            facts.append(f"step {first}" if first == last else f"steps {first}–{last}")
        facts.append(time_text(window.end_ns - window.start_ns))
        return facts

    def _notes(self) -> str:
        """How many things are odd about the recording, and the key that tells them."""
        count = len(warnings_of(self.document))
        if not count:
            return ""
        return (
            f" ! {count_text(count, 'note')} "
            if self.size.width < _ROOMY
            else (f" ! {count_text(count, 'note')} on the recording ")
        )

    def _notes_style(self, bar: Style) -> Style:
        """Seen from afar where they take from the verdict."""
        colours = self.palette.colours
        warnings = warnings_of(self.document)
        if warnings and severity_of(warnings[0]) > Severity.NOTE:
            return self.palette.style(colours.canvas, colours.warning, bold=True)
        return self.palette.style(colours.warning, colours.surface, bold=True) if warnings else bar

    def on_click(self, event: events.Click) -> None:
        """A click on the notes tells them."""
        notes = cell_len(self._notes())
        right = self.size.width - cell_len(self._loading()) - 1
        if right - notes <= event.x < right:
            self.post_message(QualityAsked())


def device_facts(document: Document, device: int) -> list[str]:
    """The GPU's name, with how many there are."""
    analysis = document.analysis
    if analysis is None or not analysis.devices:
        return []
    chosen = analysis.devices[min(device, len(analysis.devices) - 1)]
    name = clean(chosen.name or chosen.model or gpu_text(chosen.number))
    return [f"{len(analysis.devices)}× {name}" if len(analysis.devices) > 1 else name]


def rank_facts(document: Document) -> list[str]:
    """The rank, where the file tells it."""
    info = document.trace.header.get("distributedInfo")
    if not isinstance(info, dict):
        return []
    rank, size = info.get("rank"), info.get("world_size")
    if not isinstance(rank, int):
        return []
    return [f"rank {rank}/{size}" if isinstance(size, int) else f"rank {rank}"]


class VerdictLine(Pane):
    """The verdict, and what each layer takes of the window."""

    def view_changed(self, old: View | None) -> None:
        """The verdict is of the window, whatever is looked at."""

    def render_line(self, y: int) -> Strip:
        """One line."""
        palette, width = self.palette, self.size.width
        analysis = None if self.document is None else self.document.analysis
        if analysis is None:
            return strip_of([(" the verdict follows", palette.dim)], width, palette.text)
        colours = palette.colours
        side = analysis.verdict.side
        ground = {"healthy": colours.layers[Layer.BOUNDARY], "unclear": colours.dim}
        tag = palette.style(colours.canvas, ground.get(side, colours.warning), bold=True)
        pieces: list[Piece] = [(f" {side_text(analysis)} ", tag)]
        text = f" {clean(analysis.verdict.text).partition(': ')[2] or analysis.verdict.text} "
        pieces.append((text, palette.text))
        used = sum(cell_len(piece) for piece, _ in pieces)
        pieces += self._shares(analysis.budget, width - used)
        return strip_of(pieces, width, palette.text)

    def _shares(self, budget: Budget, room: int) -> list[Piece]:
        """Letter and share of every layer that loses time, the greatest first, as they fit."""
        if budget.total_ns <= 0:
            return []
        parts = [(budget.lost_to(layer), layer) for layer in Layer if layer != Layer.NONE]
        pieces: list[Piece] = []
        for part, layer in sorted(parts, key=lambda item: -item[0]):
            if part * 1000 < budget.total_ns:
                continue
            share = f" {share_text(part, budget.total_ns)}  "
            room -= cell_len(share) + 3
            if room < 0:
                break
            pieces.append((f" {layer.text.letter} ", self.palette.layer(layer, strong=True)))
            pieces.append((share, self.palette.text))
        return pieces


def side_text(analysis: Analysis) -> str:
    """The verdict's side in the words of the GPU's vendor."""
    vendor = analysis.devices[0].vendor if analysis.devices else ""
    text = _SIDES.get(analysis.verdict.side, analysis.verdict.side.upper())
    if analysis.verdict.caveat:
        text += "?"
    return text.replace("CUDA", {"amd": "HIP", "intel": "XPU"}.get(vendor, "CUDA"))
