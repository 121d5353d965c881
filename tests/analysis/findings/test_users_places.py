"""The place of a slice in the user's code, however long its frames are and whoever asked before."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.results import Where
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

DEEP = "/".join(["folder"] * 400)  # longer than what is remembered of a frame


def place(trace: Trace, *roots: str) -> Where:
    (row,) = (trace.kind == SliceKind.CPU_OP).nonzero()[0].tolist()
    return where_of(trace, row, roots)


def inside(folder: Path, *frames: str) -> Trace:
    """An operator inside of frames, the outermost first."""
    program = Program()
    for depth, frame in enumerate(frames):
        program.frame(frame, 10.0 + depth, 100.0 - 2 * depth)
    program.operator("aten::mul", 50.0, 5.0)
    return program.trace(folder)


@pytest.mark.parametrize("file", ["train.py", f"{DEEP}/train.py"])
def test_the_innermost_frame_of_the_user_is_the_place(tmp_path: Path, file: str) -> None:
    trace = inside(
        tmp_path,
        "main.py(1): <module>",
        f"{file}(42): step",
        "torch/nn/functional.py(7): mul",
        "<string>(1): f",
    )
    for _ in range(2):
        found = place(trace)
        assert (found.file, found.line) == (file, 42)


@pytest.mark.parametrize("folder", ["/home/me", f"/home/me/{DEEP}"])
def test_whose_a_file_is_hangs_on_the_roots_of_this_question_alone(
    tmp_path: Path, folder: str
) -> None:
    trace = inside(tmp_path, f"{folder}/app/main.py(3): run", f"{folder}/lib/helper.py(8): help")
    asked = [(), (f"{folder}/app",), (), (f"{folder}/lib", f"{folder}/app")]
    assert [place(trace, *roots).line for roots in asked] == [8, 3, 8, 8]


def test_a_line_number_without_an_end_is_no_place(tmp_path: Path) -> None:
    trace = inside(tmp_path, f"train.py({'9' * 5_000}): step")
    assert place(trace).file is None


def test_the_three_innermost_modules_and_operators_are_told(tmp_path: Path) -> None:
    program = Program()
    modules = ["Model_0", "Block_1", "Attention_2", "Linear_3"]
    for depth, name in enumerate(modules):
        program.frame(f"nn.Module: {name}", 10.0 + 4 * depth, 100.0 - 8 * depth)
        program.annotation(f"region {depth}", 12.0 + 4 * depth, 96.0 - 8 * depth)
    program.operator("aten::mul", 50.0, 5.0)
    found = place(program.trace(tmp_path))
    assert found.module == "Block_1.Attention_2.Linear_3"
    assert found.operator == "region 2 > region 3 > aten::mul"
