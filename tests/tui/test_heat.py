from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.heat_rows import HeatRows
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Gaps
from whichlayer.tui.document import Document
from whichlayer.tui.heat import SLICES, DeviceGaps, HeatRow, equal_rows, heat_of, heat_rows


@st.composite
def tables(draw: st.DrawFn) -> Gaps:
    starts, ends, time = [], [], 0
    for _ in range(draw(st.integers(0, 30))):
        time += draw(st.integers(0, 50))
        starts.append(time)
        time += draw(st.integers(1, 200))
        ends.append(time)
    count = len(starts)
    zero, none = np.zeros(count, np.int32), np.full(count, -1, np.int32)
    flat = np.zeros(count, np.uint8)
    return Gaps(
        np.array(starts, np.int64), np.array(ends, np.int64), zero, flat, zero, flat, none, none,
        none, ("host-sync",),
    )  # fmt: skip


@given(tables(), st.integers(0, 3000), st.integers(1, 3000))
def test_the_largest_gap_of_a_cell_has_the_most_time_in_it(
    table: Gaps, low: int, length: int
) -> None:
    gaps = DeviceGaps(table, 0)
    place = int(gaps.largest(np.array([low]), np.array([low + length]))[0])
    inside = [
        min(end, low + length) - max(start, low)
        for start, end in zip(table.start_ns.tolist(), table.end_ns.tolist(), strict=True)
    ]
    if max(inside, default=0) <= 0:
        assert place == -1
    else:
        assert inside[place] == max(inside)


@given(tables(), st.integers(0, 6000))
def test_the_gap_at_an_instant_covers_it(table: Gaps, time: int) -> None:
    place = DeviceGaps(table, 0).at(time)
    covering = np.flatnonzero((table.start_ns <= time) & (table.end_ns > time)).tolist()
    assert covering == ([place] if place >= 0 else [])


def rows_of(
    document: Document, kind: HeatRows = HeatRows.STEPS, span: tuple[int, int] | None = None
) -> list[HeatRow]:
    assert document.analysis is not None
    return heat_rows(document.analysis, kind, 0, document.steps[0], span)


def test_rows_are_the_steps_of_the_device(document: Document) -> None:
    rows = rows_of(document)
    assert [row.label for row in rows] == ["step 1", "step 2", "step 3"]
    assert rows[0].start_ns == 0 and rows[0].end_ns == rows[1].start_ns


def test_without_steps_rows_are_equal_parts_that_touch() -> None:
    rows = equal_rows(7, 1_000_007)
    assert len(rows) == SLICES
    assert rows[0].start_ns == 7 and rows[-1].end_ns == 1_000_007
    assert all(a.end_ns == b.start_ns for a, b in pairwise(rows))


def test_a_selection_within_a_step_is_cut_in_parts(document: Document) -> None:
    rows = rows_of(document, span=(100_000, 200_000))
    assert (rows[0].start_ns, rows[-1].end_ns) == (100_000, 200_000)
    several = rows_of(document, span=(500_000, 2_500_000))
    assert [row.label for row in several] == ["step 1", "step 2", "step 3"]


def test_rows_can_be_streams_and_devices_of_the_window_or_of_a_selection(
    document: Document,
) -> None:
    assert document.analysis is not None
    window = document.analysis.window
    streams = rows_of(document, HeatRows.STREAMS)
    assert streams and all(row.label.startswith("stream ") for row in streams)
    assert {(row.start_ns, row.end_ns) for row in streams} == {(window.start_ns, window.end_ns)}
    devices = rows_of(document, HeatRows.DEVICES, (100_000, 200_000))
    assert len(devices) == len(document.analysis.devices)
    assert (devices[0].start_ns, devices[0].end_ns) == (100_000, 200_000)


def test_cells_tell_idle_share_and_owner(document: Document) -> None:
    assert document.analysis is not None
    rows = [HeatRow("a", 0, 1_000_000), HeatRow("b", 1_000_000, 1_500_000)]
    heat = heat_of(document.analysis, rows, 10, document.gaps)
    assert heat.idle[0].tolist() == [1, 1, 1, 0, 0, 0, 1, 0, 0.5, 0.5]
    assert heat.share[0] == 0.5
    assert [Layer(code) for code in heat.layer[0, [0, 6, 8]]] == [
        Layer.RUNTIME, Layer.PYTORCH, Layer.RUNTIME,
    ]  # fmt: skip
    assert heat.inside[1].tolist() == [True] * 5 + [False] * 5
    assert heat.largest[0, 6] == 1 and heat.largest[0, 4] == -1


def test_of_a_step_that_a_selection_cuts_the_part_in_it_counts(document: Document) -> None:
    span = (500_000, 2_500_000)
    rows = rows_of(document, span=span)
    assert (rows[0].start_ns, rows[-1].end_ns) == span
    assert document.analysis is not None
    low, high = rows[0].start_ns, rows[0].end_ns
    gaps = document.analysis.gaps
    inside = np.minimum(gaps.end_ns, high) - np.maximum(gaps.start_ns, low)
    idle = int(np.maximum(inside[gaps.device == 0], 0).sum())
    heat = heat_of(document.analysis, rows, 40, document.gaps)
    assert float(heat.share[0]) == idle / (high - low)
