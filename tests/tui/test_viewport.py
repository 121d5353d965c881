from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.viewport import Viewport

FAR = 2**62

lows = st.integers(-FAR, FAR)
cell_counts = st.integers(1, 400)


@st.composite
def viewports(draw: st.DrawFn) -> Viewport:
    """A viewport somewhere within its limits, of any size."""
    low = draw(st.integers(-(2**61), 2**61))
    length = draw(st.one_of(st.integers(1, 1000), st.integers(1, 2**61)))
    cells = draw(cell_counts)
    whole = Viewport.over(low, low + length, cells)
    span = draw(st.integers(1, max(whole.high_ns - whole.low_ns, 1)))
    start = draw(st.integers(whole.low_ns, whole.high_ns))
    return whole.to(start, start + span)


@given(viewports())
def test_edges_are_strictly_increasing_and_cover_the_span(port: Viewport) -> None:
    edges = port.edges()
    assert edges.dtype == np.int64
    assert edges[0] == port.start_ns and edges[-1] == port.end_ns
    assert (np.diff(edges) > 0).all()


@given(viewports())
def test_edges_of_the_row_are_the_edges_of_its_cells(port: Viewport) -> None:
    assert port.edges().tolist() == [port.edge(cell) for cell in range(port.cells + 1)]


@given(viewports(), st.data())
def test_every_instant_of_a_cell_maps_back_to_it(port: Viewport, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, port.cells - 1))
    low, high = port.edge(cell), port.edge(cell + 1)
    time = data.draw(st.integers(low, high - 1))
    assert port.cell_of(time) == port.cell_of(low) == port.cell_of(high - 1) == cell
    assert low <= port.centre(cell) < high


@given(viewports(), st.integers(-(2**62), 2**62))
def test_an_instant_is_in_a_cell_exactly_if_it_is_shown(port: Viewport, time: int) -> None:
    assert port.shows(time) == (0 <= port.cell_of(time) < port.cells)


@given(viewports(), st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
def test_no_move_leaves_the_limits_or_makes_a_cell_empty(
    port: Viewport, start: int, end: int
) -> None:
    moved = port.to(min(start, end), max(start, end))
    assert moved.low_ns <= moved.start_ns < moved.end_ns <= moved.high_ns
    assert moved.span_ns >= moved.cells


@given(viewports(), st.floats(0.01, 100), st.data())
def test_zoom_keeps_what_is_under_the_pointer(
    port: Viewport, factor: float, data: st.DataObject
) -> None:
    cell = data.draw(st.integers(0, port.cells - 1))
    about = port.centre(cell)
    zoomed = port.zoomed(factor, about)
    held = zoomed.low_ns < zoomed.start_ns and zoomed.end_ns < zoomed.high_ns
    if held:
        assert abs(zoomed.cell_of(about) - cell) <= 1
    assert zoomed.shows(about)


def test_zooming_in_and_out_again_comes_back() -> None:
    port = Viewport.over(0, 1_000_000, 100).to(200_000, 600_000)
    assert port.zoomed(0.5, 400_000).zoomed(2, 400_000) == port


@given(viewports(), st.integers(1, 50))
def test_pan_moves_whole_columns_and_keeps_the_length(port: Viewport, cells: int) -> None:
    panned = port.panned(cells)
    assert panned.span_ns == port.span_ns
    assert panned.start_ns >= port.start_ns
    if panned.end_ns < panned.high_ns:
        assert panned.start_ns == port.start_ns + int(cells * port.span_ns / port.cells)


def test_a_pan_of_less_than_a_nanosecond_still_moves() -> None:
    port = Viewport.over(0, 1000, 10).to(100, 110)
    assert port.panned(0.3).start_ns == 101
    assert port.panned(-0.3).start_ns == 99


@given(viewports(), cell_counts)
def test_other_cells_keep_the_span_where_it_is_wide_enough(port: Viewport, cells: int) -> None:
    resized = port.with_cells(cells)
    assert resized.cells == cells and resized.span_ns >= cells
    if port.span_ns >= cells:
        assert (resized.start_ns, resized.end_ns) == (port.start_ns, port.end_ns)


def test_a_recording_shorter_than_the_row_gets_a_nanosecond_a_cell() -> None:
    port = Viewport.over(5, 6, 80)
    assert (port.start_ns, port.end_ns) == (5, 85)
    assert port.fitted() == port


@given(viewports(), st.data())
def test_including_brings_an_instant_into_sight_without_zoom(
    port: Viewport, data: st.DataObject
) -> None:
    time = data.draw(st.integers(port.low_ns, port.high_ns - 1))
    shown = port.including(time)
    assert shown.shows(time) and shown.span_ns == port.span_ns


def test_including_leaves_the_span_alone_while_it_can() -> None:
    port = Viewport.over(0, 10_000, 100).to(2000, 3000)
    assert port.including(2500) is port
    assert port.including(2950).end_ns > 3000


def test_around_puts_a_stretch_in_the_middle() -> None:
    port = Viewport.over(0, 1_000_000, 100).around(500_000, 510_000, 0.25)
    assert (port.start_ns, port.end_ns) == (485_000, 525_000)
