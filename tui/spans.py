"""The analysis of a selected span beside the screen, so that every panel can speak of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from whichlayer.analysis.text import clean
from whichlayer.tui.document import Document, with_analysis
from whichlayer.tui.span_messages import SpanAnalysed

if TYPE_CHECKING:
    from textual.message import Message

    from whichlayer.analysis.results import Analysis, Options
    from whichlayer.analysis.trace.columns import Trace

Span = tuple[int, int]

#: Analyses of spans that are kept: who compares two goes to and fro.
_MOST_KEPT: Final = 4


class SpanAnalyst:
    """Analyses one span after the other; of those that wait only the last one is."""

    def __init__(
        self,
        options: Options,
        analyse: Callable[[Trace, Options], Analysis],
        post: Callable[[Message], object],
        start: Callable[[Callable[[], None]], object],
    ) -> None:
        """Take what else was asked for, and what takes results from any thread."""
        self._options = options
        self._analyse = analyse
        self._post = post
        self._start = start
        self._kept: dict[Span, Document] = {}
        self._lock = threading.Lock()
        self._wanted: tuple[Document, Span] | None = None
        self._runs = False
        self._trace: Trace | None = None

    def known(self, document: Document, span: Span) -> Document | None:
        """The document with the analysis of a span, if it is there."""
        found = self._kept.get(span)
        return found if found is not None and document.trace is self._trace else None

    def want(self, document: Document, span: Span) -> None:
        """Analyse a span of a document; a message tells when it is done."""
        with self._lock:
            if document.trace is not self._trace:
                self._trace, self._kept = document.trace, {}
            self._wanted = (document, span)
            if self._runs:
                return
            self._runs = True
        self._start(self._run)

    def _run(self) -> None:
        while True:
            with self._lock:
                wanted, self._wanted = self._wanted, None
                if wanted is None:
                    self._runs = False
                    return
            self._post(self._answer(*wanted))

    def _answer(self, document: Document, span: Span) -> SpanAnalysed:
        options = replace(self._options, span_ns=span, steps=None)
        try:
            analysis = self._analyse(document.trace, options)
            made = with_analysis(replace(document, analysis=None), analysis)
        # The whole is still there to be looked at, whatever is wrong with a part of it.
        except Exception as error:  # noqa: BLE001
            said = (
                str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            )
            return SpanAnalysed(span, clean(said))
        with self._lock:
            if document.trace is self._trace:
                while len(self._kept) >= _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[span] = made
        return SpanAnalysed(span, "")
