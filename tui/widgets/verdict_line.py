"""The second line: the verdict on what is looked at, and before it how far loading is."""

from __future__ import annotations

import time
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.geometry import Region
from textual.strip import Strip

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.units import share_text
from whichlayer.analysis.text import clean
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.loading import Clock, Loading, Stage
from whichlayer.tui.widgets.load_line import load_line, stands_still
from whichlayer.tui.widgets.pane import Pane, Piece, shortened, strip_of

if TYPE_CHECKING:
    from textual.timer import Timer

    from whichlayer.analysis.results import Analysis, Budget
    from whichlayer.tui import main_cause
    from whichlayer.tui.view import View
else:
    main_cause = Deferred("whichlayer.tui.main_cause")

#: Tags of the verdict, as people read them.
_SIDES = {
    "above-cuda": "ABOVE CUDA",
    "below-pytorch": "BELOW PYTORCH",
    "both": "BOTH SIDES",
    "unclear": "UNCLEAR",
    "healthy": "HEALTHY",
}

#: What is said before a text that does not say itself what its shares are of.
_OF_SPAN = " of the span:"

#: What stands in its place until a span that was selected is analysed.
_SPAN_WAITS, _SPAN_GROWS = " span: analysing …", " span: being selected …"

#: Cells that letters and shares of layers keep.
_KEPT_SHARES = 36

#: What stands in its place where only a part was read.
_PART = " PART "


class VerdictLine(Pane):
    """The verdict, and what each layer takes of the window; until then how far loading is."""

    OF_SPAN = True

    HELP = (
        "The side on which the time is lost (with ? where that is to be trusted less), the two "
        "shares that say so, what takes the most time, and what each layer takes of the window or "
        "of the selection, the largest first."
    )

    #: Seconds, as tests set them.
    clock: Clock = staticmethod(time.monotonic)

    def __init__(self, *, id: str | None = None) -> None:
        """Start before anything is loaded."""
        super().__init__(id=id)
        self._loading = Loading()
        self._span_said = ""
        self._began = 0.0
        self._passed_s = 0
        self._seconds: Timer | None = None

    def report(self, loading: Loading) -> None:
        """Take how far loading is."""
        before, self._loading = self._loading, loading
        shows_it = not self._has_verdict
        if loading.stage != before.stage:
            self._count_seconds(loading.stage)
        if loading != before and shows_it:
            self.refresh()

    def tell_time(self) -> None:
        """Say how long what stands still has taken, at the cost of a few bytes."""
        passed = int(self.clock() - self._began)
        if passed == self._passed_s or self._has_verdict:
            return
        before, self._passed_s = self._told, passed
        first, end = changed_cells(before, self._told)
        if end > first:
            self.refresh(Region(first, 0, end - first, 1))

    def _count_seconds(self, stage: Stage) -> None:
        self._began, self._passed_s = self.clock(), 0
        if self._seconds is not None:
            self._seconds.stop()
        self._seconds = self.set_interval(1.0, self.tell_time) if stands_still(stage) else None

    def wait_for_span(self, waits: bool, stands: bool) -> None:
        """Say that the span is selected or analysed still, not what is known of the window."""
        said = (_SPAN_WAITS if stands else _SPAN_GROWS) if waits else ""
        if said != self._span_said:
            self._span_said = said
            self.refresh()

    def view_changed(self, old: View | None) -> None:
        """The verdict is of the window, whatever is looked at."""

    def render_line(self, y: int) -> Strip:
        """One line."""
        palette, width = self.palette, self.size.width
        analysis = None if self.document is None else self.document.analysis
        if analysis is None:
            return strip_of(self._without_verdict(), width, palette.text)
        if self._span_said:
            return strip_of([(self._span_said, palette.text)], width, palette.text)
        colours = palette.colours
        side = analysis.verdict.side
        ground = {"healthy": colours.layers[Layer.BOUNDARY], "unclear": colours.dim}
        tag = palette.style(colours.canvas, ground.get(side, colours.warning), bold=True)
        pieces: list[Piece] = [(f" {side_text(analysis)} ", tag)]
        room = max(width - sum(cell_len(piece) for piece, _ in pieces), 0)
        of_span = self.view is not None and (
            analysis.options.span_ns == self.view.selection is not None
        )
        # What the shares are of is said once: some of the texts say it themselves.
        texts = verdict_texts(analysis)
        # Whose the loss is comes before all that is said of it.
        shares = self._shares(analysis.budget, min(_KEPT_SHARES, room // 2))
        left = room - sum(cell_len(piece) for piece, _ in shares)
        of = cell_len(_OF_SPAN) if of_span else 0
        text = f" {main_cause.said_in(left - of - 2, texts, analysis) or texts[-1]} "
        if of and "span" not in text:
            pieces.append((_OF_SPAN, palette.strong))
            left = max(left - of, 0)
        pieces.append((shortened(text, min(cell_len(text), left)), palette.text))
        used = sum(cell_len(piece) for piece, _ in pieces)
        pieces += self._shares(analysis.budget, width - used)
        return strip_of(pieces, width, palette.text)

    @property
    def _told(self) -> str:
        return "".join(text for text, _ in self._without_verdict())

    @property
    def _has_verdict(self) -> bool:
        return self.document is not None and self.document.analysis is not None

    def _without_verdict(self) -> list[Piece]:
        if self._loading.stage != Stage.STOPPED:
            return load_line(self._loading, self.size.width, self.palette, self._passed_s)
        colours = self.palette.colours
        tag = self.palette.style(colours.canvas, colours.warning, bold=True)
        share = self._loading.share
        where = "" if share is None else f" at {share:.0%}"
        said = f" reading stopped{where}: this is a part of the trace, so there is no verdict"
        room = max(self.size.width - len(_PART), 0)
        if cell_len(said) > room:
            said = shortened(f" reading stopped{where}: a part of the trace, no verdict", room)
        return [(_PART, tag), (said, self.palette.text)]

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


def changed_cells(before: str, now: str) -> tuple[int, int]:
    """The stretch of cells in which two texts differ, of characters that take one cell each.

    >>> changed_cells("for 9 s  7 events", "for 10 s  7 events"), changed_cells("a", "a")
    ((4, 18), (0, 0))
    """
    pairs = zip_longest(before, now, fillvalue=" ")
    differ = [cell for cell, (old, new) in enumerate(pairs) if old != new]
    return (differ[0], differ[-1] + 1) if differ else (0, 0)


def verdict_texts(analysis: Analysis) -> list[str]:
    """The verdict without its tag, in full and then ever shorter."""
    verdict = analysis.verdict
    full = clean(verdict.text)
    texts = [full.partition(": ")[2] or full]
    if verdict.withheld:
        return [_in_words_of(analysis, text) for text in (texts[0], "no verdict of the span")]
    if analysis.devices and analysis.budget.total_ns > 0:
        above, below = f"{100 * verdict.above_share:.1f} %", f"{100 * verdict.below_share:.1f} %"
        lost = [
            f"{above} in gaps above CUDA, {below} lost in kernels",
            f"gaps above CUDA {above}, kernels {below}",
        ]
        if verdict.side == "unclear":
            budget = analysis.budget
            unknown = budget.gap_ns.get(Layer.UNKNOWN, 0) + budget.unjudged_ns
            share = f"{100 * unknown / budget.total_ns:.1f} % unknown or unjudged"
            lost = [*(f"{share}; {text}" for text in lost), share]
        texts += lost
    return [_in_words_of(analysis, text) for text in texts]


def side_text(analysis: Analysis) -> str:
    """The verdict's side in the words of the GPU's vendor."""
    text = _SIDES.get(analysis.verdict.side, analysis.verdict.side.upper())
    if analysis.verdict.withheld:
        return analysis.verdict.withheld.upper()
    if analysis.verdict.caveat:
        text += "?"
    return _in_words_of(analysis, text)


def _in_words_of(analysis: Analysis, text: str) -> str:
    """A text with the name that the GPU's vendor has for what lies below PyTorch."""
    vendor = analysis.devices[0].vendor if analysis.devices else ""
    return text.replace("CUDA", {"amd": "HIP", "intel": "XPU"}.get(vendor, "CUDA"))
