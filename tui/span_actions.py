"""Marking, measuring and selecting spans, and having every panel speak of the selected one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import on

from whichlayer.tui.deferred import Deferred
from whichlayer.tui.prompting import Prompting
from whichlayer.tui.span_messages import SpanAnalysed

# Nobody selects anything before the first picture.
if TYPE_CHECKING:
    from textual.timer import Timer

    from whichlayer.analysis.report import units
    from whichlayer.analysis.results import Analysis, Options
    from whichlayer.analysis.trace.columns import Trace
    from whichlayer.tui import measure, spans, travel
    from whichlayer.tui.document import Document
    from whichlayer.tui.spans import SpanAnalyst
    from whichlayer.tui.view import View
else:
    measure = Deferred("whichlayer.tui.measure")
    spans = Deferred("whichlayer.tui.spans")
    travel = Deferred("whichlayer.tui.travel")
    units = Deferred("whichlayer.analysis.report.units")


def in_thread(run: Callable[[], None]) -> None:
    """Run beside the screen; the program does not wait for it at its end."""
    threading.Thread(target=run, name="span", daemon=True).start()


class SpanActions(Prompting):
    """``m v V``: marks, measures, selections."""

    #: A selection is analysed once it has stayed the same for so long (seconds): not while it
    #: is dragged.
    span_pause_s = 0.3

    #: How a span is analysed beside the screen; tests do it at once.
    span_start: Callable[[Callable[[], None]], object] = staticmethod(in_thread)

    def __init__(self, **settings: Any) -> None:
        """Nothing is selected."""
        super().__init__(**settings)
        self._analyst: SpanAnalyst | None = None
        self._span_timer: Timer | None = None
        self._span_failed: tuple[int, int] | None = None

    @property
    def span_maker(self) -> tuple[Options, Callable[[Trace, Options], Analysis]]:
        """With which options and by what spans are analysed."""
        raise NotImplementedError

    # Which document panels show

    def spoken_of(self, view: View) -> Document | None:
        """What panels speak of: the selected span where its analysis is known, else the whole."""
        document = self.document
        if document is None or view.selection is None or self._analyst is None:
            return document
        known = self._analyst.known(document, view.selection)
        if known is None:
            return document
        return known if known.filter is document.filter else replace(known, filter=document.filter)

    def waits_for_span(self, view: View) -> bool:
        """Whether a selection is being analysed."""
        document, span = self.document, view.selection
        if document is None or document.analysis is None or span is None:
            return False
        return span != self._span_failed and self.spoken_of(view) is document

    def want_span(self, view: View) -> None:
        """Analyse what is selected, once it stays."""
        if self._span_timer is not None:
            self._span_timer.stop()
            self._span_timer = None
        if view.anchor_ns is not None or not self.waits_for_span(view):
            return
        if self.span_pause_s:
            self._span_timer = self.set_timer(self.span_pause_s, self._analyse_span)
        else:
            self.call_later(self._analyse_span)

    def _analyse_span(self) -> None:
        document, view = self.document, self.look
        if document is None or view is None or view.selection is None:
            return
        if self._analyst is None:
            options, analyse = self.span_maker
            self._analyst = spans.SpanAnalyst(options, analyse, self.post_message, self.span_start)
        if self.waits_for_span(view):
            self._analyst.want(document, view.selection)

    @on(SpanAnalysed)
    def _span_analysed(self, message: SpanAnalysed) -> None:
        view = self.look
        if view is None or view.selection != message.span:
            return
        if message.error:
            self._span_failed = message.span
            self.say(f"the span is not analysed: {message.error}")
        self.show_again()
        if not message.error:
            self._say_measure(view)

    def show_again(self) -> None:
        """Show the same view anew: something else is known of it."""
        raise NotImplementedError

    # Keys

    def action_mark(self) -> None:
        """Set a mark, or measure from it: at the exact edge of a slice under the cursor."""
        view, document = self.look, self.document
        if view is None or document is None:
            return
        here = _edge_near(document, view)
        if view.anchor_ns is None:
            self.look_at(replace(view, anchor_ns=here, selection=None))
            at = units.time_text(here) if here else "0"
            self.say(f"mark at {at}: move, then m again measures; esc clears")
        else:
            self._end_selection(view.selected(view.anchor_ns, here))

    def action_select(self) -> None:
        """Begin a selection, or end it."""
        view = self.look
        if view is None:
            return
        if view.anchor_ns is None:
            self.look_at(view.selecting())
            self.say("selecting: move, then v again; esc clears")
        else:
            self._end_selection(view.selecting())

    def action_select_this(self) -> None:
        """Select the slice or gap under the cursor; again, what encloses it."""
        view, document = self.look, self.document
        if view is None or document is None:
            return
        span = _around(document, view)
        if span is None:
            held = view.selection is not None and bool(_nested(document, view))
            wider = "nothing wider to select: esc clears the selection"
            self.say(wider if held else "nothing here to select")
        else:
            self._end_selection(replace(view, anchor_ns=None, selection=span))

    def _end_selection(self, view: View) -> None:
        self.look_at(view)
        self._say_measure(view)

    def _say_measure(self, view: View) -> None:
        document = self.spoken_of(view)
        if document is None or view.selection is None:
            return
        low, high = view.selection
        if document.analysis is None:
            self.say(units.time_text(high - low))
        else:
            self.say(measure.measured(document.analysis, view.device, low, high))


def _edge_near(document: Document, view: View) -> int:
    """The nearest beginning or end of a slice of the row within the cursor's column, else it."""
    row = travel.row_at(document, travel.rows_of(document, view), view.row)
    cell = view.port.cell_of(view.cursor_ns)
    if row is None or not len(row):
        return view.cursor_ns
    edges = row.edges_within(view.port.edge(cell), view.port.edge(cell + 1))
    return min(edges, key=lambda edge: abs(edge - view.cursor_ns), default=view.cursor_ns)


def _around(document: Document, view: View) -> tuple[int, int] | None:
    """The slice or gap under the cursor; if that is selected, the next stretch around it."""
    spans = _nested(document, view)
    if view.selection is None:
        return spans[0] if spans else None
    if view.selection not in spans:
        return next((span for span in spans if not _within(span, view.selection)), None)
    wider = (span for span in spans if span != view.selection and _within(view.selection, span))
    return next(wider, None)


def _nested(document: Document, view: View) -> list[tuple[int, int]]:
    """What holds the cursor: slice or gap, slices around it, step, window, recording.

    From the shortest to the longest; nothing where the cursor is on neither slice nor gap.
    """
    trace, at = document.trace, view.cursor_ns
    here = travel.slice_at(document, travel.rows_of(document, view), view)
    gaps = document.whole_gaps
    place = gaps[view.device].at(at) if here < 0 and view.device < len(gaps) else -1
    if here >= 0:
        rows = (here, *trace.enclosing(here))
        first = [(int(trace.start_ns[row]), int(trace.end_ns[row])) for row in rows]
    elif place >= 0:
        whole = gaps[view.device]
        first = [(int(whole.start_ns[place]), int(whole.end_ns[place]))]
    else:
        return []
    wide = [(step.start_ns, step.end_ns) for step in document.host_steps]
    wide += [document.home, (int(trace.start_ns.min()), int(trace.end_ns.max()))]
    spans = {*first, *(span for span in wide if _within((at, at + 1), span))}
    return sorted((span for span in spans if span[1] > span[0]), key=lambda span: span[1] - span[0])


def _within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]
