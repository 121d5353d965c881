"""What can be copied of the thing at hand: fix, place, snippet, command, the whole finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whichlayer.analysis.report.advice import RECORDING_SNIPPET
from whichlayer.analysis.text import clean
from whichlayer.tui.at_hand import AtHand
from whichlayer.tui.widgets.list_sheet import Listed

#: Many terminals refuse more than 74 994 bytes of base64 in one OSC 52.
MOST_BYTES = 48_000


@dataclass(frozen=True, slots=True)
class Copied:
    """One thing that can be copied: what it is, and the text."""

    name: str
    text: str


def things(this: AtHand) -> list[Copied]:
    """Everything that there is to copy of something, the most wanted first."""
    found = [Copied("fix", clean(this.fix))] if this.fix else []
    if place := str(this.where):
        found.append(Copied("place", clean(place)))
    if this.counters:
        found.append(Copied("command that reads its counters", clean(this.counters)))
    if this.finding is not None:
        found.append(Copied("finding", _finding_text(this)))
    if this.rule:
        found.append(Copied("command that explains it", f"whichlayer explain {clean(this.rule)}"))
    snippet = "\n".join(RECORDING_SNIPPET)
    return [*found, Copied("profiler snippet: record everything", snippet)]


def bounded(text: str) -> str:
    """Text that terminals take: cut at the end where it is too long."""
    return text.encode("utf-8")[:MOST_BYTES].decode("utf-8", "ignore")


def listed(things: Sequence[Copied]) -> Listed:
    """The list to choose from."""
    rows = [(one.name, one.text.splitlines()[0][:60] if one.text else "") for one in things]
    return Listed("copy", ("what", "text"), rows, "", "enter copies · esc closes")


def _finding_text(this: AtHand) -> str:
    finding = this.finding
    assert finding is not None
    lines = [f"{finding.rule}: {clean(finding.title)}", f"fix: {clean(finding.fix)}"]
    if place := str(finding.where):
        lines.append(f"where: {clean(place)}")
    return "\n".join([*lines, *(f"- {clean(one)}" for one in finding.evidence)])
