"""The launch floor comes from the recording, and an assumption stays small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.floor import find_floor


def test_the_lower_quartile_of_trivial_kernels_is_the_floor() -> None:
    times = np.array([1400.0, 1500, 1600, 1700, 1800, 1900, 2000, 2900, 9000])
    floor = find_floor(times)
    assert floor.measured
    assert floor.ns == floor.excused_ns == pytest.approx(1600.0)


def test_one_slow_trivial_kernel_excuses_nothing() -> None:
    times = np.array([1500.0] * 9 + [500_000.0])
    assert find_floor(times).ns == 1500.0


def test_too_few_trivial_kernels_measure_nothing() -> None:
    floor = find_floor(np.array([5000.0] * 7))
    assert not floor.measured
    assert (floor.ns, floor.excused_ns) == (2000.0, 1000.0)


def test_microsecond_clocks_do_not_make_a_floor_of_nothing() -> None:
    assert find_floor(np.array([1000.0] * 10 + [0.0] * 50)).ns == 1000.0


@given(times=st.lists(st.floats(0, 1e9), max_size=40))
def test_the_floor_stays_within_what_gpus_take(times: list[float]) -> None:
    floor = find_floor(np.array(times))
    assert 500.0 <= floor.ns <= 8000.0
    assert floor.excused_ns <= floor.ns
