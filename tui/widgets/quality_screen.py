"""The quality sheet: everything that reading and the gates warned of, in full."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import getdoc

from rich.console import Group
from rich.padding import Padding
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widgets import Static

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality import severity_of
from whichlayer.analysis.quality.catalogue import gate_modules
from whichlayer.analysis.report.units import count_text
from whichlayer.analysis.text import clean
from whichlayer.tui.palette import Palette
from whichlayer.tui.widgets.over_screen import ScrolledSheet

_WORDS = {
    Severity.NO_VERDICT: "no verdict",
    Severity.DOUBT: "less sure",
    Severity.NOTE: "to know",
}

#: Where nothing is odd.
_NOTHING = "Nothing is missing or odd that the reader or a gate knows of.\n"


class QualityScreen(ScrolledSheet):
    """How far the recording can be trusted."""

    OWN = "quality"
    FRAME = "quality"

    def __init__(self, palette: Palette, warnings: Sequence[TraceWarning]) -> None:
        """Take the colours, and what is to be told, the most severe first."""
        super().__init__()
        self._sheet = quality_text(palette, warnings)
        self._count = len(warnings)

    @property
    def text(self) -> str:
        """What the sheet says."""
        return "\n".join(paragraph.plain for paragraph in self._sheet)

    def entitle(self, frame: VerticalScroll) -> None:
        """Title with the number of notes, and what closes and scrolls it."""
        frame.border_title = f"quality of the recording · {count_text(self._count, 'note')}"
        frame.border_subtitle = "esc closes · ↑ ↓ space b scroll"

    def content(self) -> Static:
        """The text, what is said under a heading standing in."""
        return Static(Group(*(Padding(one, (0, 0, 0, _indent(one))) for one in self._sheet)))


def quality_text(palette: Palette, warnings: Sequence[TraceWarning]) -> list[Text]:
    """The sheet: each warning with what it is about, how often, where and what it means."""
    gates = {module.GATE.id: module for module in gate_modules()}
    if not warnings:
        return [Text(_NOTHING, palette.dim)]
    paragraphs: list[Text] = []
    for warning in warnings:
        severity, module = severity_of(warning), gates.get(warning.code)
        style = palette.strong if severity == Severity.NOTE else palette.accent
        head = Text(f"{'-' if severity == Severity.NOTE else '!'} {clean(warning.code)}", style)
        head.append(f" {module.GATE.title}" if module else "", palette.strong)
        head.append(f"  ({_WORDS[severity]})", palette.dim)
        facts = [count_text(warning.count, "event")] if warning.count > 1 else []
        facts += [f"byte {warning.byte_offset}"] if warning.byte_offset >= 0 else []
        paragraphs += [head, Text(f"{clean(warning.message)}", palette.text)]
        paragraphs += [Text(", ".join(facts), palette.dim)] if facts else []
        if module is not None:
            paragraphs.append(Text(_meaning(getdoc(module) or ""), palette.dim))
        paragraphs.append(Text())
    return paragraphs


def _meaning(explained: str) -> str:
    """What a gate says of itself, in one paragraph."""
    return clean(" ".join(explained.replace("`", "").split()))


def _indent(paragraph: Text) -> int:
    """Headings stand out to the left of what is said under them."""
    return 0 if paragraph.plain.startswith(("- ", "! ")) else 2
