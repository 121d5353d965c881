from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.recording import ADD, GEMM, LANES, NCCL, Slice, build_trace, step_slices
from whichlayer.analysis.trace.columns import Lane
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.carry import opened
from whichlayer.tui.dealt_rows import most_lines, shown_rows
from whichlayer.tui.document import Document, Extent, open_document
from whichlayer.tui.families import families_of, family_of
from whichlayer.tui.family import Family
from whichlayer.tui.lane_depths import nesting_without
from whichlayer.tui.lane_list import list_lanes
from whichlayer.tui.lanes import FOLDED_ROWS, Fold
from whichlayer.tui.names import short_of
from whichlayer.tui.travel import dealt, down, on_row, on_slice, rows_of, settled
from whichlayer.tui.view import View
from whichlayer.tui.viewport import Viewport


def test_streams_come_first_collectives_apart_then_threads_with_frames_below(
    document: Document,
) -> None:
    assert [lane.title for lane in document.lanes] == [
        "GPU0 s7", "GPU0 s20 comm", "CPU main", "  python", "CPU pt_autograd_0",
    ]  # fmt: skip
    assert [lane.group for lane in document.lanes] == ["gpu", "gpu", "cpu", "python", "cpu"]


def test_every_slice_is_in_exactly_one_row(document: Document) -> None:
    drawn = [
        row
        for lane in document.lanes
        for depth in range(lane.depth)
        for row in lane.row(depth).slices.tolist()
    ]
    assert sorted(drawn) == list(range(len(document.trace)))


def test_operators_nest_without_the_frames_between_them(document: Document) -> None:
    main = document.lanes[2]
    names = [document.names.short(int(row)) for row in main.row(1).slices[:3]]
    assert names == ["enumerate(DataLoader)#_Iter.__next__", "aten::mm", "cudaStreamSynchronize"]
    frames = document.lanes[3]
    assert [document.names.short(int(row)) for row in frames.row(0).slices] == ["<module>"]


def test_plain_outer_frames_are_skipped_while_folded(document: Document) -> None:
    frames = document.lanes[3]
    assert frames.first_row == 1
    assert frames.shown_depths(Fold.SOME, 3)[0] == 1
    assert frames.shown_depths(Fold.ALL, 3)[0] == 0


def test_a_slice_is_found_by_its_row(document: Document) -> None:
    for lane in document.lanes:
        for depth in range(lane.depth):
            for row in lane.row(depth).slices.tolist():
                assert lane.depth_of(row) == depth
    assert document.lanes[0].depth_of(10**6) == -1


def deep_lane(depth: int) -> list[Slice]:
    return [(0, SliceKind.CPU_OP, f"aten::op{i}", i, 1000 - i, i, -1) for i in range(depth)]


def test_folded_lanes_tell_how_many_rows_they_hide() -> None:
    lane = (Lane(1, 2, LaneKind.CPU_THREAD, name="t"),)
    document = open_document(build_trace(deep_lane(12), lane))
    rows = shown_rows(document.lanes, {})
    assert len(rows) == FOLDED_ROWS["cpu"] and rows[-1].hidden == 12 - FOLDED_ROWS["cpu"]
    assert len(shown_rows(document.lanes, {0: Fold.ALL})) == 12
    assert len(shown_rows(document.lanes, {0: Fold.LINE})) == 1


def test_lanes_get_more_rows_where_the_screen_has_room() -> None:
    lane = (Lane(1, 2, LaneKind.CPU_THREAD, name="t"),)
    document = open_document(build_trace(deep_lane(12), lane))
    assert len(shown_rows(document.lanes, {}, lines=9)) == 9
    assert len(shown_rows(document.lanes, {}, lines=40)) == 12
    assert len(shown_rows(document.lanes, {0: Fold.LINE}, lines=40)) == 1


def two_threads() -> Document:
    """Ten calls within each other on one thread early, and on another late."""
    early = deep_lane(10)
    late = [(1, kind, name, start + 5000, end + 5000, depth, c)
            for _, kind, name, start, end, depth, c in early]  # fmt: skip
    lanes = tuple(Lane(1, i, LaneKind.CPU_THREAD, name=f"t{i}") for i in range(2))
    return open_document(build_trace([*early, *late], lanes))


def rows_by_lane(document: Document, view: View) -> list[int]:
    shown = [row.lane for row in rows_of(document, view) if not row.part]
    return [shown.count(lane) for lane in range(len(document.lanes))]


def test_used_rows_are_those_that_reach_into_the_stretch() -> None:
    lane = two_threads().lanes[0]
    for low, high, rows in ((0, 1, 1), (0, 4, 4), (500, 501, 10), (996, 999, 5), (1001, 9999, 0)):
        assert lane.used_rows(low, high) == rows


def test_what_can_be_seen_gets_the_rows_of_what_cannot() -> None:
    document = two_threads()
    view = View(Viewport.over(0, 6000, 100), lines=12)
    assert rows_by_lane(document, settled(document, view)) == [6, 6]
    near = settled(document, replace(view, port=view.port.to(400, 600)))
    assert rows_by_lane(document, near) == [10, 1]
    far = settled(document, replace(near, port=view.port.to(5400, 5600)))
    assert rows_by_lane(document, far) == [1, 10]


def test_rows_that_all_fit_are_all_shown_wherever_one_looks() -> None:
    document = two_threads()
    view = View(Viewport.over(0, 6000, 100), lines=20)
    near = settled(document, replace(view, port=view.port.to(400, 600)))
    assert rows_by_lane(document, near) == [10, 10]


def lines_by_lane(document: Document, view: View) -> list[int]:
    shown = [row.lane for row in rows_of(document, view)]
    return [shown.count(lane) for lane in range(len(document.lanes))]


def test_threads_that_only_wait_get_more_rows_last() -> None:
    def frames(lane: int, copies: int) -> list[Slice]:
        return [
            (lane, SliceKind.PYTHON, ADD, 100 * copy + depth, 100 * copy + 90 - depth, depth, -1)
            for copy in range(copies)
            for depth in range(9)
        ]

    lanes = tuple(Lane(1, i, LaneKind.CPU_THREAD, name=f"t{i}") for i in range(2))
    document = open_document(build_trace([*frames(0, 1), *frames(1, 5)], lanes))
    works = next(i for i, lane in enumerate(document.lanes) if not lane.says_little)
    view = View(Viewport.over(0, 500, 100), lines=12)
    shown = rows_by_lane(document, settled(document, view))
    assert shown[works] == 9 and sum(shown) == 12


def test_rows_are_higher_where_lines_are_left() -> None:
    document = two_threads()
    view = View(Viewport.over(0, 6000, 100))
    for lines in range(20, 160):
        taller = settled(document, replace(view, lines=lines))
        assert rows_by_lane(document, taller) == [10, 10]
        by_lane = lines_by_lane(document, taller)
        assert sum(by_lane) <= lines and by_lane == sorted(by_lane, reverse=True)
    assert by_lane == [60, 60] and most_lines(document.lanes) == 120
    part = replace(document, extent=Extent.READING)
    assert lines_by_lane(part, settled(part, replace(view, lines=150))) == [10, 10]


def test_what_the_user_has_folded_stays_low() -> None:
    document = two_threads()
    folds = {0: Fold.LINE, 1: Fold.ALL}
    view = View(Viewport.over(0, 6000, 100), lines=90, folds=folds)
    assert lines_by_lane(document, settled(document, view)) == [1, 10]


def test_the_cursor_goes_from_row_to_row_however_high_they_are() -> None:
    document = two_threads()
    view = settled(document, View(Viewport.over(0, 6000, 100), lines=60))
    rows = rows_of(document, view)
    assert rows[view.row].parts > 1
    met = [view.row]
    for _ in range(19):
        view = down(document, view, 1)
        met.append(view.row)
    assert [(rows[i].lane, rows[i].depth) for i in met] == [
        (lane, depth) for lane in (0, 1) for depth in range(10)
    ]
    assert down(document, view, 1).row == view.row and down(document, view, -19).row == 0
    assert all(rows[on_row(document, view, line).row].part == 0 for line in range(len(rows)))


def test_rows_stay_where_they_are_while_panning_to_and_fro() -> None:
    document = two_threads()
    view = View(Viewport.over(0, 6000, 100), lines=12)
    view = settled(document, replace(view, port=view.port.to(3000, 4000)))
    rows = [rows_by_lane(document, view)]
    for start in (*range(3000, 4400, 100), *([4300, 4400] * 5)):
        view = settled(document, replace(view, port=view.port.to(start, start + 1000)))
        if rows_by_lane(document, view) != rows[-1]:
            rows.append(rows_by_lane(document, view))
    assert rows == [[1, 1], [1, 10]]


@pytest.mark.parametrize(("lines", "depth"), [(19, 8), (12, 5)])
def test_the_cursor_keeps_its_row_or_the_nearest_there_is_room_for(lines: int, depth: int) -> None:
    document = two_threads()
    view = View(Viewport.over(0, 6000, 100), lines=lines)
    near = replace(settled(document, replace(view, port=view.port.to(400, 600))), row=8)
    away = settled(document, replace(near, port=view.port.to(5400, 5600)))
    row = rows_of(document, away)[away.row]
    assert (row.lane, row.depth) == (0, depth)


@st.composite
def calls_and_frames(draw: st.DrawFn) -> list[Slice]:
    """Nested calls and frames of one thread, some of them crossing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    slices: list[Slice] = []

    def fill(low: int, high: int, depth: int) -> None:
        time = low
        while high - time > 4 and depth < 7 and len(slices) < 60:
            start = time + int(rng.integers(0, 5))
            end = start + int(rng.integers(1, max(high - time, 2)))
            crossing = rng.random() < 0.1
            end = end + 3 if crossing else min(end, high)
            kind = SliceKind.PYTHON if rng.random() < 0.5 else SliceKind.CPU_OP
            slices.append((0, kind, f"{kind.name}{depth}", start, end, depth, -1))
            fill(start, min(end, high), depth + 1)
            time = end

    fill(0, 400, 0)
    return slices


@given(calls_and_frames())
def test_rows_without_frames_never_overlap(slices: list[Slice]) -> None:
    if not slices:
        return
    trace = build_trace(slices, (Lane(1, 2, LaneKind.CPU_THREAD),))
    rows = np.arange(len(trace), dtype=np.int32)
    python = trace.kind == SliceKind.PYTHON
    depth = nesting_without(trace, rows, python)
    for mine in (python, ~python):
        for level in set(depth[mine].tolist()):
            here = np.flatnonzero(mine & (depth == level))
            assert (trace.start_ns[here][1:] >= trace.end_ns[here][:-1]).all()


def test_strays_and_the_recording_itself_are_not_drawn() -> None:
    slices: list[Slice] = [
        (0, SliceKind.PROFILER, "PyTorch Profiler (0)", 0, 10**9, 0, -1),
        (0, SliceKind.CPU_OP, "aten::mm", 10, 20, 1, -1),
        (0, SliceKind.CPU_OP, "aten::far", 10**12, 10**12 + 1, 1, -1),
    ]
    stray = np.array([False, False, True])
    trace = build_trace(slices, (Lane(1, 2, LaneKind.CPU_THREAD),), stray=stray)
    document = open_document(trace)
    assert sum(len(document.lanes[0].row(d)) for d in range(document.lanes[0].depth)) == 1
    assert document.high_ns == 21


def test_a_trace_without_slices_has_no_lanes() -> None:
    document = open_document(build_trace([], ()))
    assert document.lanes == () and document.high_ns > document.low_ns


@pytest.mark.parametrize(
    ("kind", "name", "family"),
    [
        (SliceKind.KERNEL, GEMM, Family.MATMUL),
        (SliceKind.KERNEL, ADD, Family.POINTWISE),
        (SliceKind.KERNEL, NCCL, Family.COLLECTIVE),
        (SliceKind.KERNEL, "whatever", Family.KERNEL),
        (SliceKind.MEMCPY, "Memcpy HtoD (Pageable -> Device)", Family.COPY),
        (SliceKind.RUNTIME, "cudaStreamSynchronize", Family.WAIT),
        (SliceKind.RUNTIME, "cudaLaunchKernel", Family.CALL),
        (SliceKind.RUNTIME, "cudaMemcpyAsync", Family.CALL),
        (SliceKind.ANNOTATION, "enumerate(DataLoader)#_It.__next__", Family.LOADER),
        (SliceKind.CPU_OP, "autograd::engine::evaluate_function: MulBackward0", Family.BACKWARD),
        (SliceKind.PYTHON, "nn.Module: Linear_0", Family.MODULE),
    ],
)
def test_families_are_told_by_kind_and_name(kind: SliceKind, name: str, family: Family) -> None:
    assert family_of(kind, name) == family


def test_families_of_a_trace_are_those_of_its_slices() -> None:
    trace = build_trace()
    codes = families_of(trace)
    for row in range(len(trace)):
        assert codes[row] == family_of(SliceKind(int(trace.kind[row])), trace.name(row))


def test_a_stream_is_a_collectives_lane_by_what_most_of_it_is() -> None:
    slices: list[Slice] = [
        *step_slices(),
        *((0, SliceKind.KERNEL, NCCL, 10**7 + i, 10**7 + i + 1, 0, -1) for i in range(2)),
    ]
    trace = build_trace(slices)
    assert list_lanes(trace, families_of(trace))[0].title == "GPU0 s7"
    assert LANES[0].stream == 7


@pytest.mark.parametrize(
    ("transfers", "transfer_ns", "kernels", "kernel_ns", "title"),
    [
        (100, 10, 0, 0, "GPU0 s7 copy"),
        (100, 10, 5, 1, "GPU0 s7 copy"),
        # Nearly all of the time is a few transfers, and all the work of the model is here.
        (2, 10**6, 100, 100, "GPU0 s7"),
        # Nearly all of the activities are transfers, and all of the time is work.
        (100, 1, 2, 10**4, "GPU0 s7"),
    ],
)
def test_a_stream_is_named_after_transfers_only_by_number_and_by_time(
    transfers: int, transfer_ns: int, kernels: int, kernel_ns: int, title: str
) -> None:
    every = 2 * max(transfer_ns, kernel_ns)
    kinds = [(SliceKind.MEMCPY, "Memcpy HtoD (Pinned -> Device)", transfer_ns)] * transfers
    kinds += [(SliceKind.KERNEL, ADD, kernel_ns)] * kernels
    slices: list[Slice] = [
        (0, kind, name, i * every, i * every + length, 0, -1)
        for i, (kind, name, length) in enumerate(kinds)
    ]
    trace = build_trace(slices)
    assert list_lanes(trace, families_of(trace))[0].title == title


def test_kernels_that_copy_are_work_and_name_no_stream() -> None:
    cat = "void at::native::CatArrayBatchedCopy<float, unsigned int, 2>(float*)"
    slices: list[Slice] = [(0, SliceKind.KERNEL, cat, 10 * i, 10 * i + 5, 0, -1) for i in range(9)]
    trace = build_trace(slices)
    assert list_lanes(trace, families_of(trace))[0].title == "GPU0 s7"


@pytest.mark.parametrize(
    ("kind", "name", "short"),
    [
        (SliceKind.PYTHON, "/a/b/train.py(42): step", "step"),
        (SliceKind.PYTHON, "<built-in method x of y object at 0x7f>", None),
        (SliceKind.PYTHON, "nn.Module: Linear_0", "Linear_0"),
        (SliceKind.CPU_OP, "aten::mm", "aten::mm"),
        (SliceKind.CPU_OP, "evil\x1b[31m\nname", "evil\\x1b[31m name"),
    ],
)
def test_short_names(kind: SliceKind, name: str, short: str | None) -> None:
    assert short_of(kind, name) == (short or name)


def frames(*spans: tuple[int, int], again: tuple[tuple[int, int], ...] = ()) -> Document:
    """A thread of Python frames within each other, from the outermost in, and short ones inside."""
    slices: list[Slice] = [
        (0, SliceKind.PYTHON, f"a.py({i}): f{i}", low, high, i, -1)
        for i, (low, high) in enumerate(spans)
    ]
    slices += [
        (0, SliceKind.PYTHON, f"a.py({i}): f{i}", low + i, high - i, i, -1)
        for low, high in again
        for i in range(len(spans))
    ]
    low, high = spans[-1]
    step = (high - low) // 8
    slices += [
        (
            0,
            SliceKind.PYTHON,
            "b.py(1): g",
            low + i * step,
            low + (i + 1) * step - 1,
            len(spans),
            -1,
        )
        for i in range(8)
    ]
    return open_document(build_trace(slices, (Lane(1, 2, LaneKind.CPU_THREAD, name="t"),)))


def depths(document: Document, view: View) -> list[int]:
    return [row.depth for row in rows_of(document, view) if not row.part]


def test_of_frames_that_fill_the_view_the_innermost_is_shown_alone() -> None:
    document = frames((0, 10_000), (0, 10_000), (100, 9_900), (1_000, 5_000))
    lane = document.lanes[0]
    assert lane.outer_rows(0, 10_000) == max(2 - lane.first_row, 0)
    assert lane.outer_rows(2_000, 4_000) == max(3 - lane.first_row, 0)
    whole = settled(document, replace(opened(document, 100), lines=9))
    assert depths(document, whole)[-1] == 4
    waits = frames((0, 10_000), (0, 10_000), (0, 10_000)).lanes[0]
    assert waits.outer_rows(4_000, 4_100) + waits.first_row <= 3


def test_outer_frames_can_still_be_gone_to_and_unfolded() -> None:
    spans = [(i, 90_000 - i) for i in range(6)]
    document = frames(*spans, again=((91_000, 92_000), (93_000, 94_000)))
    view = settled(document, replace(opened(document, 100), lines=12))
    # The row that the cursor is on stays.
    assert depths(document, settled(document, view.showing(30_000, 30_100)))[0] == 0
    view = dealt(document, view.showing(30_000, 30_100), None)
    lane = document.lanes[0]
    hidden = lane.first_row + lane.outer_rows(30_000, 30_100)
    assert lane.first_row == 0 and min(depths(document, view)) == hidden > 2
    gone = on_slice(document, view, int(lane.row(2).slices[0]))
    assert rows_of(document, gone)[gone.row].depth == 2
    assert min(depths(document, gone)) == 2
    unfolded = replace(view, folds={0: Fold.ALL})
    assert depths(document, unfolded) == list(range(lane.depth))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(0, 9_000),
       st.integers(1, 9_000), st.integers(1, 20))  # fmt: skip
def test_whatever_is_left_out_is_counted(cuts: list[int], low: int, span: int, lines: int) -> None:
    spans, at = [], 0
    for cut in cuts:
        at += cut
        spans.append((at, 10_000 - at))
    document = frames(*spans)
    view = settled(document, replace(opened(document, 50), lines=lines))
    view = settled(document, view.showing(low, low + span))
    rows = [row for row in rows_of(document, view) if not row.part]
    assert (
        rows
        and len(rows) + sum(row.hidden for row in rows_of(document, view))
        == document.lanes[0].depth
    )
