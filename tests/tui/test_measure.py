"""A stretch measured in one line."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.tui.measure import idle_by_owner, measured, union_ns

SLICES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=12)


@given(SLICES, st.integers(0, 70), st.integers(1, 30))
def test_covered_time_is_counted_once(slices: list[tuple[int, int]], low: int, size: int) -> None:
    start = np.array([s for s, _ in slices], np.int64)
    end = start + np.array([d for _, d in slices], np.int64)
    covered = {t for s, d in slices for t in range(s, s + d) if low <= t < low + size}
    assert union_ns(start, end, low, low + size) == len(covered)


def test_a_line_tells_length_kernels_busy_share_and_idle_by_owner(analysis: Analysis) -> None:
    text = measured(analysis, 0, 0, 1_000_000)
    assert text == "1.000 ms · 3 kernels · busy 55.0 % · idle 450.0 µs: R 300.0 µs, P 100.0 µs"
    assert idle_by_owner(analysis, 0, 0, 1_000_000) == {
        Layer.RUNTIME: 300_000, Layer.PYTORCH: 100_000,
    }  # fmt: skip


def test_a_stretch_without_idle_time_says_none(analysis: Analysis) -> None:
    assert measured(analysis, 0, 300_000, 600_000) == "300.0 µs · 1 kernel · busy 100.0 %"
