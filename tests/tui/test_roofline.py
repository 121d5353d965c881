"""Where groups lie under which roofs, and how that is drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Analysis
from whichlayer.tui.roofline import Roofline, Scale, prefixed, roofline_of, scale_of
from whichlayer.tui.roofline_picture import Ink, Picture, draw

SIZES = [(78, 16), (118, 34), (198, 44)]


@pytest.fixture
def with_flops(analysis: Analysis) -> Analysis:
    """A product of 1 GFLOP and 10 MB in 67 µs, an addition of 30 MB, and a collective."""
    gemm, add, nccl = analysis.kernels
    gemm = replace(gemm, flops=10**9, bytes=10**7, gbps=149.0, tflops=14.9, precision="fp32")
    add = replace(add, bytes=3 * 10**7, gbps=910.0)
    nccl = replace(nccl, why="communication: its cost is the gap it leaves", bytes=8, gbps=1.0)
    return replace(
        analysis, kernels=(gemm, add, nccl), options=Options(device_model="A100 SXM4 80")
    )


@pytest.fixture
def roofline(with_flops: Analysis) -> Roofline:
    return roofline_of(with_flops, 0, None)


def texts(picture: Picture) -> list[str]:
    return ["".join(text for text, _ in line) for line in picture.lines]


def test_groups_lie_at_their_intensity_or_their_size(roofline: Roofline) -> None:
    (gemm,), (add,) = roofline.compute, roofline.memory
    assert (gemm.x, gemm.y) == (100.0, 14.9e12)
    assert (add.x, add.y) == (3e7, 910e9)
    assert [point.row.index for point in roofline.points] == [0, 1]
    assert sum(point.share for point in roofline.points) < 1


def test_roofs_are_those_of_the_precisions_in_use(roofline: Roofline) -> None:
    assert [(roof.name, roof.level) for roof in roofline.roofs] == [("fp32", 19.5e12)]
    assert roofline.bandwidth == pytest.approx(2.039e12, rel=0.01)
    assert roofline.note == ""


def test_what_has_no_figures_or_is_no_kernel_is_counted_apart(with_flops: Analysis) -> None:
    gemm, add, nccl = with_flops.kernels
    bare = replace(with_flops, kernels=(gemm, replace(add, bytes=None, gbps=None), nccl))
    found = roofline_of(bare, 0, None)
    assert found.memory == ()
    assert found.unplaced_ns == add.total_ns + nccl.total_ns
    assert found.total_ns == sum(group.total_ns for group in bare.kernels)


def test_a_selection_shows_only_what_runs_in_it(with_flops: Analysis) -> None:
    found = roofline_of(with_flops, 0, (300_000, 600_000))
    assert [point.row.index for point in found.points] == [0]
    assert found.points[0].share == 1.0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_picture_fills_its_size_and_names_its_axes_and_roofs(
    roofline: Roofline, size: tuple[int, int], ascii_only: bool
) -> None:
    lines = texts(draw(roofline, *size, 0, ascii_only))
    assert [len(line) for line in lines] == [size[0]] * size[1]
    whole = "\n".join(lines)
    for word in ("FLOP per byte", "bytes per call", "fp32 19.5TFLOP/s", "memory 2.04TB/s"):
        assert word in whole
    assert whole.isascii() == ascii_only


@pytest.mark.parametrize("size", SIZES)
def test_the_chosen_point_is_marked_on_both_axes_without_colour(
    roofline: Roofline, size: tuple[int, int]
) -> None:
    for chosen in (0, 1):
        lines = texts(draw(roofline, *size, chosen))
        assert sum(line.count("▶") for line in lines) == 1
        assert sum(line.count("▲") for line in lines) == 1
    assert "▶" not in "".join(texts(draw(roofline, *size, None)))


def test_points_are_drawn_where_they_are_said_to_be(roofline: Roofline) -> None:
    picture = draw(roofline, 118, 34, None)
    assert len(picture.placed) == 2
    for one in picture.placed:
        at, inks = 0, {}
        for text, ink in picture.lines[one.row]:
            inks.update(dict.fromkeys(range(at, at + len(text)), ink))
            at += len(text)
        assert inks[one.cell] >= 10  # the ink of an owner, not of the frame


def test_a_faster_group_is_drawn_higher(with_flops: Analysis) -> None:
    rows = []
    for rate in (1.0, 4.0, 14.9):
        gemm = replace(with_flops.kernels[0], tflops=rate)
        other = replace(with_flops.kernels[0], tflops=0.5)
        analysis = replace(with_flops, kernels=(gemm, other, with_flops.kernels[2]))
        picture = draw(roofline_of(analysis, 0, None), 100, 40, None)
        rows.append(next(one.row for one in picture.placed if one.point.row.index == 0))
    assert rows == sorted(rows, reverse=True) and len(set(rows)) == 3


@given(st.integers(0, 60), st.integers(0, 30), st.booleans())
def test_no_size_is_too_small(cells: int, rows: int, ascii_only: bool) -> None:
    empty = Roofline((), (), (), None, 0, 0, "", "no peaks")
    lines = texts(draw(empty, cells, rows, None, ascii_only))
    assert [len(line) for line in lines] == [cells] * rows


@given(st.lists(st.floats(1e-9, 1e18), max_size=6), st.integers(2, 300))
def test_every_value_has_a_dot_and_larger_ones_are_further(values: list[float], dots: int) -> None:
    scale = scale_of(values, [], dots)
    places = [scale.place(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place < dots for place in places)
    assert all(scale.low <= tick * 1.0001 and tick <= scale.high * 1.0001 for tick in scale.ticks())
    assert len(scale.ticks()) >= 2


def test_a_dot_stands_for_its_value() -> None:
    scale = Scale(1.0, 1000.0, 301)
    assert [scale.place(value) for value in (0.1, 1, 10, 100, 1000, 1e9)] == [
        0, 0, 100, 200, 300, 300,
    ]  # fmt: skip
    assert scale.value(200) == pytest.approx(100)


def test_values_are_short() -> None:
    assert [prefixed(value) for value in (0.1, 1, 999, 1e3, 3.35e12, 989.4e12, 1e15)] == [
        "0.1", "1", "999", "1k", "3.35T", "989T", "1P",
    ]  # fmt: skip


def test_roofs_join_where_compute_meets_memory(roofline: Roofline) -> None:
    """Left of the ridge the slope limits, right of it the rate: no roof lies above the other."""
    picture = draw(replace(roofline, memory=()), 118, 34, None)
    roof_rows = []
    for cell in range(8, 116):
        column = []
        for row, line in enumerate(picture.lines):
            at = 0
            for text, ink in line:
                if at <= cell < at + len(text) and ink == Ink.ROOF:
                    column.append(row)
                at += len(text)
        roof_rows.append(column)
    found = [min(column) for column in roof_rows if column]
    assert found == sorted(found, reverse=True)
