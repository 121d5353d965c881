"""A custom kernel is justified only where everything is proven."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from tests.support.recordings import analysed
from whichlayer.analysis import Options
from whichlayer.analysis.custom_kernel.answers import Answer, Reply, overall
from whichlayer.analysis.custom_kernel.verdicts import Candidate, custom_kernels
from whichlayer.analysis.report.text_custom_kernel import custom_kernel_lines

GEMM = "ampere_sgemm_128x128_nn"
REDUCTION = "triton_red_fused_mm_pow_sum_1"
POINTWISE = "triton_poi_fused_mm_relu_1"
SIZE = 4096
STEP = 400.0


def chain(
    behind: str = REDUCTION,
    *,
    steps: int = 3,
    compiled: bool = True,
    shapes: bool = True,
    graph: bool = False,
    earlier_product: bool = False,
    read: int = SIZE,
) -> Program:
    """A product of [4096, 4096] and a kernel that reads it, once in each step."""
    program = Program()
    for step in range(steps):
        at = step * STEP
        program.step(step, at, STEP - 10)
        if compiled:
            program.annotation("Torch-Compiled Region: 0/0", at + 10, 200)
        if earlier_product:
            _product(program, at + 20, at + 20, shapes=shapes)
        if graph:
            number = program.call("cudaGraphLaunch", at + 60, 4)
            program.kernel(GEMM, at + 100, 100, correlation=number)
            program.kernel(behind, at + 200, 100, correlation=number)
            continue
        _product(program, at + 60, at + 100, shapes=shapes)
        dims: dict[str, Any] = {
            "Input Dims": [[SIZE, read], [SIZE]],
            "Input type": ["float", "float"],
        }
        told = dims if shapes else {}
        program.operator(behind, at + 80, 10, kernel_backend="triton", **told)
        program.kernel(behind, at + 200, 100, (at + 82, 4))
    return program


def _product(program: Program, call: float, start: float, *, shapes: bool) -> None:
    dims: dict[str, Any] = {
        "Input Dims": [[SIZE, 64], [64, SIZE]],
        "Input type": ["float", "float"],
    }
    program.operator("aten::mm", call, 10, **(dims if shapes else {}))
    program.kernel(GEMM, start + 5, 30 if start == call else 95, (call + 2, 4))


def best(program: Program, folder: Path, options: Options | None = None) -> Candidate:
    analysis = program.analysis(folder)
    if options is not None:
        analysis = replace(analysis, options=options)
    return custom_kernels(analysis)[0]


def test_a_reduction_over_a_product_that_survives_compiling_justifies_one(tmp_path: Path) -> None:
    found = best(chain(), tmp_path)
    assert [reply.answer for reply in found.replies] == [Answer.YES] * 3
    assert found.answer is Answer.YES and found.instead == ""
    assert (found.calls, len(found.kernels)) == (3, 2)
    # The reduction's own time: the product takes as long as before.
    assert found.saving_ns == pytest.approx(3 * 100_000, rel=0.01)
    lines = custom_kernel_lines(chain().analysis(tmp_path))
    assert lines[0].startswith("CUSTOM KERNEL  yes") and "vendor tie" in " ".join(lines)


@pytest.mark.parametrize(
    ("program", "instead"),
    [
        (chain(compiled=False), "compile first"),
        (chain(POINTWISE), "max-autotune"),
        (chain("triton_red_fused_mm__log_softmax_nll_loss_forward_1"), "cross-entropy"),
    ],
    ids=["eager", "pointwise epilogue", "loss"],
)
def test_what_exists_is_the_cheaper_bet(program: Program, instead: str, tmp_path: Path) -> None:
    found = best(program, tmp_path)
    assert found.answer is Answer.NO
    assert found.nothing_captures.answer is Answer.NO and instead in found.instead


@pytest.mark.parametrize(
    "program",
    [
        chain(steps=1),
        chain(shapes=False),
        chain(graph=True),
        chain(earlier_product=True),
        chain(read=SIZE // 2),
        chain("triton_red_fused_mm_pow_sum_1", graph=True, compiled=False),
    ],
    ids=["one step", "no shapes", "graph", "two such products", "another shape", "eager graph"],
)
def test_what_is_not_proven_is_never_a_yes(program: Program, tmp_path: Path) -> None:
    found = best(program, tmp_path)
    assert found.answer is Answer.UNKNOWN and found.instead


def test_a_chain_with_little_of_the_step_is_a_no(tmp_path: Path) -> None:
    program = chain()
    program.step(9, 3 * STEP, 60_000)
    program.kernel(GEMM, 3 * STEP + 50_000, 9_000, (3 * STEP + 5, 3))
    found = next(one for one in custom_kernels(program.analysis(tmp_path)) if one.calls == 3)
    assert (found.answer, found.owns.answer) == (Answer.NO, Answer.NO)


def test_thresholds_are_settings(tmp_path: Path) -> None:
    strict = Options(settings={"custom-kernel": {"steps": 4.0}})
    assert best(chain(), tmp_path, strict).stable.answer is Answer.UNKNOWN
    strict = Options(settings={"custom-kernel": {"saving": 0.9, "share": 0.95}})
    assert best(chain(), tmp_path, strict).owns.answer is Answer.NO
    # A chain with much of the step is no reason where one kernel would take as long.
    for least, answer in ((0.9, Answer.NO), (0.001, Answer.YES)):
        held = Options(settings={"custom-kernel": {"saving": 0.95, "least_saving": least}})
        assert best(chain(), tmp_path, held).owns.answer is answer


def test_changing_shapes_are_a_no(tmp_path: Path) -> None:
    program = chain(steps=8)
    for at, event in enumerate(e for e in program.events if e["name"] == REDUCTION):
        if "Input Dims" in event["args"]:
            event["args"]["Input Dims"] = [[SIZE, SIZE], [SIZE + at]]
    found = best(program, tmp_path)
    assert found.stable.answer is Answer.NO and "pad" in found.stable.instead


def test_the_same_call_over_and_over_is_no_chain(tmp_path: Path) -> None:
    program = Program()
    for at in range(10):
        dims: dict[str, Any] = {"Input Dims": [[SIZE, SIZE]] * 2, "Input type": ["float"] * 2}
        program.operator("aten::add", 20.0 * at, 10, **dims)
        program.kernel("vectorized_elementwise_kernel", 500 + 100.0 * at, 100, (20.0 * at + 2, 3))
    assert custom_kernels(program.analysis(tmp_path)) == ()


@pytest.mark.parametrize("answers", [("yes", "yes", "unknown"), ("no", "unknown", "yes")])
def test_one_no_decides_and_one_unknown_keeps_a_yes_away(answers: tuple[str, ...]) -> None:
    found = overall(Reply(Answer(one), None, "") for one in answers)
    assert found is (Answer.NO if "no" in answers else Answer.UNKNOWN)


def test_no_recording_justifies_a_custom_kernel(traces: Path) -> None:
    for path in sorted(traces.glob("tl_*.json.gz")):
        assert all(one.answer is not Answer.YES for one in custom_kernels(analysed(path))), path


def test_unfused_attention_is_answered_with_the_fused_call(traces: Path) -> None:
    found = custom_kernels(analysed(traces / "tl_h100_timesformer.json.gz"))[0]
    assert found.answer is Answer.NO and "scaled_dot_product_attention" in found.instead
    assert found.share > 0.2 and found.saving_share is not None and found.saving_share > 0.1
