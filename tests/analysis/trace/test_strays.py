"""What counts as outside the recording, and what is only far apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.strays import find_strays

SECOND = 10**9
HOUR = 3600 * SECOND


def strays(
    starts: list[int], lengths: list[int] | None = None, kind: SliceKind = SliceKind.KERNEL
) -> list[int]:
    start = np.array(starts, np.int64)
    end = start + np.array(lengths or [1] * len(starts), np.int64)
    return np.flatnonzero(find_strays(start, end, np.full(len(starts), kind, np.uint8))).tolist()


USUAL = [50 * HOUR + n * SECOND for n in range(100)]


def test_a_start_of_zero_among_large_ones_is_a_stray() -> None:
    assert strays([0, *USUAL]) == [0]
    assert strays([0] * 40 + USUAL) == list(range(40))


@pytest.mark.parametrize("far", [10 * HOUR, 500 * HOUR, -5])
def test_one_event_far_from_the_rest_is_a_stray(far: int) -> None:
    assert strays([*USUAL, far]) == [100]


@pytest.mark.parametrize(
    "starts",
    [
        [],
        [0],
        [0, 90 * HOUR],
        [0, 30 * HOUR, 60 * HOUR, 90 * HOUR],
        [0] * 60 + USUAL[:40],
        [10 * HOUR] * 30 + USUAL,
        [*USUAL, USUAL[-1] + HOUR // 2],
        [n * HOUR for n in range(50)] + [400 * HOUR],
        [-3 * SECOND, -2 * SECOND],
    ],
    ids=["none", "one", "two", "few", "mostly zero", "two bursts", "half an hour", "wide", "below"],
)
def test_idle_time_is_believed(starts: list[int]) -> None:
    assert strays(starts) == []


@pytest.mark.parametrize("kind", [SliceKind.KERNEL, SliceKind.CPU_OP, SliceKind.PYTHON])
def test_what_ends_hours_after_all_gpu_work_is_a_stray(kind: SliceKind) -> None:
    start = np.array(USUAL, np.int64)
    end = start + 1
    end[5] += 900 * HOUR
    kinds = np.full(len(start), SliceKind.KERNEL, np.uint8)
    kinds[5] = kind
    assert np.flatnonzero(find_strays(start, end, kinds)).tolist() == [5]


def test_a_job_that_takes_hours_is_believed_where_no_gpu_works() -> None:
    lengths = [1] * 100
    lengths[5] = 900 * HOUR
    assert strays(USUAL, lengths, SliceKind.ANNOTATION) == []


def test_the_recording_itself_is_never_judged() -> None:
    assert strays([0, *USUAL], kind=SliceKind.PROFILER) == []


@given(st.lists(st.integers(0, HOUR - 1), max_size=40))
def test_nothing_within_an_hour_is_a_stray(starts: list[int]) -> None:
    assert strays(starts) == []
