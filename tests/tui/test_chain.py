from __future__ import annotations

import numpy as np

from tests.tui.recording import GEMM
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.chain import Launched, chain_of
from whichlayer.tui.chain_marks import JOINED, UNDERLINED, LineMarks, chain_marks, laid
from whichlayer.tui.describe_queue import chain_lines, queue_lines
from whichlayer.tui.document import Document
from whichlayer.tui.frame_runs import Painted
from whichlayer.tui.palette import BLANK, bar_code, lit_code
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport


def rows_named(trace: Trace, name: str) -> list[int]:
    return [row for row in range(len(trace)) if trace.name(row) == name]


def test_a_kernel_leads_to_launch_operator_and_python_line(trace: Trace) -> None:
    kernel = rows_named(trace, GEMM)[0]
    chain = chain_of(trace, Launched(trace), kernel)
    assert [link.word for link in chain.links] == ["kernel", "launch", "operator", "python"]
    assert trace.name(chain.links[2].row) == "aten::mm"
    assert trace.name(chain.links[3].row).startswith("train.py(42)")
    assert chain.at == 0 and chain.foot == kernel
    above = chain.beside(1)
    assert above is not None and above.word == "launch"
    assert chain.beside(-1) is None


def test_an_operator_leads_down_to_the_work_that_the_user_came_from(trace: Trace) -> None:
    launched = Launched(trace)
    frame = rows_named(trace, "train.py(42): train [bold]")[0]
    first, second = (int(row) for row in launched.inside(frame))
    assert chain_of(trace, launched, frame).foot == first
    assert chain_of(trace, launched, frame, foot=second).foot == second
    elsewhere = int(launched.inside(rows_named(trace, "train.py(42): train [bold]")[1])[0])
    assert chain_of(trace, launched, frame, foot=elsewhere).foot == first


def test_what_a_slice_started_is_what_was_launched_inside_it(trace: Trace) -> None:
    launched = Launched(trace)
    for row in np.flatnonzero(trace.kind != SliceKind.KERNEL).tolist():
        mine = [
            work
            for work in np.flatnonzero(trace.launch >= 0).tolist()
            if trace.lane_id[trace.launch[work]] == trace.lane_id[row]
            and trace.start_ns[row] <= trace.start_ns[trace.launch[work]] < trace.end_ns[row]
        ]
        assert sorted(launched.inside(row).tolist()) == mine


def test_a_slice_that_started_nothing_still_leads_up(trace: Trace) -> None:
    sync = rows_named(trace, "cudaStreamSynchronize")[0]
    chain = chain_of(trace, Launched(trace), sync)
    assert [link.word for link in chain.links] == ["call", "python"]
    assert chain.foot == -1 and not len(chain.started)


def test_the_queue_is_told_with_the_launch(document: Document) -> None:
    kernel = rows_named(document.trace, GEMM)[0]
    (line,) = queue_lines(document, kernel)
    assert line.label == "queue" and "empty" in line.text
    (told,) = chain_lines(document, kernel)
    assert "cudaLaunchKernel ‹ aten::mm ‹ train.py(42)" in told.text


def test_launch_and_work_are_joined_through_empty_cells_alone() -> None:
    port = Viewport.over(0, 10, 10)
    ones = np.array([0], np.uint8)

    def row(slice_row: int, start: int, end: int) -> Row:
        return Row(np.array([slice_row], np.int32), np.array([start]), np.array([end]), ones)

    from whichlayer.tui.chain import Chain, Link

    chain = Chain((Link("kernel", 5), Link("launch", 9)), 0, np.empty(0, np.int32))
    lines = [(0, row(5, 6, 8)), (1, row(7, 0, 1)), (2, row(9, 1, 3))]
    marks = chain_marks(chain, lines, port, here=5)
    assert marks[1].joins == {6: "┊"}
    assert marks[2].joins == {3: "┈", 4: "┈", 5: "┈", 6: "┘"}
    cells = marks[2].cells
    assert cells is not None and cells.nonzero()[0].tolist() == [1, 2]
    assert 0 not in marks  # the cursor is on it
    body = bar_code(0, 0)
    painted = Painted(np.full(10, ord(" "), np.uint32), np.full(10, BLANK))
    painted.codes[4:6] = body
    drawn = laid(painted, LineMarks(np.arange(10) == 4, {5: "┈", 7: "┈"}))
    assert drawn.codes[4] == lit_code(0) + UNDERLINED
    assert drawn.codes[5] == body and drawn.glyphs[7] == ord("┈")
    assert drawn.codes[7] == BLANK + JOINED
