"""What only a first call takes is loading; a call held too long is unknown, never dispatch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program, gap_time
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.results import Analysis, GapText

GENERATED = "/tmp/torchinductor_root/ab/cab" + "x" * 49 + ".py"


def longest(analysis: Analysis) -> GapText:
    gaps = analysis.gaps
    return explain_gap(analysis, int((gaps.end_ns - gaps.start_ns).argmax()))


def with_operator(length: int, *, earlier: int) -> Program:
    """A long operator that launches at its end, after some short calls of it."""
    program = Program()
    program.kernel("first", 10, 10, (0, 5))
    for n in range(earlier):
        program.operator("aten::cudnn_convolution", 100 + 30 * n, 20)
        program.kernel("conv", 110 + 30 * n, 5, (105 + 30 * n, 5))
    start = 100 + 30 * earlier
    program.operator("aten::cudnn_convolution", start, length)
    program.kernel("conv", start + length - 5, 10, (start + length - 15, 5))
    return program


def test_the_first_call_of_an_operator_that_holds_the_host_loads(tmp_path: Path) -> None:
    analysis = with_operator(9000, earlier=0).analysis(tmp_path)
    assert gap_time(analysis)["module-load"] > 8900
    assert "launch-bound" not in gap_time(analysis) or gap_time(analysis)["launch-bound"] < 200
    assert any("the first call of aten::cudnn_convolution" in e for e in longest(analysis).evidence)


def test_a_later_call_that_holds_the_host_is_unknown_and_says_what_to_record(
    tmp_path: Path,
) -> None:
    analysis = with_operator(9000, earlier=3).analysis(tmp_path)
    assert gap_time(analysis)["unattributed"] > 8900
    text = longest(analysis)
    assert any("held the host longer than dispatch takes" in line for line in text.evidence)
    assert "nsys profile" in text.fix
    assert "with_stack" not in text.fix


def test_a_short_operator_stays_dispatch(tmp_path: Path) -> None:
    told = gap_time(with_operator(600, earlier=3).analysis(tmp_path))
    assert told["launch-bound"] > 500
    assert "unattributed" not in told


@pytest.mark.parametrize(("length", "cause"), [(50_000, "module-load"), (880, "allocator")])
def test_a_first_free_of_many_milliseconds_brings_up_the_context(
    tmp_path: Path, length: int, cause: str
) -> None:
    program = Program()
    program.kernel("first", 10, 10, (0, 5))
    program.call("cudaFree", 120, length)
    program.kernel("next", 140 + length, 10, (130 + length, 5))
    assert gap_time(program.analysis(tmp_path))[cause] == length


def test_frees_that_are_all_alike_are_the_allocator(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 10, (0, 5))
    for n in range(4):
        program.call("cudaFree", 120 + 20_100 * n, 20_000)
        program.kernel("next", 20_140 + 20_100 * n, 10, (20_125 + 20_100 * n, 5))
    told = gap_time(program.analysis(tmp_path))
    assert told["allocator"] == 80_000
    assert "module-load" not in told


def test_code_that_torch_compile_wrote_dispatches_and_is_nobodys_place(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 10, (0, 5))
    program.frame("train.py(7): run", 30, 3000)
    program.frame(f"{GENERATED}(90): call", 40, 2900)
    program.kernel("triton_poi_fused_0", 2900, 10, (2890, 5))
    analysis = program.analysis(tmp_path)
    told = gap_time(analysis)
    assert told["launch-bound"] > 2700
    assert told.get("python-overhead", 0) <= 10  # of the frame around it
    assert str(longest(analysis).where) == "train.py:7"


def test_a_piece_of_many_calls_says_what_each_covers(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 10, (0, 5))
    program.operator("aten::outer", 30, 300)
    program.operator("aten::a", 40, 100)
    program.operator("aten::b", 160, 60)
    program.kernel("next", 320, 10, (310, 5))
    evidence = " ".join(longest(program.analysis(tmp_path)).evidence)
    assert "of these" in evidence
    assert "% aten::a" in evidence
