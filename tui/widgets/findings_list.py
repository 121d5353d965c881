"""The findings: what is wrong, most valuable first."""

from __future__ import annotations

from textual import events
from textual.strip import Strip

from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.results import Finding
from whichlayer.analysis.text import clean
from whichlayer.tui.messages import StretchChosen, SubjectChosen
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Piece, shortened, strip_of
from whichlayer.tui.widgets.panel import Panel

#: Narrower than this, the share stands alone.
_BOTH_FIGURES = 36

#: A title cut to less than this says nothing.
_LEAST_TITLE = 12


class FindingsList(Panel):
    """One line per finding: owner, rule, what it costs."""

    HELP = (
        "Problems of the analysed window, ranked by the time that fixing them would win back. "
        "The letter is the layer where the fix belongs. Enter: the longest region of it."
    )

    def view_changed(self, old: View | None) -> None:
        """Findings are of the window, whatever is looked at."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the analysis."""
        analysis = None if self.document is None else self.document.analysis
        return () if analysis is None else analysis.findings

    @property
    def lines(self) -> int:
        """One per finding."""
        return len(self.findings)

    def line_chosen(self) -> None:
        """The region pane speaks of the chosen finding."""
        self.post_message(SubjectChosen(self.findings[self.chosen] if self.findings else None))

    def follow(self) -> None:
        """Go to the longest region of the chosen finding."""
        if not self.findings or not self.findings[self.chosen].regions:
            return
        regions = self.findings[self.chosen].regions
        longest = max(regions, key=lambda region: region.end_ns - region.start_ns)
        self.post_message(StretchChosen(longest.start_ns, longest.end_ns, -1, longest.device))

    def render_line(self, y: int) -> Strip:
        """One finding."""
        palette, width, index = self.palette, self.size.width, self.top + y
        if index >= len(self.findings):
            empty = self._nothing() if y == 0 and not self.findings else ""
            return strip_of([(empty, palette.dim)], width, palette.text)
        finding = self.findings[index]
        style = palette.text
        if index == self.chosen:
            style = palette.chosen if self.has_focus else palette.marked
        worth = finding.time_ns if finding.recoverable_ns is None else finding.recoverable_ns
        figures = f"{share_text(finding.share):>8}"
        if width > _BOTH_FIGURES:
            figures = f"{time_text(worth):>9}{figures}"
        room = max(width - len(figures) - 4, 4)
        text = finding.rule
        if room - len(text) > _LEAST_TITLE:
            text += f": {clean(finding.title)}"
        text = shortened(text, room)
        letter = (f" {finding.layer.text.letter} ", palette.layer(finding.layer, strong=True))
        pieces: list[Piece] = [letter, (f" {text}{figures}", style)]
        return strip_of(pieces, width, style)

    def on_click(self, event: events.Click) -> None:
        """Choose a finding; a second click goes to its longest region."""
        y = self.content_place(event)[1]
        if y < 0:
            return
        self.choose(self.top + y)
        if event.chain == 2:
            self.follow()

    def _nothing(self) -> str:
        analysis = None if self.document is None else self.document.analysis
        if analysis is None:
            return "waiting for the analysis"
        return "nothing found that costs 5 % of the window"
