"""What to change about a wait for the device depends on what waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis.gaps.catalogue import fix_of
from whichlayer.analysis.gaps.causes import cpu_operator, python_overhead
from whichlayer.analysis.gaps.sync_fixes import sync_fix
from whichlayer.analysis.trace.columns import Trace


def waiting(folder: Path, around: list[str], call: str, copy: str = "") -> tuple[Trace, int]:
    """A call inside operators (``::``), frames and marks, and the copy that it launches."""
    made = Program()
    made.kernel("ampere_sgemm_128x128_nn", 20, 900, (5, 3))
    for depth, name in enumerate(around):
        start, length = 20 + 2.0 * depth, 1000 - 4.0 * depth
        if "::" in name:
            made.operator(name, start, length)
        else:
            made.frame(name, start, length)
    number = made.call(call, 100, 850)
    if copy:
        made.kernel(copy, 930, 5, correlation=number, category="gpu_memcpy", bytes=64)
    trace = made.trace(folder)
    rows = [row for row in range(len(trace)) if trace.name(row) == call]
    return trace, rows[0]


TO = ["aten::to", "aten::_to_copy", "aten::copy_"]


@pytest.mark.parametrize(
    ("around", "call", "copy", "says", "never"),
    [
        (TO, "cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", "pin what is copied", ".item"),
        (TO, "hipMemcpyWithStream", "Memcpy HtoD (Host -> Device)", "pin what is copied", ".item"),
        (TO, "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", "read it a step later", "pin_m"),
        (["aten::nonzero"], "cudaStreamSynchronize", "", "nonzero_static", ".item"),
        (["aten::index", "aten::nonzero"], "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)",
         "torch.where", ".item"),
        (["torch/distributed/distributed_c10d.py(4100): barrier"], "cudaDeviceSynchronize", "",
         "no barrier()", ".item"),
        (["c10d::wait"], "cudaStreamSynchronize", "", "instead of the host", ".item"),
        (["torch/cuda/__init__.py(1040): synchronize"], "cudaDeviceSynchronize", "",
         "CUDA events", ".item"),
        (["train.py(3): step"], "cudaDeviceSynchronize", "", "CUDA events", ".item"),
    ],
)  # fmt: skip
def test_the_fix_is_of_what_waits(
    around: list[str], call: str, copy: str, says: str, never: str, tmp_path: Path
) -> None:
    trace, row = waiting(tmp_path, around, call, copy)
    copies = [at for at in range(len(trace)) if copy and trace.name(at) == copy]
    for told in (sync_fix(trace, at) for at in (row, *copies)):
        assert told is not None and says in told and never not in told


@pytest.mark.parametrize(
    ("around", "call", "copy"),
    [
        (["aten::item", "aten::_local_scalar_dense"], "cudaMemcpyAsync",
         "Memcpy DtoH (Device -> Pageable)"),
        (["aten::foo"], "cudaStreamSynchronize", ""),
        (["aten::foo"], "cudaDeviceSynchronize", ""),
    ],
)  # fmt: skip
def test_others_have_the_usual_fix(around: list[str], call: str, copy: str, tmp_path: Path) -> None:
    assert sync_fix(*waiting(tmp_path, around, call, copy)) is None


@pytest.mark.parametrize(("size", "says"), [(64, "constants"), (1 << 24, "DataLoader")])
def test_small_copies_that_empty_the_queue_are_no_matter_of_the_loader(
    size: int, says: str, tmp_path: Path
) -> None:
    made = Program()
    for step in range(3):
        at = 3000.0 * step
        made.step(step, at, 2990)
        made.kernel("ampere_sgemm_128x128_nn", at + 20, 900, (at + 5, 3))
        for depth, name in enumerate(TO):
            made.operator(name, at + 40 + depth, 900 - 2 * depth)
        number = made.call("cudaMemcpyAsync", at + 50, 880)
        made.kernel("Memcpy HtoD (Pageable -> Device)", at + 925, 2, correlation=number,
                    category="gpu_memcpy", bytes=size)  # fmt: skip
        for late in range(30):
            start = at + 1000 + 60 * late
            made.operator("aten::add", start, 40)
            made.kernel("add", start + 35, 10, (start + 30, 4))
    analysis = made.analysis(tmp_path)
    (found,) = [one for one in analysis.findings if one.rule == "h2d-pageable"]
    assert says in found.fix and "non_blocking=True" in found.fix and ".item()" not in found.fix


@pytest.mark.parametrize("rule", ["cpu-operator", "python-overhead"])
@pytest.mark.parametrize(
    "name", ["Optimizer.step#DeepSpeedCPUAdam.step", "deepspeed/ops/adam/cpu_adam.py(90): step"]
)
def test_an_optimizer_on_the_cpu_is_not_to_be_moved_out_of_the_step(rule: str, name: str) -> None:
    fix = fix_of(rule, "aten::mul", ("train", name))
    assert "offload" in fix and "out of the step" not in fix and "workers" not in fix


def test_other_work_of_the_host_keeps_its_fix() -> None:
    assert fix_of("cpu-operator", "aten::to", ("train",)) == cpu_operator.RULE.fix
    assert fix_of("python-overhead", "log", ("train",)) == python_overhead.RULE.fix
    inside = fix_of("cpu-operator", "aten::mul_", ("Optimizer.step#Adam.step",))
    assert "parameters" in inside and "workers" not in inside


def test_what_loads_code_on_rocm_is_told_no_setting_of_cuda() -> None:
    assert "CUDA" not in fix_of("module-load", "hipLaunchKernel")
    assert "CUDA_MODULE_LOADING" in fix_of("module-load", "cudaLaunchKernel")


def test_workspaces_freed_in_a_backward_pass_on_rocm_are_miopens() -> None:
    assert "MIOPEN" in fix_of("allocator", "hipFree", ("aten::convolution_backward",))
