"""What a verdict is mostly about, in words, and how much of it a line has room for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.cells import cell_len

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.text import clean

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis

#: Verdicts that have a cause.
_WITH_CAUSE = frozenset({"above-cuda", "below-pytorch", "both"})


def main_cause(analysis: Analysis) -> tuple[str, str]:
    """The finding that takes the most time, with what it is about and without; empty for none.

    It is ``mostly`` that where it takes half or more of all that is lost.
    """
    verdict = analysis.verdict
    found = [finding for finding in analysis.findings if finding.time_ns > 0]
    if verdict.withheld or verdict.side not in _WITH_CAUSE or not found:
        return "", ""
    finding = max(found, key=lambda one: one.time_ns)
    lost = sum(analysis.budget.lost_to(layer) for layer in Layer if layer != Layer.NONE)
    word = "mostly" if 2 * finding.time_ns >= lost else "largest:"
    short = f"{word} {clean(finding.rule)}"
    return (f"{short}: {clean(finding.title)}" if finding.title else short), short


def said_in(room: int, texts: list[str], analysis: Analysis) -> str:
    """What the line says beside the verdict's side in so many cells; the shares are cut first.

    Args:
        room: cells.
        texts: the shares that the verdict rests on, from the longest to the shortest.
        analysis: what it is about.
    """
    return next((text for text in _ways(texts, analysis) if cell_len(text) <= room), "")


def _ways(texts: list[str], analysis: Analysis) -> Iterator[str]:
    """Ever shorter texts."""
    long, short = main_cause(analysis)
    caveat = clean(analysis.verdict.caveat)
    # What the mark behind the side stands for.
    doubt = f"?: {caveat}" if caveat and not analysis.verdict.withheld else ""
    brief = texts[1:] or texts
    if long:
        for text in (texts[0], *brief):
            for cause in (long, short):
                for end in (doubt, ""):
                    yield _sentence(text, cause, end)
        yield long
        yield short
    for text in texts:
        yield _sentence(text, doubt)
        yield text


def _sentence(*parts: str) -> str:
    """Parts one after the other; after a full stop another sentence begins."""
    said = ""
    for part in filter(None, parts):
        if said.endswith("."):
            said = f"{said} {part[:1].upper()}{part[1:]}"
        else:
            said = f"{said}; {part}" if said else part
    return said
