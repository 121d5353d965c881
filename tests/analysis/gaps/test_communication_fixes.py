"""What to change about exposed communication depends on whether anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import AUTOGRAD, Program

NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"


def fix_of(program: Program, tmp_path: Path) -> str:
    findings = program.analysis(tmp_path).findings
    return next(found.fix for found in findings if found.rule == "exposed-comm")


def layers(kernel: str, operator: str) -> Program:
    """Layers whose collective runs alone after each."""
    program = Program()
    for i in range(10):
        begin = 300 * i
        program.operator("aten::mm", begin, 20)
        program.kernel("gemm", begin + 20, 100, (begin + 5, 5))
        program.operator(operator, begin + 30, 20)
        program.kernel(kernel, begin + 121, 100, (begin + 35, 5), stream=20)
    return program


@pytest.mark.parametrize(
    ("kernel", "operator"),
    [
        (NCCL, "c10d::allreduce_"),
        ("ncclDevKernel_AllGather_RING_LL", "c10d::_allgather_base_"),
        ("void vllm::cross_device_reduce_1stage<bf16, 8>()", "_C_custom_ar::all_reduce"),
    ],
)
def test_without_a_backward_pass_a_collective_of_layers_is_tensor_parallel(
    tmp_path: Path, kernel: str, operator: str
) -> None:
    fix = fix_of(layers(kernel, operator), tmp_path)
    assert "tensor parallel" in fix
    assert "bucket_cap_mb" not in fix


def test_with_a_backward_pass_the_settings_of_training_are_told(tmp_path: Path) -> None:
    program = layers(NCCL, "c10d::allreduce_")
    name = "autograd::engine::evaluate_function: MmBackward0"
    program.operator(name, 2800, 50, AUTOGRAD)
    assert "bucket_cap_mb" in fix_of(program, tmp_path)


def test_fsdp_without_a_backward_pass_gathers_weights_and_not_layers(tmp_path: Path) -> None:
    program = layers("ncclDevKernel_AllGather_RING_LL", "c10d::_allgather_base_")
    program.annotation("FSDP::pre_forward", 0, 3000)
    assert "FSDP prefetch" in fix_of(program, tmp_path)


def in_graph(annotation: str, other: str = "gemm") -> Program:
    """A graph with collectives, of which no operators are recorded."""
    program = Program()
    program.annotation(annotation, 0, 3000)
    launch = program.call("cudaGraphLaunch", 5, 50)
    for i in range(10):
        program.kernel(other, 60 + 300 * i, 100, correlation=launch)
        program.kernel(NCCL, 160 + 300 * i, 150, correlation=launch)
    return program


def test_a_graph_of_a_serving_engine_is_tensor_parallel(tmp_path: Path) -> None:
    fix = fix_of(in_graph("execute_context_0(0)_generation_32(32)"), tmp_path)
    assert "tensor parallel" in fix


@pytest.mark.parametrize("other", ["gemm", "flash_bwd_kernel"])
def test_a_graph_that_may_train_or_does_is_not_taken_for_a_layer(
    tmp_path: Path, other: str
) -> None:
    assert "bucket_cap_mb" in fix_of(in_graph("my range", other), tmp_path)


def test_a_barrier_is_no_layer_that_is_split(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::mm", 0, 30)
    program.kernel("ampere_bf16_s16816gemm", 50, 400, (10, 5))
    program.operator("c10d::barrier", 100, 1900)
    program.operator("nccl:all_reduce_barrier", 105, 20)
    program.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 500, 1400, (110, 5), stream=20)
    program.operator("aten::mm", 2010, 30)
    program.kernel("ampere_bf16_s16816gemm", 2050, 400, (2020, 5))
    fix = fix_of(program, tmp_path)
    assert "no barrier()" in fix and "tensor parallel" not in fix


def test_an_exchange_is_no_matter_of_buckets(tmp_path: Path) -> None:
    program = Program()
    program.operator("aten::mm", 0, 30)
    program.kernel("ampere_bf16_s16816gemm", 50, 400, (10, 5))
    program.operator("nccl:all_to_all", 100, 40)
    program.kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", 500, 1400, (110, 5), stream=20)
    program.operator("MmBackward0", 200, 60)
    program.operator("aten::mm", 210, 30)
    program.kernel("ampere_bf16_s16816gemm", 1950, 400, (220, 5))
    fix = fix_of(program, tmp_path)
    assert "overlap the exchange" in fix and "bucket" not in fix
