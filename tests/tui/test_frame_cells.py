"""All rows of a frame worked out together show what each shows by itself, taken slice by slice."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tui.plain_rows import Slices, row_of, union
from whichlayer.tui import frame_families, raster
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.frame_cells import FULL, Cells, rasterise
from whichlayer.tui.viewport import Viewport


@st.composite
def traces(draw: st.DrawFn) -> list[Slices]:
    """Rows of slices by (start, end, family): sparse, crowded, touching, empty or overlapping."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows: list[Slices] = []
    for _ in range(draw(st.integers(1, 6))):
        count = int(rng.choice([0, 1, 7, 60, 900]))
        length = rng.integers(0, int(rng.choice([1, 9, 300])) + 1, count)
        pause = rng.integers(0, int(rng.choice([0, 5, 400])) + 1, count)
        start = int(rng.integers(0, 2000)) + np.cumsum(length + pause) - length
        if rng.random() < 0.25:
            length = length + rng.integers(0, 200, count)
        family = rng.integers(0, int(rng.choice([1, 2, 12])), count)
        rows.append(list(zip(start.tolist(), (start + length).tolist(), family.tolist(),
                             strict=True)))  # fmt: skip
    return rows


ports = st.builds(
    lambda low, length, cells: Viewport.over(0, 1_000_000, cells).to(low, low + length),
    st.integers(0, 3000),
    st.one_of(st.integers(1, 300), st.integers(1, 90_000)),
    st.integers(1, 50),
)


def check_cell(slices: Slices, cells: Cells, cell: int, low: int, high: int) -> None:
    """Hold one cell of a row to what its slices say."""
    starting = [i for i, (start, _, _) in enumerate(slices) if low <= start < high]
    across = [i for i, (start, end, _) in enumerate(slices) if start < low < end]
    busy = union(slices, low, high)
    assert cells.busy_ns[cell] == busy
    assert cells.count[cell] == len(starting) + bool(across)
    assert cells.from_left[cell] == bool(across)
    inside = [*across, *starting]
    assert cells.level[cell] == max(int(busy / (high - low) * FULL + 0.5), bool(inside))
    if not inside:
        assert cells.first[cell] == cells.last[cell] == -1
        return
    assert cells.last[cell] == (starting[-1] if starting else cells.first[cell])
    assert cells.first[cell] in across if across else cells.first[cell] == starting[0]
    families = {slices[i][2] for i in inside}
    times = {family: union([s for s in slices if s[2] == family], low, high) for family in families}
    found = int(cells.family[cell])
    if cells.count[cell] > 1 and max(times.values()) > 0:
        assert found == min(f for f in times if times[f] == max(times.values()))
    else:
        assert found in families


@settings(max_examples=60)
@given(traces(), ports, st.sampled_from([0, 6, 10**6]), st.sampled_from([1, 100, 10**6]))
def test_rows_together_show_what_each_slice_says(
    trace: list[Slices], port: Viewport, few: int, long: int
) -> None:
    # Families by blocks, both ways, or one by one; all rows, some or none searched by signposts.
    with patch.object(frame_families, "_FEW", few), patch.object(raster, "_LONG", long):
        cells = rasterise([row_of(slices) for slices in trace], port.edges())
    edges = port.edges().tolist()
    for y, slices in enumerate(trace):
        for cell, (low, high) in enumerate(pairwise(edges)):
            check_cell(slices, cells.row(y), cell, low, high)


@given(traces(), ports)
def test_busy_cells_add_up_to_the_busy_time(trace: list[Slices], port: Viewport) -> None:
    cells = rasterise([row_of(slices) for slices in trace], port.edges())
    for y, slices in enumerate(trace):
        assert int(cells.busy_ns[y].sum()) == union(slices, port.start_ns, port.end_ns)


def test_counters_keep_their_own_cells_among_rows() -> None:
    time = np.array([0, 40, 80], np.int64)
    counter = CounterRow(time, np.array([1.0, 8.0, 4.0]), 100)
    edges = Viewport.over(0, 100, 10).edges()
    cells = rasterise([row_of([(0, 50, 1)]), counter], edges)
    assert (
        cells.level[1].tolist()
        == counter.cells(edges).level.tolist()
        == [1] * 4 + [8] * 4 + [4] * 2
    )
    assert cells.level[0].tolist() == [8] * 5 + [0] * 5


def test_times_too_long_for_a_float_keep_their_family() -> None:
    year = 365 * 86_400 * 10**9
    row = row_of([(0, 1, 3), (1, 40 * year, 5), (40 * year, 40 * year + 9, 3)])
    cells = rasterise([row], np.array([0, 50 * year], np.int64))
    assert cells.family[0].tolist() == [5] and cells.count[0].tolist() == [3]
