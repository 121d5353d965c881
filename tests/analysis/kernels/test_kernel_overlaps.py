"""Every instant is owned once, and units that hide each other are judged together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.overlaps import find_clusters, owned_times

SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 30)), max_size=24)


def columns(spans: list[tuple[int, int, int]]) -> tuple[list[tuple[int, int, int]], np.ndarray]:
    ordered = sorted((device, start, start + length) for device, start, length in spans)
    return ordered, np.array(ordered, np.int64).reshape(-1, 3)


@given(spans=SPANS)
def test_each_instant_belongs_to_the_one_that_started_first(
    spans: list[tuple[int, int, int]],
) -> None:
    ordered, table = columns(spans)
    owned, cover = owned_times(table[:, 0].astype(np.int32), table[:, 1], table[:, 2])
    expected = [0] * len(ordered)
    for device in range(3):
        for instant in range(100):
            for index, (where, start, end) in enumerate(ordered):
                if where == device and start <= instant < end:
                    expected[index] += 1
                    break
    assert owned.tolist() == expected
    for index, (device, start, _) in enumerate(ordered):
        running = [at for at in range(index) if ordered[at][0] == device and ordered[at][2] > start]
        assert (cover[index] >= 0) == bool(running)
        if running:
            assert ordered[int(cover[index])][2] > start


@given(spans=SPANS, seed=st.integers(0, 5))
def test_clusters_are_the_connected_units(spans: list[tuple[int, int, int]], seed: int) -> None:
    ordered, table = columns(spans)
    owned, cover = owned_times(table[:, 0].astype(np.int32), table[:, 1], table[:, 2])
    unit = np.arange(len(ordered), dtype=np.int64) // (1 + seed % 3)
    duration = table[:, 2] - table[:, 1]
    found = find_clusters(unit, owned, duration, cover)
    parent = {int(one): int(one) for one in unit}

    def root(one: int) -> int:
        while parent[one] != one:
            one = parent[one]
        return one

    for index in range(len(ordered)):
        if cover[index] >= 0 and owned[index] < 0.5 * duration[index]:
            one, two = root(int(unit[index])), root(int(unit[cover[index]]))
            parent[max(one, two)] = min(one, two)
    assert found.tolist() == [root(one) for one in range(len(found))]
