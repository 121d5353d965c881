"""How much of a span each activity accounts for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.recording import build_analysis, build_trace
from whichlayer.analysis.accounting import partition
from whichlayer.analysis.activities import Activities
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.owned_within import owned_within
from whichlayer.analysis.results import Analysis, Kernels, Role, Segments, State

END = 100
TRACE = build_trace()
ANALYSIS = build_analysis(TRACE)

#: (start, length, role) of activities, some of them beyond the window.
ACTIVITIES = st.lists(
    st.tuples(st.integers(-20, END + 20), st.integers(0, 60), st.sampled_from(list(Role))),
    max_size=12,
)


def analysis_of(activities: list[tuple[int, int, Role]]) -> tuple[Analysis, Activities]:
    """One device with a window of 0 to END."""
    activities = sorted(activities, key=lambda one: (one[0], one[0] + one[1]))
    start = np.array([one[0] for one in activities], np.int64)
    end = start + np.array([one[1] for one in activities], np.int64)
    role = np.array([one[2] for one in activities], np.uint8)
    none, count = np.full(len(start), -1, np.int32), len(start)
    device = Activities(0, np.arange(count, dtype=np.int32), start, end, role, none, none)
    owned = partition(device, 0, END).owned_ns(count)
    table = Kernels(
        device.row, np.zeros(count, np.int32), start, end, role, none, owned,
        np.zeros(count, np.int64), np.zeros(count, np.bool_), np.zeros(count, np.uint8),
        np.zeros(count, np.int32),
    )  # fmt: skip
    whole = Segments(
        np.array([-20, 0, END]), np.array([0, END, 2 * END]),
        np.array([State.EDGE, State.UNJUDGED, State.EDGE], np.uint8),
        np.full(3, Layer.NONE, np.uint8), np.full(3, -1, np.int32),
    )  # fmt: skip
    return replace(ANALYSIS, activities=table, segments=(whole,)), device


@given(ACTIVITIES, st.integers(-30, END + 30), st.integers(1, END))
def test_it_is_what_the_accounting_of_the_span_alone_says(
    activities: list[tuple[int, int, Role]], low: int, length: int
) -> None:
    analysis, device = analysis_of(activities)
    high = low + length
    expected = partition(device, max(low, 0), min(high, END)).owned_ns(len(device))
    assert owned_within(analysis, low, high).tolist() == expected.tolist()


def test_a_transfer_that_crosses_the_border_counts_as_far_as_it_is_inside() -> None:
    analysis, _ = analysis_of([(10, 40, Role.COPY), (60, 10, Role.COMPUTE), (70, 20, Role.COMM)])
    assert owned_within(analysis, 30, 80).tolist() == [20, 10, 10]
    assert owned_within(analysis, 0, END).tolist() == [40, 10, 20]
