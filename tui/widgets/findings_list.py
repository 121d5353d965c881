"""The findings: what is wrong, the most time lost first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual import events
from textual.strip import Strip

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.report.units import UNKNOWN, share_text, time_text
from whichlayer.analysis.text import clean
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.messages import StretchChosen, SubjectChosen
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Piece, shortened, strip_of
from whichlayer.tui.widgets.panel import Panel
from whichlayer.tui.wrapping import broken

# There are findings long after the timeline, which does not wait for what they are made of.
if TYPE_CHECKING:
    from whichlayer.analysis import results
    from whichlayer.analysis.findings import worth
    from whichlayer.analysis.results import Finding
else:
    results = Deferred("whichlayer.analysis.results")
    worth = Deferred("whichlayer.analysis.findings.worth")

#: Columns of figures: heading and width; the narrower the panel, the fewer.
_LOST, _SHARE, _RECOVERABLE = ("lost", 9), ("share", 8), ("recoverable", 12)

#: Widths from which there are all columns, and all but the time lost.
_ALL_FIGURES, _TWO_FIGURES = 48, 34

#: A title cut to less than this says nothing.
_LEAST_TITLE = 12

#: Lines of a finding at most: which, then what to do about it.
_MOST_LINES = 5


class FindingsList(Panel):
    """One line per finding: owner, rule, what it costs."""

    HELP = (
        "Problems of the analysed window. lost: the time that a problem takes, and its share of "
        "the window; recoverable: the time that a replay without it gains, by which they are "
        "ranked (by the time lost where no replay applies; ≤ is at most). "
        "The letter is the layer where the fix belongs; ! is about the recording itself. "
        "Enter: the longest region."
    )

    def view_changed(self, old: View | None) -> None:
        """Only the heading depends on what is selected."""
        if old is None or self.view is None or old.selection != self.view.selection:
            self.refresh()

    @property
    def items(self) -> tuple[Finding | TraceWarning, ...]:
        """The findings of the analysis, then what is odd about the recording."""
        analysis = None if self.document is None else self.document.analysis
        return () if analysis is None else (*analysis.findings, *analysis.warnings)

    @property
    def lines(self) -> int:
        """One each."""
        return len(self.items)

    @property
    def _each(self) -> int:
        """Lines of each: more than one where all of them have room for what they say."""
        count = len(self.items)
        return min(max((self.size.height - 1) // count, 1), _MOST_LINES) if count else 1

    def _item_at(self, y: int) -> tuple[int, int]:
        """Place of the item on a line of the panel, and which of its lines that is."""
        place, part = divmod(y - 1, self._each)
        return self.top + place, part

    @property
    def body_height(self) -> int:
        """The heading takes a line."""
        return max(self.size.height - 1, 1)

    def line_chosen(self) -> None:
        """The region pane speaks of the chosen finding."""
        self.post_message(SubjectChosen(self.items[self.chosen] if self.items else None))

    def follow(self) -> None:
        """Go to the longest region of the chosen finding."""
        item = self.items[self.chosen] if self.items else None
        if not isinstance(item, results.Finding) or not item.regions:
            return
        longest = max(item.regions, key=lambda region: region.end_ns - region.start_ns)
        self.post_message(StretchChosen(longest.start_ns, longest.end_ns, -1, longest.device))

    def render_line(self, y: int) -> Strip:
        """One finding or warning."""
        palette, width = self.palette, self.size.width
        index, part = self._item_at(y)
        if y == 0 and self.items:
            return strip_of([(self._heading(), palette.dim)], width, palette.text)
        if index >= len(self.items) or y == 0:
            empty = self._nothing() if y == 0 else ""
            return strip_of([(empty, palette.dim)], width, palette.text)
        item = self.items[index]
        style = palette.text if isinstance(item, results.Finding) else palette.dim
        if index == self.chosen:
            style = palette.chosen if self.has_focus else palette.marked
        if part:
            dim = palette.dim if style is palette.text else style
            more = self._more(item, part)
            if not more:
                return strip_of([], width, palette.text)
            return strip_of([("   ", palette.text), (f" {more}", dim)], width, style)
        pieces = self._warning(item, style) if isinstance(item, TraceWarning) else (
            self._finding(item, style)
        )  # fmt: skip
        return strip_of(pieces, width, style)

    @property
    def _columns(self) -> tuple[tuple[str, int], ...]:
        """Headings and widths of the figures that there is room for."""
        if self.size.width >= _ALL_FIGURES:
            return (_LOST, _SHARE, _RECOVERABLE)
        if self.size.width >= _TWO_FIGURES:
            return (("lost", _SHARE[1]), _RECOVERABLE)
        gains = [one.recoverable_ns for one in self.items if isinstance(one, results.Finding)]
        # What they are sorted by, where it is known of all of them.
        return (("lost", _SHARE[1]),) if None in gains else (_RECOVERABLE,)

    @property
    def _of_whole(self) -> str:
        """What the findings are of while there are none of the selected span, else nothing."""
        analysis = None if self.document is None else self.document.analysis
        span = None if self.view is None else self.view.selection
        if analysis is None or span is None or analysis.options.span_ns == span:
            return ""
        return f"of the whole {analysis.options.whole}"

    def _heading(self) -> str:
        figures = "".join(f"{title:>{cells}}" for title, cells in self._columns)
        whole = self._of_whole
        if len(whole) > self.size.width - len(figures) - 4:
            figures = ""
        room = max(self.size.width - len(figures) - 4, 0)
        said = whole or "finding"
        hint = f"{said}, in full: {' '.join(self._keys_in_full)}"
        if self._keys_in_full and len(hint) < room:
            said = hint
        return f"    {said:<{room}}{figures}"

    @property
    def _keys_in_full(self) -> list[str]:
        """The keys that show in full what has no room for all that it says."""
        cut = [
            isinstance(item, results.Finding)
            for item in self.items
            if any("…" in self._text_of(item, part) for part in range(self._each))
        ]
        return [key for key, is_finding in (("I", True), ("!", False)) if is_finding in cut]

    def _text_of(self, item: Finding | TraceWarning, part: int) -> str:
        """What stands on a line of an item."""
        if part:
            return self._more(item, part)
        style = self.palette.text
        pieces = self._warning(item, style) if isinstance(item, TraceWarning) else (
            self._finding(item, style)
        )  # fmt: skip
        return "".join(text for text, _ in pieces)

    def _finding(self, finding: Finding, style: Style) -> list[Piece]:
        width = self.size.width
        most = "≤ " if worth.is_bound(finding) else ""
        gain = UNKNOWN if finding.recoverable_ns is None else time_text(finding.recoverable_ns)
        lost = time_text(finding.time_ns) if finding.time_ns else UNKNOWN
        share = share_text(finding.share) if finding.time_ns else UNKNOWN
        columns = self._columns
        texts: tuple[str, ...] = (lost, share, most + gain)[3 - len(columns) :]
        if columns == (("lost", _SHARE[1]),):
            texts = (share,)
        figures = "".join(
            f"{text:>{cells}}" for text, (_, cells) in zip(texts, columns, strict=True)
        )
        room = max(width - len(figures) - 4, 4)
        text = finding.rule
        if room - len(text) > _LEAST_TITLE and self._each == 1:
            text += f": {clean(finding.title)}"
        letter = self.palette.layer(finding.layer, strong=True)
        return [
            (f" {finding.layer.text.letter} ", letter),
            (f" {shortened(text, room)}{figures}", style),
        ]

    def _more(self, item: Finding | TraceWarning, part: int) -> str:
        """A line below the first: what does not stand there, wrapped; the last says what is cut."""
        room = max(self.size.width - 4, 8)
        if isinstance(item, results.Finding):
            place = f"in {item.where}" if str(item.where) else ""
            said = [f"{item.title}: {item.fix}" if item.fix else item.title, place]
        else:
            said = [item.message]
        lines = [line for text in said if text for line in broken(clean(text), room)]
        if isinstance(item, TraceWarning):
            lines = lines[1:]
        most = self._each - 1
        if part > min(most, len(lines)):
            return ""
        return shortened(" ".join(lines[part - 1 :]) if part == most else lines[part - 1], room)

    def _warning(self, warning: TraceWarning, style: Style) -> list[Piece]:
        room, text = max(self.size.width - 4, 4), clean(warning.message)
        text = broken(text, max(room, 8))[0] if self._each > 1 else shortened(text, room)
        return [(" ! ", self.palette.dim), (f" {text}", style)]

    def on_click(self, event: events.Click) -> None:
        """Choose a finding; a second click goes to its longest region."""
        y = self.content_place(event)[1]
        if y <= 0:
            return
        self.choose(self._item_at(y)[0])
        if event.chain == 2:
            self.follow()

    def _nothing(self) -> str:
        analysis = None if self.document is None else self.document.analysis
        if analysis is None:
            return self.waiting
        whole = self._of_whole or f"of the {analysis.options.whole}"
        return f"nothing found that costs 5 % {whole}"
