"""Regions, breaks, recompiles and Triton kernels of torch.compile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.program import Program
from tests.support.recordings import analysed
from whichlayer.analysis.compiled.fused import family_of, fused_operators
from whichlayer.analysis.compiled.report import compile_report
from whichlayer.analysis.report.text_compile import compile_lines

GRAPH = "## Call CompiledFxGraph fabc ##"
KERNEL = "triton_poi_fused_add_relu_0"


@pytest.mark.parametrize(
    ("name", "family", "operators"),
    [
        ("triton_red_fused__unsafe_view_add_mean_1", "reduction", ("_unsafe_view", "add", "mean")),
        ("triton_per_fused_native_layer_norm_2", "persistent reduction", ("native_layer_norm",)),
        ("triton_poi_fused_0", "pointwise", ()),
        ("triton_tem_fused_mm_relu_3", "template", ("mm", "relu")),
        ("triton_xyz_fused_add_3", "other", ("add",)),
        ("triton_kernels_topk", "", ()),
        ("at::native::add", "", ()),
    ],
)
def test_names_of_inductor_tell_family_and_operators(
    name: str, family: str, operators: tuple[str, ...]
) -> None:
    assert family_of(name) == family
    assert fused_operators(name) == operators


@given(st.text(alphabet="abz_019", max_size=80))
def test_no_part_of_a_name_is_lost(words: str) -> None:
    told = fused_operators(f"triton_poi_fused_{words}_0")
    assert "".join(told).replace("_", "") in f"{words}".replace("_", "")


def compiled(*, later: bool = False, source: str = "/nowhere/x.py") -> Program:
    program = Program()
    for step in range(2):
        at = 1000.0 * step
        program.step(step, at, 900)
        program.annotation("Torch-Compiled Region: 0/0", at + 10, 300)
        program.annotation(GRAPH, at + 20, 200)
        told: dict[str, Any] = {"kernel_backend": "triton", "kernel_file": source, "num_warps": 4}
        program.operator(KERNEL, at + 30, 20, **told)
        program.kernel(KERNEL, at + 100, 60, (at + 35, 4), grid=[8, 1, 1])
        program.operator("aten::mm", at + 400, 20)
        program.kernel("ampere_sgemm_128x128_nn", at + 500, 40, (at + 405, 4))
    if later:
        program.annotation("entire_frame_compile (dynamo_timed)", 1500, 100)
    return program


def test_kernel_time_is_compiled_or_eager_by_where_it_was_launched(tmp_path: Path) -> None:
    found = compile_report(compiled().analysis(tmp_path))
    assert (found.compiled_ns, found.eager_ns, found.unknown_ns) == (120_000, 80_000, 0)
    assert found.compiled_share == pytest.approx(0.6)
    (region,) = found.regions
    assert (region.name, region.graph) == ("Torch-Compiled Region: 0/0", "fabc")
    assert (region.calls, region.kernels, region.kernel_ns) == (2, 2, 120_000)
    assert (found.compiled_host_ns, found.eager_host_ns) == (600_000, 1_300_000)


def test_a_kernel_is_told_with_its_source_and_whether_that_is_here(tmp_path: Path) -> None:
    source = tmp_path / "generated.py"
    source.write_text("")
    (here,) = compile_report(compiled(source=str(source)).analysis(tmp_path)).kernels
    assert here.file == str(source) and here.file_here is True
    assert (here.operators, here.num_warps, here.grid) == (("add", "relu"), 4, "[8, 1, 1]")
    (gone,) = compile_report(compiled().analysis(tmp_path)).kernels
    assert gone.file_here is False
    assert "not on this machine" in " ".join(compile_lines(compiled().analysis(tmp_path)))


def test_compiling_after_the_first_step_is_a_recompile(tmp_path: Path) -> None:
    assert compile_report(compiled().analysis(tmp_path)).compiles.later == 0
    again = compile_report(compiled(later=True).analysis(tmp_path)).compiles
    assert (again.first, again.later, again.later_ns) == (0, 1, 100_000)


def test_a_break_is_told_with_its_place_and_first_operator(tmp_path: Path) -> None:
    program = Program()
    program.frame("train.py(10): step", 0, 900)
    program.annotation("Torch-Compiled Region: 0/0", 10, 800)
    program.annotation("## Call CompiledFxGraph fone ##", 20, 100)
    program.operator("aten::nonzero", 150, 30)
    program.frame("model.py(42): torch_dynamo_resume_in_forward_at_42", 200, 600)
    program.annotation("Torch-Compiled Region: 1/0", 300, 300)
    program.annotation("## Call CompiledFxGraph ftwo ##", 310, 100)
    program.kernel(KERNEL, 330, 60, (315, 4))
    program.kernel(KERNEL, 950, 60, (940, 4))
    program.kernel(KERNEL, 5, 5, (1, 1))
    (found,) = compile_report(program.analysis(tmp_path)).breaks
    assert (found.file, found.line, found.function) == ("model.py", 42, "forward")
    assert (found.times, found.operator) == (1, "aten::nonzero")


def test_regions_that_follow_each_other_are_no_proven_break(tmp_path: Path) -> None:
    program = Program()
    program.step(0, 0, 900)
    for at, region in ((10.0, "0/0"), (300.0, "1/0")):
        program.annotation(f"Torch-Compiled Region: {region}", at, 200)
        program.kernel(KERNEL, at + 20, 60, (at + 5, 4))
    found = compile_report(program.analysis(tmp_path))
    assert (found.breaks, found.unproven) == ((), 1)
    assert "with_stack=True" in found.record


def test_an_eager_program_has_nothing_compiled(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::mm", 0, 20)
    program.kernel("ampere_sgemm_128x128_nn", 30, 100, (5, 3))
    analysis = program.analysis(tmp_path)
    assert compile_report(analysis).used is False and compile_lines(analysis) == []


def test_compiled_recordings(traces: Path) -> None:
    found = compile_report(analysed(traces / "tl_mi300_sd35_239k_events.json.gz"))
    assert len(found.kernels) == 26 and found.regions[0].calls == 4
    assert found.compiled_share == pytest.approx(0.88, abs=0.01) and found.unproven == 0
    one = compile_report(analysed(traces / "tl_mi300_compile_triton.json.gz"))
    assert one.compiled_share == 1.0 and {k.family for k in one.kernels} == {
        "pointwise", "reduction",
    }  # fmt: skip
