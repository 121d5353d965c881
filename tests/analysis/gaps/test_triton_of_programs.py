"""Triton kernels of the program's own, compiled and tried out in a step."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program, gap_time


def trying(*frames: str) -> Program:
    """Frames around a trial launch and the wait for it."""
    program = Program()
    program.kernel("before", 10, 20, (0, 5))
    for depth, name in enumerate(frames):
        program.frame(name, 40 + depth, 8000 - 2 * depth)
    program.kernel("trial", 3010, 200, (3000, 5))
    program.call("cudaDeviceSynchronize", 3010, 4000)
    program.kernel("next", 8066, 100, (8060, 5))
    return program


@pytest.mark.parametrize(
    "frame",
    [
        "triton/runtime/autotuner.py(142): _bench",
        "triton/testing.py(105): do_bench",
        "triton/compiler/compiler.py(226): compile",
    ],
)
def test_autotuning_and_compiling_load_code_with_all_that_they_wait_for(
    tmp_path: Path, frame: str
) -> None:
    told = gap_time(trying("model.py(9): forward", frame).analysis(tmp_path))
    assert told["module-load"] == pytest.approx(7800, abs=80)
    assert "host-sync" not in told


def test_what_torch_compile_tries_out_is_its_own(tmp_path: Path) -> None:
    compiler = "torch/_dynamo/convert_frame.py(1130): _compile"
    frames = ("model.py(9): forward", compiler, "triton/compiler/compiler.py(226): compile")
    told = gap_time(trying(*frames).analysis(tmp_path))
    assert "recompile" in told and "module-load" not in told


def test_the_look_up_of_a_tuned_kernel_is_dispatch_or_python(tmp_path: Path) -> None:
    told = gap_time(trying("triton/runtime/autotuner.py(176): run").analysis(tmp_path))
    assert "module-load" not in told and "host-sync" in told
