"""The first view is where the events are, though one of them lies far from all others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.recording import Slice, build_trace
from whichlayer.analysis import analyse
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.carry import opened
from whichlayer.tui.crowded import crowd_of
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.travel import first_look, fit

SECOND = 10**9
HOST = (Lane(0, 1, LaneKind.CPU_THREAD, name="thread 1", process="host"),)


def host_trace(spans: list[tuple[int, int]]) -> Trace:
    slices: list[Slice] = [
        (0, SliceKind.CPU_OP, "work", start, end, 0, -1) for start, end in sorted(spans)
    ]
    return build_trace(slices, HOST)


LATE = [(6 * SECOND + i * 1000, 6 * SECOND + i * 1000 + 500) for i in range(50)]


def test_one_event_long_before_the_rest_is_left_out_and_told() -> None:
    crowd = crowd_of(host_trace([(0, 100), *LATE]), 0, LATE[-1][1])
    assert crowd is not None
    assert (crowd.low_ns, crowd.high_ns) == (6 * SECOND, LATE[-1][1])
    assert crowd.told == "1 more event far earlier: f shows everything"


def test_events_long_after_the_rest_are_left_out_as_well() -> None:
    early = [(start - 6 * SECOND, end - 6 * SECOND) for start, end in LATE]
    crowd = crowd_of(host_trace([*early, (9 * SECOND, 9 * SECOND + 5)]), 0, 9 * SECOND + 5)
    assert crowd is not None
    assert (crowd.low_ns, crowd.high_ns) == (0, early[-1][1])
    assert "far later" in crowd.told


@pytest.mark.parametrize(
    "spans",
    [
        LATE,
        [(0, 6 * SECOND), *LATE],  # something lasts all the while
        [(0, 100), (2 * SECOND, 2 * SECOND + 9), (4 * SECOND, 4 * SECOND + 9), *LATE],
        [(0, 1)],
    ],
)
def test_where_time_is_used_all_of_it_is_shown(spans: list[tuple[int, int]]) -> None:
    low, high = min(s for s, _ in spans), max(e for _, e in spans)
    assert crowd_of(host_trace(spans), low, high) is None


def test_the_first_view_is_the_crowd_and_fit_shows_the_rest() -> None:
    trace = host_trace([(0, 100), *LATE])
    document = replace(open_document(trace), analysis=analyse(trace))
    view = first_look(document, opened(document, 100))
    assert view.port.start_ns >= 6 * SECOND - SECOND // 100
    whole = fit(document, view)
    assert (whole.port.start_ns, whole.port.end_ns) == (document.low_ns, document.high_ns)


def test_what_was_analysed_is_shown_whole_however_empty_it_is(document: Document) -> None:
    assert document.analysis is not None and document.analysis.devices
    assert document.crowd is None


@given(st.lists(st.tuples(st.integers(0, 10**18), st.integers(0, 10**9)), min_size=1, max_size=30))
def test_what_is_left_out_and_what_is_shown_are_all_events(
    given_spans: list[tuple[int, int]],
) -> None:
    spans = [(start, start + length) for start, length in given_spans]
    trace = host_trace(spans)
    low, high = min(s for s, _ in spans), max(e for _, e in spans)
    crowd = crowd_of(trace, low, high)
    if crowd is not None:
        inside = (trace.start_ns >= crowd.low_ns) & (trace.end_ns <= crowd.high_ns)
        assert int(np.count_nonzero(inside)) + crowd.beyond == len(spans)
        assert crowd.high_ns - crowd.low_ns <= (high - low) // 5
        assert crowd.beyond <= len(spans) // 2
