"""What to change about exposed communication depends on whether anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import AUTOGRAD, Program
from whichlayer.analysis.gaps.communication_fixes import communication_fix

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


def exchanged(
    kernel: str, operator: str, frames: Sequence[str], *, trains: bool = False, **args: Any
) -> Program:
    """A collective of known size inside of frames, beside which nothing runs."""
    program = layers(kernel, operator)
    for event in program.events:
        if event["name"] == kernel:
            event["args"] |= args
    for depth, name in enumerate(frames):
        program.frame(name, 1 + depth, 2999 - 2 * depth)
    if trains:
        program.operator("autograd::engine::evaluate_function: MmBackward0", 3200, 50, AUTOGRAD)
    return program


ONE: dict[str, Any] = {
    "Collective name": "allreduce",
    "In msg nelems": 1,
    "Out msg nelems": 1,
    "dtype": "Float",
    "Group size": 8,
}
MANY = ONE | {"In msg nelems": 1 << 20, "Out msg nelems": 1 << 20}
GATHERED = ONE | {"Collective name": "allgather", "dtype": "Byte", "In msg nelems": 100}
SYNC = ["eval.py(3): main", "metrics.py(9): sync_metrics"]


@pytest.mark.parametrize("trains", [True, False])
def test_a_message_of_a_few_bytes_is_no_layer_and_no_gradient(tmp_path: Path, trains: bool) -> None:
    program = exchanged(NCCL, "c10d::allreduce_", ["eval.py(3): main"], trains=trains, **ONE)
    fix = fix_of(program, tmp_path)
    assert "a few bytes" in fix and "every N steps" in fix
    assert "tensor parallel" not in fix and "bucket" not in fix


def test_few_bytes_of_a_layer_in_training_are_exchanged_every_step(tmp_path: Path) -> None:
    frames = ["train.py(3): main", "nn.Module: SyncBatchNorm_0"]
    program = exchanged(NCCL, "c10d::allreduce_", frames, trains=True, **ONE)
    assert "every N steps" not in fix_of(program, tmp_path)


def test_a_layer_of_known_size_stays_tensor_parallel(tmp_path: Path) -> None:
    for frames in (["generate.py(3): main"], [*SYNC, "nn.Module: RowParallelLinear_0"]):
        program = exchanged(NCCL, "c10d::allreduce_", frames, **MANY)
        assert "tensor parallel" in fix_of(program, tmp_path)


def test_a_metric_is_exchanged_less_often(tmp_path: Path) -> None:
    fix = fix_of(exchanged(NCCL, "c10d::allreduce_", SYNC, **MANY), tmp_path)
    assert "metrics every N steps" in fix and "tensor parallel" not in fix


def test_objects_are_pickled(tmp_path: Path) -> None:
    frames = ["eval.py(3): main", "torch/distributed/distributed_c10d.py(29): all_gather_object"]
    large = GATHERED | {"Out msg nelems": 1 << 24}
    kernel = "ncclDevKernel_AllGather_RING_LL"
    fix = fix_of(exchanged(kernel, "c10d::allgather_", frames, **large), tmp_path)
    assert "objects are pickled" in fix


P2P = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"


@pytest.mark.parametrize("trains", [True, False])
@pytest.mark.parametrize(
    "frame",
    [
        "torch/utils/_python_dispatch.py(210): __torch_dispatch__",
        "pipe.py(9): combine_microbatches",
    ],
)
def test_a_send_between_stages_is_no_matter_of_buckets(
    tmp_path: Path, frame: str, trains: bool
) -> None:
    fix = fix_of(
        exchanged(P2P, "c10d::send", ["train.py(3): main", frame], trains=trains), tmp_path
    )
    assert "1F1B" in fix and "micro-batch" in fix and "stages of equal cost" in fix
    assert "bucket" not in fix and "tensor parallel" not in fix


def test_an_exchange_that_only_a_frame_of_pytorch_names_is_one(tmp_path: Path) -> None:
    frame = "torch/distributed/distributed_c10d.py(4000): all_to_all_single"
    trace = exchanged(P2P, "record_param_comms", [frame], trains=True).trace(tmp_path)
    row = next(row for row in range(len(trace)) if trace.name(row) == P2P)
    assert "overlap the exchange" in (communication_fix(trace, row) or "")
