"""Losses of whole recordings, and the groups that people read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from whichlayer.analysis.kernels.judge import judge
from whichlayer.analysis.kernels.peaks import match_device
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Options

# The fixtures of conftest.py, which cannot be imported.
Judged = Callable[..., Any]
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, int>(int)"
SGEMM, TF32 = "ampere_sgemm_128x128_nn", "cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4"


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Any:
    """The Call class of the conftest beside this file."""
    return request.getfixturevalue("call_class")


def add(call: Any, *spans: tuple[float, float], **more: Any) -> Any:
    """aten::add of two [4096, 4096] floats: 201 MB, 60.1 µs on an H100's data sheet."""
    kernels = [(ADD, start, duration) for start, duration in spans]
    return call("aten::add", kernels, [[4096, 4096], [4096, 4096], []],
                ["float", "float", "Scalar"], ["", "", "1"], **more)  # fmt: skip


BYTES = 3 * 4096 * 4096 * 4
AT_SHEET_NS = BYTES / 3350  # bytes / (GB/s) = nanoseconds


def test_a_slow_kernel_loses_what_a_well_made_one_would_not_take(judged: Judged, call: Any) -> None:
    group = judged([add(call, (2000, 200))]).only()
    # No trivial kernels in the recording: 1 us of floor and 90 % of the bandwidth.
    assert group.lost_ns == pytest.approx(200_000 - 1000 - AT_SHEET_NS / 0.9, abs=2)
    assert (group.rule, group.layer) == ("memory-bound-slow", Layer.CUDA)
    assert group.bytes == BYTES
    assert group.gbps == pytest.approx(BYTES / 200_000)
    assert group.bandwidth_fraction == pytest.approx(BYTES / 200_000 / 3350)
    assert group.operator == "aten::add"
    assert group.shapes == "fp32[4096,4096] fp32[4096,4096]"
    assert group.bound == "memory"
    assert group.tensor_cores is False


def test_kernels_at_the_roof_lose_nothing(judged: Judged, call: Any) -> None:
    found = judged([add(call, (2000, 70))])
    group = found.only()
    assert (group.rule, group.lost_ns, group.layer) == ("at-roof", 0, Layer.NONE)
    assert found.analysis.activities.judged.all()
    assert found.analysis.activities.loss_ns.sum() == 0


def test_two_kernels_of_one_call_share_its_bytes(judged: Judged, call: Any) -> None:
    found = judged([add(call, (2000, 100), (2200, 100))])
    group = found.only()
    assert group.calls == 2
    assert group.bytes == BYTES
    assert group.gbps == pytest.approx(BYTES / 200_000)
    # Both launches have a floor; the loss is split by their time, half each.
    lost = 200_000 - 2 * 1000 - AT_SHEET_NS / 0.9
    assert found.analysis.activities.loss_ns.tolist() == pytest.approx([lost / 2, lost / 2], abs=1)
    assert "over its 2 kernels" in group.why


def test_a_window_scales_the_loss_and_not_the_judgement(judged: Judged, call: Any) -> None:
    calls = [add(call, (2000, 200))]
    whole = judged(calls).only()
    # Time 0 is the first operator, at 1000 us: the kernel runs from 1000 to 1200.
    half = judged(calls, options=Options(span_ns=(1_000_000, 1_100_000))).only()
    assert half.rule == whole.rule
    assert half.total_ns == 100_000
    assert half.lost_ns == pytest.approx(whole.lost_ns / 2, abs=1)
    assert half.gbps == whole.gbps


def test_kernels_side_by_side_are_judged_together(judged: Judged, call: Any) -> None:
    # Each alone would reach a third of the bandwidth; together they are at the roof.
    found = judged([add(call, (2000, 140)), add(call, (2000, 140), stream=20)])
    group = found.only()
    assert found.analysis.activities.loss_ns.sum() == 0
    assert group.lost_ns == 0
    assert "overlapped" in group.flags


def test_a_slow_pair_loses_its_time_beyond_both_ideals(judged: Judged, call: Any) -> None:
    found = judged([add(call, (2000, 400)), add(call, (2000, 400), stream=20)])
    # 400 us for twice the bytes; a floor each.
    lost = 400_000 - 2 * 1000 - 2 * AT_SHEET_NS / 0.9
    assert found.analysis.activities.loss_ns.sum() == pytest.approx(lost, abs=3)


def test_beside_a_kernel_of_unknown_work_nothing_is_judged(judged: Judged, call: Any) -> None:
    stranger = call("custom::op", [("mystery", 2000, 200)], [[8]], ["float"], stream=20)
    found = judged([add(call, (2000, 200)), stranger])
    assert not found.analysis.activities.judged.any()
    why = {group.operator: group.why for group in found.groups.values()}
    assert "kernels whose work is not known" in why["aten::add"]
    assert "no model" in why["custom::op"]


def test_slight_overlap_leaves_kernels_on_their_own(judged: Judged, call: Any) -> None:
    found = judged([add(call, (2000, 70)), add(call, (2050, 70), stream=20)])
    assert all("overlapped" not in group.flags for group in found.analysis.kernels)


def test_fp32_products_on_an_a100_are_a_precision_problem(judged: Judged, call: Any) -> None:
    a100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_095_874_560,
            "numSms": 108}  # fmt: skip
    flops = 2 * 4096**3
    at_roof_us = flops / (0.85 * 19.5e12) * 1e6
    calls = [
        call("aten::mm", [(SGEMM, 2000 + i * 10_000, at_roof_us)], [[4096, 4096]] * 2,
             ["float"] * 2, ["", ""])
        for i in range(3)
    ]  # fmt: skip
    found = judged(calls, a100)
    group = found.only()
    assert (group.rule, group.layer, group.precision) == ("fp32-matmul", Layer.PRECISION, "fp32")
    assert group.tensor_cores is False
    ideal = 1000 + flops / (0.85 * 156e3)
    assert group.lost_ns == pytest.approx(3 * (at_roof_us * 1e3 - ideal), rel=1e-4)


def test_the_same_product_on_tensor_cores_is_tf32(judged: Judged, call: Any) -> None:
    a100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_095_874_560}
    found = judged(
        [call("aten::mm", [(TF32, 2000, 1100)], [[4096, 4096]] * 2, ["float"] * 2, ["", ""])], a100
    )
    group = found.only()
    assert (group.precision, group.rule, group.tensor_cores) == ("tf32", "at-roof", True)


def test_a_nameless_product_faster_than_fp32_was_tf32(judged: Judged, call: Any) -> None:
    a100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_095_874_560}
    fast = call("aten::mm", [("mystery_mm", 2000, 1100)], [[4096, 4096]] * 2, ["float"] * 2)
    assert judged([fast], a100).only().precision == "tf32"
    slow = call("aten::mm", [("mystery_mm", 2000, 11_000)], [[4096, 4096]] * 2, ["float"] * 2)
    assert "FP32 or TF32" in judged([slow], a100).only().why


def test_copies_on_the_device_use_their_own_bytes(judged: Judged, call: Any) -> None:
    found = judged(
        [
            call("aten::copy_", [("Memcpy DtoD (Device -> Device)", 2000, 100)],
                 kind="gpu_memcpy", size=100_000_000),
            call("aten::zero_", [("Memset (Device)", 3000, 100)], kind="gpu_memset",
                 size=100_000_000),
        ]
    )  # fmt: skip
    copy, fill = found.groups["Memcpy DtoD"], found.groups["Memset"]
    assert (copy.bytes, fill.bytes) == (200_000_000, 100_000_000)
    assert copy.gbps == pytest.approx(2000)
    assert found.analysis.activities.judged.all()


def test_transfers_and_collectives_are_grouped_but_not_judged(judged: Judged, call: Any) -> None:
    found = judged(
        [
            call("aten::copy_", [("Memcpy HtoD (Pageable -> Device)", 2000, 100)],
                 kind="gpu_memcpy", size=1_000_000),
            call("record_param_comms", [("ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", 3000, 9)]),
        ]
    )  # fmt: skip
    transfer = found.groups["Memcpy HtoD"]
    assert transfer.gbps == pytest.approx(10)
    assert transfer.bandwidth_fraction is None
    assert found.analysis.activities.loss_ns.sum() == 0
    assert not found.analysis.activities.judged.any()
    assert all(group.layer == Layer.NONE for group in found.groups.values())


def test_the_call_around_serves_where_the_inner_one_recorded_nothing(
    judged: Judged, call: Any
) -> None:
    # aten::convolution knows its shapes; the operator inside has none, its kernels count.
    inner = call("aten::mystery", [("conv_kernel", 2000, 100), ("conv_kernel", 2100, 100)])
    outer = call("aten::add", [], [[4096, 4096], [4096, 4096], []], ["float", "float", "Scalar"])
    from_outer = judged([nested(call, outer, inner)])
    group = from_outer.only()
    assert group.bytes == BYTES
    assert group.gbps == pytest.approx(BYTES / 200_000)


def nested(call: Any, outer: Any, inner: Any) -> Any:
    """The inner call's kernels, launched inside both."""
    return call(inner.name, inner.kernels, around=outer.name, around_dims=outer.dims,
                around_types=outer.types)  # fmt: skip


def test_call_stacks_do_not_split_groups(judged: Judged, call: Any) -> None:
    calls = [add(call, (2000 + 300 * i, 200), extra={"Call stack": f"line {i}"}) for i in range(3)]
    group = judged(calls).only()
    assert group.calls == 3


def test_trivial_kernels_of_the_recording_set_the_floor(judged: Judged, call: Any) -> None:
    tiny = [
        call("aten::add", [(ADD, 2000 + 20 * i, 3.0)], [[8], [8], []],
             ["float", "float", "Scalar"], ["", "", "1"])
        for i in range(8)
    ]  # fmt: skip
    found = judged([*tiny, add(call, (4000, 200))])
    big, small = found.analysis.kernels  # longest first
    assert big.lost_ns == pytest.approx(200_000 - 3000 - AT_SHEET_NS / 0.9, abs=2)
    assert (small.rule, small.bound, small.lost_ns) == ("latency-bound", "latency", 0)


ATTENTION: list[tuple[str, list[Any], list[str]]] = [
    ("aten::bmm", [[96, 2048, 64], [96, 64, 2048]], ["c10::BFloat16"] * 2),
    ("aten::mul", [[8, 12, 2048, 2048], []], ["c10::BFloat16", "double"]),
    ("aten::_softmax", [[8, 12, 2048, 2048], [], []], ["c10::BFloat16", "Scalar", "Scalar"]),
    ("aten::bmm", [[96, 2048, 2048], [96, 2048, 64]], ["c10::BFloat16"] * 2),
]
KERNELS = ["cutlass_80_tensorop_bf16_s16816gemm_bf16", ADD, "softmax_warp_forward",
           "cutlass_80_tensorop_bf16_s16816gemm_bf16"]  # fmt: skip


def attention(call: Any, took: float, operators: list[Any] = ATTENTION) -> list[Any]:
    return [
        call(name, [(kernel, 2000 + i * 2 * took, took)], dims, types)
        for i, ((name, dims, types), kernel) in enumerate(zip(operators, KERNELS, strict=True))
    ]


def test_attention_in_separate_operators_is_the_models(judged: Judged, call: Any) -> None:
    found = judged(attention(call, 400))
    assert {group.rule for group in found.analysis.kernels} == {"unfused-attention"}
    assert {group.layer for group in found.analysis.kernels} == {Layer.PYTORCH}
    # One fused call: 2 x 2 x 96 x 2048^2 x 64 flops at half of 0.75 x 989.4 TFLOP/s, 1 us floor.
    ideal = 1000 + 4 * 96 * 2048**2 * 64 / (0.5 * 0.75 * 989.4e3)
    lost = sum(group.lost_ns for group in found.analysis.kernels)
    assert lost == pytest.approx(1_600_000 - ideal, rel=1e-4)


def test_a_softmax_between_other_products_is_no_attention(judged: Judged, call: Any) -> None:
    other: list[Any] = [("aten::bmm", [[96, 100, 64], [96, 64, 100]], ["c10::BFloat16"] * 2)]
    operators = [*other, *ATTENTION[1:3], *other]
    found = judged(attention(call, 400, operators))
    assert all(group.rule != "unfused-attention" for group in found.analysis.kernels)


def test_a_loss_is_never_more_than_the_time(judged: Judged, call: Any) -> None:
    found = judged([*attention(call, 3), add(call, (9000, 0.0)), add(call, (9100, 5000))])
    activities = found.analysis.activities
    assert (activities.loss_ns >= 0).all()
    assert (activities.loss_ns <= activities.owned_ns).all()
    groups = found.analysis.kernels
    assert sum(group.total_ns for group in groups) == activities.owned_ns.sum()
    assert sum(group.lost_ns for group in groups) == activities.loss_ns.sum()


def test_order_of_activities_does_not_matter(judged: Judged, call: Any) -> None:
    found = judged([add(call, (2000, 200)), add(call, (2100, 300), stream=20)])
    a = found.analysis
    order = np.arange(len(a.activities.row))[::-1]
    again = judge(
        a.trace,
        row=a.activities.row[order],
        device=a.activities.device[order],
        start_ns=a.activities.start_ns[order],
        end_ns=a.activities.end_ns[order],
        role=a.activities.role[order],
        op_row=a.activities.op_row[order],
        owned_ns=a.activities.owned_ns[order],
        peaks=[match_device(None, {}, Options(device_model="H100 SXM5"))],
        total_ns=1_000_000,
    )
    assert again.loss_ns[order].tolist() == a.activities.loss_ns.tolist()


def test_no_activities_give_no_groups(judged: Judged, call: Any) -> None:
    found = judged([call("aten::add", [])])
    empty = np.empty(0, np.int64)
    none = judge(
        found.analysis.trace,
        row=empty.astype(np.int32),
        device=empty.astype(np.int32),
        start_ns=empty,
        end_ns=empty,
        role=empty.astype(np.uint8),
        op_row=empty.astype(np.int32),
        owned_ns=empty,
        peaks=[],
        total_ns=0,
    )
    assert none.groups == ()
    assert len(none.loss_ns) == 0


def test_without_a_known_device_there_are_figures_and_no_verdict(judged: Judged, call: Any) -> None:
    group = judged([add(call, (2000, 200))], None).only()
    assert group.bytes == BYTES
    assert group.gbps == pytest.approx(BYTES / 200_000)
    assert group.bandwidth_fraction is None
    assert "--device-model" in group.why


@pytest.mark.parametrize(("length", "told"), [(10, True), (150, False)])
def test_a_kernel_that_shares_the_card_with_a_collective_is_not_called_slow(
    judged: Judged, call: Any, length: int, told: bool
) -> None:
    nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    collective = call("c10d::allreduce_", [(nccl, 2020, length)], [[8]], ["float"], stream=20)
    found = judged([add(call, (2000, 200)), collective])
    group = next(g for g in found.groups.values() if g.operator == "aten::add")
    assert (group.rule == "memory-bound-slow") is told
    assert ("a collective" in group.why) is not told
