"""The first line: what is looked at, and how far loading is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.strip import Strip

from whichlayer.analysis.errors import Severity
from whichlayer.analysis.report.units import count_text, time_text
from whichlayer.analysis.text import clean, gpu_text, source_text
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.messages import QualityAsked
from whichlayer.tui.slots import ColourBy
from whichlayer.tui.widgets.load_line import short_state
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of

if TYPE_CHECKING:
    from whichlayer.analysis import quality
    from whichlayer.analysis.errors import TraceWarning
    from whichlayer.tui import document as documents
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
else:
    documents = Deferred("whichlayer.tui.document")
    quality = Deferred("whichlayer.analysis.quality")

#: Width from which the header says what its notes are about.
_ROOMY = 110


class Header(Pane):
    """Program, file, GPU, rank, window and how far loading is."""

    HELP = (
        "The file, its GPU and rank, the analysed window and its length, notes on the recording "
        "(a click or ! tells how far it can be trusted), and how far reading and analysis are."
    )

    def __init__(self, path: str, *, id: str | None = None) -> None:
        """Name the file at once; the rest follows when it is loaded."""
        super().__init__(id=id)
        self._path = path
        self._title = ""
        self._state = short_state(Loading())
        self._waits = False
        self._coloured_by = ColourBy.FAMILY

    def rename(self, title: str, state: str) -> None:
        """Something else is shown now, and this is what the end of the line says."""
        if (title, state) != (self._title, self._state):
            self._title, self._state = title, state
            self.refresh()

    def report(self, loading: Loading) -> None:
        """Say in a word how far loading is."""
        state = short_state(loading)
        if state != self._state:
            self._state = state
            self.refresh()

    def view_changed(self, old: View | None) -> None:
        """Only the device, the selection and what is hidden matter here."""
        if old is None or self.view is None or (old.device, old.selection, old.order.hidden) != (
            self.view.device, self.view.selection, self.view.order.hidden
        ):  # fmt: skip
            self.refresh()

    def wait_for_span(self, waits: bool) -> None:
        """Say whether the selected span is still being analysed."""
        if waits != self._waits:
            self._waits = waits
            self.refresh()

    def tell_colours(self, by: ColourBy) -> None:
        """Say what the colours of bars tell, where that is not their family."""
        self._coloured_by = by
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line."""
        colours = self.palette.colours
        bar = self.palette.style(colours.text, colours.surface)
        quiet = self.palette.style(colours.dim, colours.surface)
        name = self.palette.style(colours.canvas, colours.accent, bold=True)
        right = short_state(Loading(Stage.ANALYSING)) if self._waits else self._state
        notes = self._notes()
        room = self.size.width - cell_len(right) - cell_len(notes) - 13
        facts = [self._file(), *self._narrowed(), *self._facts()]
        text, rest = f" {facts[0]}", "".join(f" · {fact}" for fact in facts[1:])
        first = shortened(text, min(cell_len(text), max(room, 0)))
        second = shortened(rest, max(room - cell_len(first), 0))
        pieces: list[Piece] = [(" whichlayer ", name), (first, bar), (second, quiet)]
        pieces += [(notes, self._notes_style(bar)), (" " + right, bar)]
        return strip_of(pieces, self.size.width, bar)

    def _narrowed(self) -> list[str]:
        """What is shown and spoken of, where that is not all of the trace."""
        span = None if self.view is None else self.view.selection
        parts: list[str] = []
        if span is not None:
            start = time_text(span[0]) if span[0] else "0"
            parts.append(f"span {time_text(span[1] - span[0])} from {start}")
        hidden = 0 if self.view is None else len(self.view.order.hidden)
        if hidden:  # that nobody takes them for empty
            parts.append(f"{count_text(hidden, 'lane')} hidden (D shows)")
        if self._coloured_by is not ColourBy.FAMILY:
            parts.append(f"coloured by {self._coloured_by.value}")
        chosen = None if self.document is None else self.document.filter
        return parts if chosen is None else [*parts, f"only {clean(chosen.text)}"]

    def _file(self) -> str:
        """The name of the file, or of what stands for one."""
        if self._title:
            return self._title
        name = os.path.basename(self._path.rstrip("/"))
        return clean(name) if name and name != self._path else source_text(self._path)

    def _facts(self) -> list[str]:
        if self.document is None:
            return []
        facts = device_facts(self.document, self.view.device if self.view else 0)
        facts += rank_facts(self.document)
        analysis = self.document.analysis
        if analysis is None:
            # While a file is read, the line below counts more of them than are drawn here.
            known = self.document.extent is not documents.Extent.READING
            return [*facts, *[count_text(self.document.trace.events, "event")] * known]
        window = analysis.window
        if steps := window.steps or self.document.host_steps:
            inferred = "inferred " if self.document.infers_steps else ""
            first, last = steps[0].number, steps[-1].number
            named = f"step {first}" if first == last else f"steps {first}–{last}"
            facts.append(inferred + named)
        facts.append(time_text(window.end_ns - window.start_ns))
        if self.document.trace.part is not None:
            facts.append(f"read in part, of {time_text(self.document.trace.duration_ns)}")
        return facts

    def _notes(self) -> str:
        """How many things are odd about the recording, and the key that tells them."""
        count = len(self._warnings)
        if not count:
            return ""
        return (
            f" ! {count_text(count, 'note')} "
            if self.size.width < _ROOMY
            else (f" ! {count_text(count, 'note')} on the recording ")
        )

    @property
    def _warnings(self) -> tuple[TraceWarning, ...]:
        return () if self.document is None else documents.warnings_of(self.document)

    def _notes_style(self, bar: Style) -> Style:
        """Seen from afar where they take from the verdict."""
        colours = self.palette.colours
        warnings = self._warnings
        if warnings and quality.severity_of(warnings[0]) > Severity.NOTE:
            return self.palette.style(colours.canvas, colours.warning, bold=True)
        return self.palette.style(colours.warning, colours.surface, bold=True) if warnings else bar

    def on_click(self, event: events.Click) -> None:
        """A click on the notes tells them."""
        notes = cell_len(self._notes())
        right = self.size.width - cell_len(self._state) - 1
        if right - notes <= event.x < right:
            self.post_message(QualityAsked())


def device_facts(document: Document, device: int) -> list[str]:
    """The GPU's name, with how many there are."""
    analysis = document.analysis
    if analysis is None or not analysis.devices:
        return []
    chosen = analysis.devices[min(device, len(analysis.devices) - 1)]
    name, count = clean(chosen.name or chosen.model or ""), len(analysis.devices)
    if count == 1:
        return [name or gpu_text(chosen.number)]
    return [f"{count}× {name}" if name else f"{count} GPUs"]


def rank_facts(document: Document) -> list[str]:
    """The rank, where the file tells it."""
    info = document.trace.header.get("distributedInfo")
    if not isinstance(info, dict):
        return []
    rank, size = info.get("rank"), info.get("world_size")
    if not isinstance(rank, int):
        return []
    return [f"rank {rank}/{size}" if isinstance(size, int) else f"rank {rank}"]
