"""The share of the roof goes with the loss: both are measured against the same ideal."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.recordings import analysed
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import KernelGroup

# The fixtures of conftest.py, which cannot be imported.
Judged = Callable[..., Any]

A100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_095_874_560,
        "numSms": 108, "computeMajor": 8, "computeMinor": 0, "warpSize": 32}  # fmt: skip
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)
SGEMM = "ampere_sgemm_128x128_nn"
AT_SHEET_NS = 3 * 4096 * 4096 * 4 / 3350  # bytes / (GB/s) = nanoseconds


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Any:
    """The Call class of the conftest beside this file."""
    return request.getfixturevalue("call_class")


def add(call: Any, duration_us: float) -> Any:
    """aten::add of two [4096, 4096] floats on an H100."""
    return call("aten::add", [(ADD, 2000, duration_us)], [[4096, 4096], [4096, 4096], []],
                ["float", "float", "Scalar"], ["", "", "1"])  # fmt: skip


def product(call: Any, duration_us: float) -> Any:
    """aten::mm of two [4096, 4096] floats in FP32."""
    return call("aten::mm", [(SGEMM, 2000, duration_us)], [[4096, 4096], [4096, 4096]],
                ["float", "float"])  # fmt: skip


def kept(group: KernelGroup) -> float:
    """The share of a group's time that is not lost."""
    return 1 - group.lost_ns / group.total_ns


def test_a_slow_kernels_share_is_what_it_does_not_lose(judged: Judged, call: Any) -> None:
    group = judged([add(call, 200)]).only()
    assert group.roof_fraction == kept(group)
    assert group.roof_fraction == pytest.approx((1000 + AT_SHEET_NS / 0.9) / 200_000, rel=1e-4)


def test_a_kernel_at_the_roof_keeps_its_measured_share(judged: Judged, call: Any) -> None:
    group = judged([add(call, 74)]).only()
    assert (group.rule, group.lost_ns) == ("at-roof", 0)
    assert group.roof_fraction == pytest.approx((1000 + AT_SHEET_NS / 0.9) / 74_000, rel=1e-4)


def test_an_fp32_product_at_its_own_roof_is_far_from_that_of_tf32(
    judged: Judged, call: Any
) -> None:
    at_fp32_sheet_us = 2 * 4096**3 / 19.5e12 * 1e6
    group = judged([product(call, at_fp32_sheet_us)], properties=A100).only()
    assert (group.rule, group.layer) == ("fp32-matmul", Layer.PRECISION)
    assert group.roof_fraction == kept(group)
    assert group.roof_fraction < 0.25
    assert group.flops_fraction == pytest.approx(1.0, rel=1e-3)


def test_a_window_that_cuts_a_kernel_leaves_its_share(judged: Judged, call: Any) -> None:
    from whichlayer.analysis.results import Options

    whole = judged([add(call, 200)]).only()
    half = judged([add(call, 200)], options=Options(span_ns=(1_000_000, 1_100_000))).only()
    assert half.total_ns == whole.total_ns / 2
    assert half.roof_fraction == pytest.approx(whole.roof_fraction, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("kineto_resnet50_workers4.json.gz", "fp32-matmul"),
        ("tl_mi300_timesformer.json.gz", "unfused-attention"),
        ("tl_mi300_ddp_resnet18.json.gz", "layout-copy"),
    ],
)
def test_share_and_loss_of_real_kernels_never_contradict(
    traces: Path, name: str, rule: str
) -> None:
    groups = [group for group in analysed(traces / name).kernels if group.lost_ns > 0]
    assert rule in {group.rule for group in groups}
    for group in groups:
        assert group.roof_fraction is not None
        assert math.isclose(group.roof_fraction, kept(group))
