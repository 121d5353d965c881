"""Answers queries on a trace: names once per distinct name, everything else by columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.search.arguments import (
    Report,
    rows_with_argument,
    rows_with_shape,
    shape_pattern,
)
from whichlayer.analysis.search.distinct import DistinctNames
from whichlayer.analysis.search.hits import Hits
from whichlayer.analysis.search.query import INT64_MAX, Field, Query, Term
from whichlayer.analysis.search.regex_process import RegexProcess
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.analysis.trace.columns import Lane, Trace

Bool = NDArray[np.bool_]
Int32 = NDArray[np.int32]


class Stopped(Exception):
    """Nobody wants the answer any more."""


class Matcher:
    """Answers one query after another; not for several threads at a time."""

    def __init__(self, trace: Trace, regex: Callable[[list[str]], RegexProcess] = RegexProcess):
        """Take the trace; nothing is worked out before the first query."""
        self._trace = trace
        self._regex = regex
        self._of_names: RegexProcess | None = None

    @cached_property
    def names(self) -> DistinctNames:
        """The distinct names."""
        return DistinctNames(self._trace)

    def interrupt(self) -> None:
        """End what runs beside, from any thread: nobody waits for it."""
        if self._of_names is not None:
            self._of_names.interrupt()

    def find(self, query: Query, report: Report = lambda share: None) -> Hits:
        """The slices that meet all conditions of a query; none where it has no condition.

        Args:
            query: what is asked.
            report: called now and then with the share of the work that is done; what it
                raises ends the search.

        Raises:
            QueryError: a regular expression is wrong or takes too long.
            TraceError: arguments are asked for, and the file is gone or has changed.
        """
        mask = self.mask(query, report)
        report(1.0)
        return Hits(self._trace, self.names, mask)

    def mask(self, query: Query, report: Report = lambda share: None) -> Bool:
        """As :meth:`find`, by row of the trace: bool (n,)."""
        trace, names = self._trace, self.names
        if not query.terms:
            return np.zeros(len(trace), np.bool_)
        pairs = np.ones(len(names), np.bool_)
        for term in query.of(Field.NAME, Field.FAMILY):
            report(0.0)
            pairs &= self._pairs(term) != term.negated
        mask: Bool = names.shown & pairs[names.pair]
        for term in query.of(Field.DURATION):
            mask &= self._durations(term) != term.negated
        for term in query.of(Field.LANE):
            lanes = self._matches(_lane_texts(trace.lanes), term)
            mask &= (lanes != term.negated)[trace.lane_id]
        for term in query.of(Field.SHAPE, Field.ARGUMENT):
            rows = np.flatnonzero(mask).astype(np.int32)
            mask[rows] = self._arguments(rows, term, report) != term.negated
        return mask

    def _pairs(self, term: Term) -> Bool:
        """The names and kinds that meet a condition on them."""
        names = self.names
        if term.field is Field.FAMILY:
            return self._matches(names.families, term)
        found: Bool = np.ones(len(names), np.bool_)
        if term.kinds:
            found = np.asarray(np.isin(names.kind, np.array(term.kinds)))
        if term.is_regex:
            self._of_names = self._of_names or self._regex(names.texts)
            found &= self._of_names.match(term.text, term.ignores_case)
        elif term.text:
            texts = names.lowered if term.ignores_case else names.texts
            found &= np.fromiter((term.text in text for text in texts), np.bool_, len(texts))
        return np.asarray(found)

    def _durations(self, term: Term) -> Bool:
        length = self._trace.end_ns - self._trace.start_ns
        found = length >= term.low_ns
        return found if term.high_ns == INT64_MAX else found & (length <= term.high_ns)

    def _arguments(self, rows: Int32, term: Term, report: Report) -> Bool:
        if term.field is Field.SHAPE and not term.is_regex:
            term = Term(Field.SHAPE, shape_pattern(term.text))

        def match(texts: list[str]) -> Bool:
            return self._matches(texts, term)

        if term.field is Field.SHAPE:
            return rows_with_shape(self._trace, rows, match, report)
        needle = "" if term.is_regex else term.text.lower()
        return rows_with_argument(self._trace, rows, match, needle, report)

    def _matches(self, texts: list[str], term: Term) -> Bool:
        """Which of a few texts hold what is looked for."""
        if term.is_regex:
            process = self._regex([text.replace("\0", " ") for text in texts])
            try:
                return process.match(term.text, term.ignores_case)
            finally:
                process.close()
        if term.ignores_case:
            wanted = term.text.lower()
            return np.fromiter((wanted in text.lower() for text in texts), np.bool_, len(texts))
        return np.fromiter((term.text in text for text in texts), np.bool_, len(texts))


def _lane_texts(lanes: tuple[Lane, ...]) -> list[str]:
    """What a lane can be found by: GPU and stream as the screen writes them, names, numbers."""
    texts = []
    for lane in lanes:
        gpu = f"{gpu_text(lane.device)} s{lane.stream} stream {lane.stream} "
        names = f"{lane.name} {lane.tid} {lane.process}"
        texts.append(clean(gpu + names if lane.stream >= 0 else names))
    return texts
