"""Small grids, tails of waves and few resident warps: named where they are the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.recordings import analysed
from whichlayer.analysis.kernels.measure import Floor, Measured
from whichlayer.analysis.kernels.occupancy import LaunchShape, residency
from whichlayer.analysis.kernels.peaks import match_device
from whichlayer.analysis.kernels.rules import low_occupancy, small_grid, wave_tail
from whichlayer.analysis.kernels.ruling import rule_on
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Options

Judged = Callable[..., Any]
H100 = match_device(None, {}, Options(device_model="H100 SXM5"))
FLOOR = Floor(2000.0, measured=True)
NORM = "layer_norm"


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Any:
    """The Call class of the conftest beside this file."""
    return request.getfixturevalue("call_class")


def launched(
    share: float,
    blocks: int,
    *,
    threads: int = 256,
    registers: int = 32,
    shared: int = 0,
    category: str = "norm",
    time_us: float = 100.0,
    kernel: str = NORM,
) -> Measured:
    """A kernel at a share of the H100's bandwidth, its floor taken off, launched so."""
    size = round(share * 3350 * (time_us - 2.0) * 1e3)
    assert H100.sm is not None
    fits = residency(LaunchShape(blocks, threads, registers, shared), H100.sm, H100.units)
    return Measured("aten::native_layer_norm", (kernel,), Work(size, category=category), 1, 1,
                    time_us * 1e3, FLOOR, H100, blocks=blocks, residency=fits, share=0.5)  # fmt: skip


def test_fewer_blocks_than_multiprocessors_explain_a_slow_kernel() -> None:
    ruling = rule_on(launched(0.4, 131))
    assert (ruling.rule, ruling.layer) == ("small-grid", Layer.CUDA)
    assert ruling.why.startswith("131 blocks for 132 multiprocessors")
    assert ruling.ideal_ns == pytest.approx(2000 + 0.4 / 0.9 * 98_000, rel=1e-6)


def test_as_many_blocks_as_multiprocessors_are_no_small_grid() -> None:
    assert rule_on(launched(0.4, 132)).rule == "memory-bound-slow"


def test_a_small_grid_that_is_fast_enough_is_none() -> None:
    assert rule_on(launched(0.61, 64)).rule == ""
    assert rule_on(launched(0.85, 64)).rule == "at-roof"


def test_work_too_small_for_the_card_is_pytorchs() -> None:
    # 16 bytes for each of 132 x 1536 threads are 3.2 MB.
    small = launched(0.01, 8)
    assert small.work.bytes is not None
    assert small.work.bytes < 3_244_032 + 100_000
    ruling = rule_on(launched(0.009, 8))
    assert (ruling.rule, ruling.layer) == ("small-grid", Layer.PYTORCH)


@pytest.mark.parametrize("category", ["matmul", "attention"])
def test_products_are_never_blamed_for_few_blocks_or_few_warps(category: str) -> None:
    few = launched(0.4, 64, category=category, registers=255, threads=128)
    assert not small_grid.applies(few, small_grid.RULE.thresholds)
    many = launched(0.4, 64_000, category=category, registers=255, threads=128)
    assert not low_occupancy.applies(many, low_occupancy.RULE.thresholds)


def test_a_kernel_with_products_is_not_blamed_whatever_its_operator_is_called() -> None:
    template = launched(0.4, 64, category="compiled", kernel="triton_tem_fused_mm_0")
    assert rule_on(template).rule == "memory-bound-slow"


def test_trivial_kernels_have_small_grids_without_blame() -> None:
    # Six microseconds are no more than three trivial kernels.
    assert rule_on(launched(0.001, 1, time_us=6.0)).rule != "small-grid"
    # How long they take is not known: they are taken for the slowest of all cards.
    unsure = replace(launched(0.001, 1, time_us=20.0), floor=Floor())
    assert rule_on(unsure).rule != "small-grid"


def test_the_last_wave_explains_a_kernel_that_is_slow_by_as_much() -> None:
    # 8 blocks on each of 132 SMs: 1056 at once, 1.2 waves in the time of two.
    ruling = rule_on(launched(0.45, 1268))
    assert (ruling.rule, ruling.layer) == ("wave-tail", Layer.CUDA)
    assert ruling.why.startswith("1.20 waves of 1,056 blocks take the time of 2")


@pytest.mark.parametrize(
    ("share", "blocks", "more"),
    [
        (0.30, 1268, {}),  # with full waves it would still be slow
        (0.45, 1056, {}),  # one full wave
        (0.45, 1690, {}),  # 1.6 waves are 80 % full
        (0.45, 5400, {}),  # more than four waves
        (0.45, 1268, {"category": "pointwise"}),  # what is left of it has all of the bandwidth
        (0.61, 1268, {}),  # not slow
    ],
)
def test_a_tail_that_does_not_explain_it_is_not_blamed(
    share: float, blocks: int, more: dict[str, Any]
) -> None:
    assert rule_on(launched(share, blocks, **more)).rule != "wave-tail"


def test_the_tail_of_one_kernel_of_several_is_not_blamed() -> None:
    # Which of them took the time is not told.
    assert rule_on(replace(launched(0.45, 1268), launches=2)).rule != "wave-tail"


def test_a_tail_is_not_known_without_residency() -> None:
    unknown = replace(launched(0.45, 1268), residency=None)
    assert not wave_tail.applies(unknown, wave_tail.RULE.thresholds)
    assert not low_occupancy.applies(unknown, low_occupancy.RULE.thresholds)


def test_few_warps_by_registers_explain_a_slow_kernel_that_matters() -> None:
    # 255 registers: 8 warps on an SM of 64.
    ruling = rule_on(launched(0.4, 100_000, threads=128, registers=255))
    assert (ruling.rule, ruling.layer) == ("low-occupancy", Layer.CUDA)
    assert ruling.why.startswith("12% of the warps fit: 255 registers a thread")


def test_few_warps_by_shared_memory_are_told_as_such() -> None:
    ruling = rule_on(launched(0.4, 100_000, threads=128, shared=100_000))
    assert ruling.rule == "low-occupancy"
    assert "100,000 bytes of shared memory a block" in ruling.why


@pytest.mark.parametrize(
    "measured",
    [
        replace(launched(0.4, 100_000, threads=128, registers=255), share=0.04),  # too little time
        launched(0.4, 100_000, threads=128, registers=96),  # 20 warps of 64
        launched(0.4, 100_000, threads=32, registers=16),  # limited by block slots
        launched(0.61, 100_000, threads=128, registers=255),  # not slow
    ],
)
def test_occupancy_is_not_blamed_where_it_is_not_the_reason(measured: Measured) -> None:
    assert rule_on(measured).rule != "low-occupancy"


def test_a_recorded_launch_is_read_and_told(judged: Judged, call: Any) -> None:
    launch = {"grid": [64, 1, 1], "block": [256, 1, 1], "registers per thread": 40,
              "shared memory": 2048, "est. achieved occupancy %": 6}  # fmt: skip
    group = judged([
        call("aten::softmax_", [("softmax_kernel", 2000.0, 50.0)], launch=launch),
        call("aten::_softmax", [("softmax_warp_forward", 2100.0, 400.0)],
             [[4096, 8192], [], []], ["float", "Scalar", "Scalar"], ["", "1", "False"],
             launch=launch),
    ]).groups["softmax_warp_forward"]  # fmt: skip
    assert (group.rule, group.layer) == ("small-grid", Layer.CUDA)
    # 40 x 32 = 1280 registers a warp: 12 of a scheduler's 16384, 48 warps, 6 blocks of 8.
    assert (group.resident_blocks, group.limiter, group.occupancy) == (6, "registers", 75.0)
    assert group.waves == pytest.approx(64 / (132 * 6))
    assert (group.blocks, group.recorded_occupancy) == (64, 6.0)


def test_a_launch_without_registers_has_blocks_and_no_occupancy(judged: Judged, call: Any) -> None:
    group = judged([
        call("aten::_softmax", [("softmax_warp_forward", 2100.0, 400.0)],
             [[4096, 8192], [], []], ["float", "Scalar", "Scalar"], ["", "1", "False"],
             launch={"grid": [64, 1, 1], "block": [256, 1, 1]}),
    ]).only()  # fmt: skip
    assert (group.blocks, group.occupancy, group.waves, group.limiter) == (64, None, None, "")


def test_real_batch_norms_of_64_channels_fill_a_fifth_of_an_mi300x(traces: Path) -> None:
    analysis = analysed(traces / "tl_mi300_ddp_resnet18.json.gz")
    found = [group for group in analysis.kernels if group.rule == "small-grid"
             and group.operator == "aten::native_batch_norm_backward"]  # fmt: skip
    slowest = max(found, key=lambda group: group.lost_ns)
    assert (slowest.blocks, slowest.layer) == (64, Layer.CUDA)
    assert slowest.bandwidth_fraction is not None
    assert slowest.bandwidth_fraction < 0.1
    assert slowest.occupancy is None


def test_real_products_of_a_recommender_end_in_a_fifth_of_a_wave(traces: Path) -> None:
    analysis = analysed(traces / "hta_a100_dlrm_8rank_r3.json.gz")
    found = [group for group in analysis.kernels if group.rule == "wave-tail"]
    assert any(group.waves == pytest.approx(1.19, abs=0.01) for group in found)
    assert all(1 < (group.waves or 0) < 4 for group in found)
