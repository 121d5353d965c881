"""What is looked at: every act on the view ends here, and every part of the screen is shown it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on

from whichlayer.analysis.text import clean
from whichlayer.tui.arranging import Arranging
from whichlayer.tui.deferred import Deferred
from whichlayer.tui.history import History
from whichlayer.tui.messages import (
    DRAG,
    FitAsked,
    LaneFolded,
    LaneMenuAsked,
    Looked,
    QualityAsked,
    SpanOpened,
    StretchChosen,
    Subject,
    SubjectChosen,
    TimelineResized,
)
from whichlayer.tui.undo import OF_VIEW
from whichlayer.tui.widgets.footer import Footer
from whichlayer.tui.widgets.header import Header
from whichlayer.tui.widgets.verdict_line import VerdictLine

# What the first picture does without comes with the panes: it brings NumPy.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from whichlayer.tui import carry, travel
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
else:
    carry = Deferred("whichlayer.tui.carry")
    travel = Deferred("whichlayer.tui.travel")


class Looking(Arranging):
    """The screen as it shows one view of one document."""

    def __init__(self, **settings: Any) -> None:
        """Nothing is looked at yet."""
        super().__init__(**settings)
        self.history = History()
        self.gap_rank: int | None = None
        self._drag = ""
        self._subject: Subject | None = None
        self._touched = False
        self._follows = True

    def look_at(self, view: View, noted: bool = True, run: str = "") -> None:
        """Show another view; ``noted`` ones can be undone, those of one run at once."""
        self.say("")
        self._touched = True
        self._follows = False
        self.gap_rank = None
        old = self.look
        if old is None or not noted:
            self._show(view)
        else:
            # Of a drag the view before it counts, not every place that it passes.
            if not (run.startswith(DRAG) and run == self._drag):
                self._drag = run if self.history.note(old, view) else ""
            with self.one_act(*OF_VIEW, run=run):
                self._show(view)
        self.keep_changed(view)

    def follow_growth(self) -> None:
        """Show everything as it comes, if everything is what is shown now."""
        self._follows = self.look is not None and self.look.port.is_whole

    def carried(self, view: View, old: Document, document: Document) -> View:
        """The view of one document in another one that knows more of the same trace."""
        self.history.carry(lambda then: carry.carried_roughly(then, old, document))
        return carry.carried(view, old, document, self._follows, self._touched)

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        view = message.view
        if self.look is None or view.edition != self.look.edition:
            return  # it was asked for before more was read, and speaks of other times and lanes
        if self.document is not None and view.row != self.look.row:
            view = travel.on_row(self.document, view, view.row)
        self.look_at(view, message.noted, message.run)

    @on(StretchChosen)
    def _stretch_chosen(self, message: StretchChosen) -> None:
        if self.look is None or self.document is None:
            return
        view = self.look
        if message.slice_row >= 0:
            view = travel.to_slice_row(self.document, view, message.slice_row)
            view = travel.on_row(self.document, view, view.row)
        if message.device >= 0:
            view = replace(view, device=message.device)
        self.look_at(view.revealing(message.start_ns, message.end_ns))

    @on(SpanOpened)
    def _span_opened(self, message: SpanOpened) -> None:
        if self.look is not None:
            port = self.look.port.around(message.start_ns, message.end_ns, 1.0)
            view = replace(self.look, port=port, device=message.device)
            self.look_at(view.pointed(message.cursor_ns, view.row))

    @on(LaneFolded)
    def _lane_folded(self, message: LaneFolded) -> None:
        if self.look is None or self.document is None or message.edition != self.look.edition:
            return
        self.look_at(travel.refolded(self.document, self.look, message.lane))

    @on(LaneMenuAsked)
    def _lane_menu_asked(self, message: LaneMenuAsked) -> None:
        if self.look is not None and message.edition == self.look.edition:
            self.open_lane_menu(message.lane)

    @on(FitAsked)
    def _fit_asked(self) -> None:
        self.action_fit_thing()

    @on(QualityAsked)
    def _quality_asked(self) -> None:
        self.action_quality()

    @on(TimelineResized)
    def _timeline_resized(self) -> None:
        if self.look is not None:
            self._show(self.look)

    @on(SubjectChosen)
    def _subject_chosen(self, message: SubjectChosen) -> None:
        from whichlayer.analysis.results import KernelGroup

        self._subject = message.subject
        self._tell_region()
        calls = message.subject.rows if isinstance(message.subject, KernelGroup) else None
        self._light_calls(calls)
        if isinstance(message.subject, KernelGroup) and not self.query_one("#region").display:
            footer = self.screen_stack[0].query_one(Footer)
            footer.say(clean(message.subject.why), "r: all of it")

    def on_descendant_focus(self) -> None:
        """The region pane speaks of the cursor again once no table has the focus."""
        if self.focused is not None and self.focused.id in ("timeline", "gaps"):
            self._subject = None
            self._tell_region()
            self._light_calls(None)

    def _light_calls(self, rows: NDArray[np.int32] | None) -> None:
        """Light the calls of a kernel that is chosen in the table."""
        from whichlayer.tui.widgets.timeline import Timeline

        self.screen_stack[0].query_one(Timeline).light_calls(rows)

    @property
    def subject(self) -> Subject | None:
        """What a table speaks of, while it has the focus."""
        return self._subject

    def _show(self, view: View) -> None:
        if view.port.cells != self._cells:
            view = replace(view, port=view.port.with_cells(self._cells))
        lines = self.screen_stack[0].query_one("#timeline").size.height
        if self.document is not None and view.lines != lines:
            view = travel.with_lines(self.document, view, lines)
        if self.document is not None:
            view = travel.settled(self.document, view)
        self.look = view
        spoken = self.spoken_of(view)
        with self.batch_update():
            for pane in self.panes:
                pane.show(spoken if pane.OF_SPAN else self.document, view)
            waits = self.waits_for_span(view)
            stands = view.anchor_ns is None
            self.screen_stack[0].query_one(Header).wait_for_span(waits and stands)
            for verdict in self.screen_stack[0].query(VerdictLine):
                verdict.wait_for_span(waits, stands)
            self._tell_region()
        self.want_span(view)

    def show_again(self) -> None:
        """Show the same view anew: something else is known of it."""
        if self.look is not None:
            self._show(self.look)

    def _tell_region(self) -> None:
        if self.document is None or self.look is None:
            return
        from whichlayer.tui.widgets.region import RegionPane
        from whichlayer.tui.widgets.timeline import Timeline

        rows = travel.rows_of(self.document, self.look)
        here = travel.slice_at(self.document, rows, self.look)
        self.screen_stack[0].query_one(Timeline).mark_chain(self.chain_of_slice(here))
        self.screen_stack[0].query_one(RegionPane).speak_of(self._subject, here)
