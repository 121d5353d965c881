from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.intervals import union
from whichlayer.analysis.launches.calls import LaunchCalls
from whichlayer.analysis.launches.depth import queue_depth, starved, weighted_quantile
from whichlayer.analysis.launches.series import launch_series

#: (start of the call, delay of its work, how long that lasts); delays may be negative: skew.
asked = st.lists(
    st.tuples(st.integers(0, 40), st.integers(-5, 30), st.integers(0, 15)), max_size=12
)


def calls_of(spans: list[tuple[int, int, int]]) -> LaunchCalls:
    spans = sorted(spans, key=lambda span: span[0] + span[1])
    start = np.array([call for call, _, _ in spans], np.int64)
    first = start + np.array([delay for _, delay, _ in spans], np.int64)
    done = first + np.array([length for _, _, length in spans], np.int64)
    count = len(spans)
    return LaunchCalls(
        np.arange(count, dtype=np.int32), start, first, done, np.ones(count, np.int64), 0
    )


def unfinished_at(spans: list[tuple[int, int, int]], time: int) -> int:
    """By looking at every call."""
    return sum(
        min(call, call + delay) <= time < call + delay + length for call, delay, length in spans
    )


@given(asked)
def test_depth_at_every_instant_is_the_number_of_unfinished_calls(
    spans: list[tuple[int, int, int]],
) -> None:
    times = np.arange(-10, 100)
    depth = queue_depth(calls_of(spans))
    wanted = [unfinished_at(spans, time) for time in times.tolist()]
    assert depth.at(times).tolist() == wanted
    assert depth.before(times[1:]).tolist() == wanted[:-1]
    area = np.concatenate(([0], np.cumsum(wanted)))[:-1]
    assert (depth.area_until(times) - depth.area_until(times[:1])).tolist() == area.tolist()


@given(asked, st.integers(-5, 60), st.integers(1, 60), st.integers(1, 9))
def test_every_bin_is_exact(
    spans: list[tuple[int, int, int]], low: int, length: int, bins: int
) -> None:
    calls = calls_of(spans)
    series = launch_series(calls, queue_depth(calls), low, low + length, bins)
    edges = series.edges_ns.tolist()
    assert (edges[0], edges[-1]) == (low, low + length)
    assert len(edges) - 1 == min(bins, length)
    for i, (begin, end) in enumerate(pairwise(edges)):
        held = [unfinished_at(spans, time) for time in range(begin, end)]
        assert series.depth_area[i] == sum(held)
        assert series.depth_most[i] == max(held)
        delays = sorted(delay for call, delay, _ in spans if begin <= call + delay < end)
        assert series.launches[i] == len(delays)
        if delays:
            assert series.delay_most_ns[i] == delays[-1]
            assert series.delay_median_ns[i] == delays[(len(delays) - 1) // 2]


@given(asked, asked, st.integers(0, 40), st.integers(1, 40))
def test_the_host_is_late_where_nothing_is_unfinished_and_nothing_runs(
    spans: list[tuple[int, int, int]], others: list[tuple[int, int, int]], low: int, length: int
) -> None:
    calls, other = calls_of(spans), calls_of(others)
    busy = union(
        np.concatenate((calls.first_ns, other.first_ns)),
        np.concatenate((calls.done_ns, other.done_ns)),
    )
    late = 0
    for time in range(low, low + length):
        runs = any(
            call + delay <= time < call + delay + lasts for call, delay, lasts in spans + others
        )
        late += not runs and not unfinished_at(spans, time)
    assert starved(queue_depth(calls), busy, low, low + length) == late


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1).filter(
        lambda pairs: any(weight for _, weight in pairs)
    ),
    st.sampled_from([0.25, 0.5, 0.75, 1.0]),
)
def test_a_weighted_quantile_is_that_of_the_values_written_out(
    pairs: list[tuple[int, int]], share: float
) -> None:
    written = sorted(value for value, weight in pairs for _ in range(weight))
    found = weighted_quantile(
        np.array([value for value, _ in pairs]), np.array([weight for _, weight in pairs]), share
    )
    assert found == written[max(int(np.ceil(share * len(written))) - 1, 0)]
