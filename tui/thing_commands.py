"""Kernels, steps and findings in the command palette, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.command import Hit, Hits, Provider
from textual.content import Content

from whichlayer.analysis.report.units import count_text, time_text
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.analysis.text import clean
from whichlayer.tui.commands import BY_WORDS, by_letters, by_words, marked
from whichlayer.tui.messages import StretchChosen

if TYPE_CHECKING:
    from collections.abc import Callable

#: Searching for what was typed is offered after what has its words, before what has its letters.
_SEARCH = 1.0

#: Names that are looked through, those with the most time first.
_MOST_KERNELS = 3000


class ThingCommands(Provider):
    """Enter goes to a kernel's longest call or a step, opens a finding, or searches."""

    async def search(self, query: str) -> Hits:
        """Everything whose name matches."""
        matcher = self.matcher(query)
        document = getattr(self.app, "document", None)
        analysis = None if document is None else document.analysis
        if analysis is None:
            return
        for name, told, go in self._things(analysis):
            if score := by_words(query, name):
                shown = marked(query, name, matcher.match_style)
                yield Hit(BY_WORDS + score, shown, go, text=name, help=told)
            elif letters := matcher.match(name):
                yield Hit(by_letters(letters), Content(name), go, text=name, help=told)
        search = getattr(self.app, "search_for", None)
        if search is not None:
            title = f"search the timeline for {clean(query)}"
            told = "names, operators, annotations, lanes: everything that / finds"
            yield Hit(_SEARCH, Content(title), partial(search, query), text=title, help=told)

    def _things(self, analysis: Analysis) -> Iterator[tuple[str, str, Callable[[], object]]]:
        """(name, what it is, what to do) of everything that can be gone to."""
        open_finding = getattr(self.app, "open_finding", None)
        for place, finding in enumerate(analysis.findings):
            if open_finding is not None:
                name = f"{finding.rule}: {clean(finding.title)}"
                told = f"finding · {time_text(finding.time_ns)} lost"
                yield name, told, partial(open_finding, place)
        for row in () if analysis.steps is None else analysis.steps.rows:
            low = min((span[0] for span in row.spans), default=row.step.start_ns)
            high = max((span[1] for span in row.spans), default=row.step.end_ns)
            told = f"step · {time_text(row.duration_ns)}"
            yield f"step {row.step.number}", told, partial(self._show, low, high)
        for group in _by_name(analysis):
            told = f"kernel · {count_text(group.calls, 'call')} · {time_text(group.total_ns)}"
            yield clean(group.short_name), told, partial(self._longest, analysis, group)

    def _longest(self, analysis: Analysis, group: KernelGroup) -> None:
        trace, rows = analysis.trace, group.rows
        row = int(rows[int((trace.end_ns[rows] - trace.start_ns[rows]).argmax())])
        self._show(int(trace.start_ns[row]), int(trace.end_ns[row]), row)

    def _show(self, start_ns: int, end_ns: int, row: int = -1) -> None:
        self.app.post_message(StretchChosen(start_ns, end_ns, row))


def _by_name(analysis: Analysis) -> list[KernelGroup]:
    """The group with the most time of each name."""
    found: dict[str, KernelGroup] = {}
    for group in sorted(analysis.kernels, key=lambda one: -one.total_ns)[:_MOST_KERNELS]:
        if len(group.rows):
            found.setdefault(group.short_name, group)
    return list(found.values())
