"""How much is known, and what steps compute."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.kernels import coverage as words
from whichlayer.analysis.kernels.coverage import Coverage, coverage_of
from whichlayer.analysis.kernels.throughput import Throughput, throughput_of
from whichlayer.analysis.results import Analysis

BF16 = "c10::BFloat16"
H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_018_279_936,
        "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32}  # fmt: skip
GEMM, ADD = "nvjet_hsh_128x128_64x4_NNT", "vectorized_elementwise_kernel<4, CUDAFunctor_add>"

Event = dict[str, Any]


def slice_(cat: str, name: str, ts: float, dur: float, tid: int, **args: Any) -> Event:
    pid = 0 if cat in ("kernel", "gpu_memcpy") else 1
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid,
            "args": args}  # fmt: skip


def call(
    ts: float, kernel: str, dur: float, name: str = "", correlation: int = 1, launched: bool = True,
    kernels: int = 1, **args: Any,
) -> list[Event]:  # fmt: skip
    """An operator, its launches and their kernels, one after the other."""
    events = [slice_("cpu_op", name, ts, 4, 1, **args)] if name else []
    for index in range(kernels):
        number = 100 * correlation + index
        if launched:
            events.append(slice_("cuda_runtime", "cudaLaunchKernel", ts + 1 + index, 0.5, 1,
                                 correlation=number))  # fmt: skip
        events.append(slice_("kernel", kernel, ts + 3 + index * dur, dur, 7, device=0, stream=7,
                             correlation=number))  # fmt: skip
    return events


def mm(size: int) -> dict[str, Any]:
    return {"Input Dims": [[size, size], [size, size]], "Input type": [BF16, BF16]}


def analysed(events: list[Event], tmp_path: Path, properties: Any = H100) -> Analysis:
    path = tmp_path / "recording.json.gz"
    document = {"schemaVersion": 1, "deviceProperties": [properties], "traceEvents": events}
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    return analyse(load(str(path)))


def covered(events: list[Event], tmp_path: Path) -> Coverage:
    return coverage_of(analysed(events, tmp_path))


def reasons(found: Coverage) -> dict[str, tuple[int, int]]:
    return {one.reason: (one.bytes_ns, one.flops_ns) for one in found.missing}


def test_all_known_is_all_covered(tmp_path: Path) -> None:
    found = covered(call(0, GEMM, 10, "aten::mm", **mm(64)), tmp_path)
    assert (found.bytes_share, found.flops_share, found.missing) == (1.0, 1.0, ())


def test_every_reason_has_its_time(tmp_path: Path) -> None:
    cat: dict[str, Any] = {"Input Dims": [[], []], "Input type": ["TensorList", "Scalar"]}
    events = [
        *call(0, GEMM, 1, "aten::mm", 1, **mm(64)),
        *call(100, GEMM, 2, "aten::mm", 2),
        *call(200, GEMM, 4, "my::product", 3, **mm(64)),
        *call(300, ADD, 8, "", 4),
        *call(400, ADD, 16, "", 5, launched=False),
        *call(500, ADD, 32, "aten::cat", 6, **cat),
    ]  # fmt: skip
    found = covered(events, tmp_path)
    assert found.kernel_ns == 63_000
    assert found.bytes_ns == found.flops_ns == 1_000
    assert found.matrix_ns == 7_000  # the additions do no flops that count
    assert reasons(found) == {
        words.NO_SHAPES: (2_000, 2_000),
        words.NO_MODEL: (4_000, 4_000),
        words.NO_OPERATOR: (8_000, 0),
        words.NO_LAUNCH: (16_000, 0),
        words.UNLISTED: (32_000, 0),
    }
    assert found.missing[0].operators == ("aten::cat",)


@pytest.mark.parametrize(
    "name",
    ["CompiledFunctionBackward", "torch::autograd::CppNode<SplitLookupFunction>",
     "vllm::moe_forward", "vllm::unified_attention_with_output", "aiter::mha_batch_prefill",
     "fbgemm::split_embedding_codegen_lookup_sgd_function"],
)  # fmt: skip
def test_calls_into_what_lists_no_tensors_are_told_from_operators_without_a_model(
    name: str, tmp_path: Path
) -> None:
    found = covered(call(0, GEMM, 1, name, **mm(64)), tmp_path)
    assert reasons(found) == {words.UNLISTED: (1_000, 1_000)}


def test_what_is_known_and_what_is_not_add_up(tmp_path: Path) -> None:
    events = [*call(0, GEMM, 1, "aten::mm", 1, **mm(64)), *call(100, ADD, 2, "aten::add", 2)]
    found = covered(events, tmp_path)
    assert found.bytes_ns + sum(one.bytes_ns for one in found.missing) == found.kernel_ns
    assert found.flops_ns + sum(one.flops_ns for one in found.missing) == found.matrix_ns


def test_transfers_and_collectives_are_no_kernel_time(tmp_path: Path) -> None:
    events = [
        *call(0, GEMM, 10, "aten::mm", **mm(64)),
        *call(100, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 50, "record_param_comms", 2),
    ]
    assert covered(events, tmp_path).kernel_ns == 10_000


def test_without_kernels_there_is_no_share(tmp_path: Path) -> None:
    found = covered([slice_("cpu_op", "aten::mm", 0, 4, 1, **mm(64))], tmp_path)
    assert (found.bytes_share, found.flops_share) == (None, None)


def steps(count: int, gemm: str = GEMM, kernels: int = 1, known: bool = True) -> list[Event]:
    """Steps of 1 ms with a product of 1024 each, whose kernels run 100 µs."""
    events = []
    for number in range(count):
        start = 1000.0 * number
        events.append(slice_("user_annotation", f"ProfilerStep#{number}", start, 1000, 1))
        args = mm(1024) if known else {}
        events += call(start + 10, gemm, 100, "aten::mm", number + 1, kernels=kernels, **args)
    return events


def throughput(events: list[Event], tmp_path: Path, properties: Any = H100) -> Throughput:
    return throughput_of(analysed(events, tmp_path, properties))


def test_flops_of_a_step_over_its_length(tmp_path: Path) -> None:
    found = throughput(steps(3), tmp_path)
    flops = 2 * 1024**3
    assert (found.steps, found.flops_per_step) == (3, flops)
    assert found.step_ns is not None
    assert found.tflops == pytest.approx(flops / found.step_ns / 1e3, rel=1e-3)
    assert (found.precision, found.peak_tflops, found.covered_share) == ("bf16", 989.4, 1.0)
    assert found.mfu is not None and found.tflops is not None
    assert found.mfu == pytest.approx(found.tflops / 989.4)
    assert found.reason == ""


def test_an_operator_of_several_kernels_counts_once(tmp_path: Path) -> None:
    assert throughput(steps(2, kernels=2), tmp_path).flops_per_step == 2 * 1024**3


def test_too_little_known_is_no_figure(tmp_path: Path) -> None:
    found = throughput(steps(2, known=False), tmp_path)
    assert (found.flops_per_step, found.tflops, found.mfu) == (None, None, None)
    assert found.covered_share == 0.0
    assert "flops are known for 0%" in found.reason


def test_without_steps_the_reason_says_what_to_record(tmp_path: Path) -> None:
    found = throughput(call(0, GEMM, 10, "aten::mm", **mm(64)), tmp_path)
    assert found.tflops is None
    assert found.reason.startswith("no steps in the recording")


def test_an_unknown_card_has_a_rate_but_no_mfu(tmp_path: Path) -> None:
    found = throughput(steps(2), tmp_path, {"id": 0, "name": "Made-up GPU"})
    assert found.tflops is not None
    assert found.mfu is None
    assert "no bf16 peak is known" in found.reason


def test_steps_without_products_say_so(tmp_path: Path) -> None:
    events = steps(2)
    for event in events:
        event["name"] = {"aten::mm": "aten::add", GEMM: ADD}.get(event["name"], event["name"])
    found = throughput(events, tmp_path)
    assert (found.tflops, found.covered_share) == (None, None)
    assert found.reason.startswith("no kernel of these steps")
