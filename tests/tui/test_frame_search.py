"""Rows of a frame are looked up together, wherever they lie, as each would be by itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.bars import paint
from whichlayer.tui.frame_cells import rasterise
from whichlayer.tui.frame_columns import Column, Memory
from whichlayer.tui.frame_search import Grid, Stack
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport


def rows_in_one_memory(counts: list[int], seed: int, burst: int) -> list[Row]:
    """Rows that are stretches of the same columns, as streams of a trace are."""
    rng = np.random.default_rng(seed)
    total = sum(counts)
    pause = rng.integers(0, 50, total) * np.where(rng.random(total) < 1 / burst, burst, 1)
    start, family = np.zeros(total, np.int64), rng.integers(0, 5, total).astype(np.uint8)
    end, rows, first = np.zeros(total, np.int64), [], 0
    for count in counts:
        mine = slice(first, first + count)
        length = rng.integers(0, 20, count)
        start[mine] = np.cumsum(pause[mine] + length) - length
        end[mine] = start[mine] + length
        rows.append(Row(np.arange(count, dtype=np.int32), start[mine], end[mine], family[mine]))
        first += count
    return rows


counts = st.lists(st.integers(1, 400), min_size=1, max_size=7)


@given(counts, st.integers(0, 2**32), st.sampled_from([1, 30, 3000]), st.integers(-99, 9000))
def test_edges_are_found_where_a_search_of_each_row_finds_them(
    counts: list[int], seed: int, burst: int, low: int
) -> None:
    rows = rows_in_one_memory(counts, seed, burst)
    edges = low + np.arange(40, dtype=np.int64) * 13
    begun = Stack(rows).begun(edges)
    assert begun.tolist() == [row.start_ns.searchsorted(edges).tolist() for row in rows]


@given(counts, st.integers(0, 2**32))
def test_rows_of_one_memory_are_one_run_and_look_like_rows_of_their_own(
    counts: list[int], seed: int
) -> None:
    rows = rows_in_one_memory(counts, seed, 30)
    apart = [
        Row(row.slices, np.array(row.start_ns), np.array(row.end_ns), np.array(row.family))
        for row in rows
    ]
    assert len(Stack(rows).start.runs) == 1
    edges = Viewport.over(0, 5000, 60).edges()
    one, other = rasterise(rows, edges), rasterise(apart, edges)
    tones = np.zeros(len(rows), np.uint8)
    assert (one.busy_ns == other.busy_ns).all() and (one.count == other.count).all()
    assert (paint(one, tones)[0].codes == paint(other, tones)[0].codes).all()


def test_a_stack_that_has_drawn_other_spans_draws_as_a_new_one() -> None:
    rows = rows_in_one_memory([300, 7, 250, 90], 5, 30)
    port = Viewport.over(0, 9000, 90)
    stack = Stack(rows)
    for view in (port, port.to(500, 3000), port.to(510, 3010), port.to(4000, 4200), port):
        kept, fresh = rasterise(stack, view.edges()), rasterise(list(rows), view.edges())
        for name in ("busy_ns", "level", "family", "count", "first", "last", "from_left"):
            assert (getattr(kept, name) == getattr(fresh, name)).all(), name


def test_a_column_of_several_memories_is_looked_up_in_each() -> None:
    whole = np.arange(100, 120)
    parts = [whole[0:5], whole[7:20], np.array([7, 8, 9]), whole[::2], whole[3:6]]
    column = Column(parts)
    assert [(run.first, run.stop) for run in column.runs] == [(0, 2), (2, 3), (3, 4), (4, 5)]
    index = np.array([[0, 4], [1, 2], [2, 0], [0, 3], [2, 1]])
    found = [[part[i] for i in at] for part, at in zip(parts, index.tolist(), strict=True)]
    assert column.take(index).tolist() == found
    some = column.take_from(np.array([0, 1, 2, 4]), np.array([0, 1, 1, 0]), np.arange(2))
    assert some.tolist() == [[100, 101], [108, 109], [8, 9], [103, 104]]


def test_memory_takes_in_only_what_nothing_else_holds() -> None:
    memory = Memory(np.int64)
    own, stretch = np.arange(5), np.arange(9)[2:4]
    assert memory.kept(stretch) is stretch
    kept, room = memory.kept(own), memory.room(3)
    assert kept is not own and kept.tolist() == [0, 1, 2, 3, 4]
    assert kept.base is room.base and not np.shares_memory(kept, room)


@given(st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=200))
def test_a_grid_counts_what_begins_before_each_interval(times: list[int]) -> None:
    start = np.sort(np.array(times, np.int64))
    grid = Grid.over(start)
    inner = [grid.begin_ns + (i << grid.shift) for i in range(len(grid.begun) - 3)]
    assert grid.begun[0] == 0 and grid.begun[-1] == len(start)
    assert grid.begun[1:-2].tolist() == [sum(time < t for time in times) for t in inner]
