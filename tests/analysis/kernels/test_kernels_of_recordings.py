"""Kernels of real recordings: figures that were worked out by hand, and coverage."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.support.recordings import analysed, loaded
from whichlayer.analysis.kernels.coverage import NO_MODEL, coverage_of
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.pipeline import analyse
from whichlayer.analysis.results import Analysis, KernelGroup, Options


@cache
def analysis_of(path: Path, model: str | None = None) -> Analysis:
    return analysed(path) if model is None else analyse(loaded(path), Options(device_model=model))


def own_work(analysis: Analysis) -> list[KernelGroup]:
    """Groups of the device's own work: no collectives, no transfers."""
    return [group for group in analysis.kernels if "gap it leaves" not in group.why]


def top(analysis: Analysis) -> KernelGroup:
    return max(own_work(analysis), key=lambda group: group.total_ns)


def test_a_poor_addition_reaches_a_third_of_the_bandwidth(traces: Path) -> None:
    group = top(analysis_of(traces / "tl_eval_add_poor_bandwidth.json"))
    assert (group.rule, group.layer) == ("memory-bound-slow", Layer.CUDA)
    assert group.gbps == pytest.approx(1910, rel=0.02)
    assert group.bandwidth_fraction == pytest.approx(0.36, rel=0.02)


def test_a_weak_attention_reaches_a_fifth_of_the_rate(traces: Path) -> None:
    group = top(analysis_of(traces / "tl_eval_sdpa_low_efficiency.json"))
    assert group.rule == "compute-bound-slow"
    assert group.tflops == pytest.approx(267, rel=0.02)
    assert group.flops_fraction == pytest.approx(0.20, rel=0.03)


@pytest.mark.parametrize(
    ("name", "rule", "tflops"),
    [
        ("tl_eval_nv_gemm_square.json", "compute-bound-slow", 137),
        ("tl_eval_nv_flash_short_seq.json", "compute-bound-slow", 157),
        ("tl_eval_nv_grouped_conv.json", "fp32-matmul", 0.96),
    ],
)
def test_recordings_without_a_device_are_judged_as_the_card_that_is_named(
    traces: Path, name: str, rule: str, tflops: float
) -> None:
    named = top(analysis_of(traces / name, "B200"))
    assert named.rule == rule
    assert named.tflops == pytest.approx(tflops, rel=0.02)
    unnamed = top(analysis_of(traces / name))
    assert unnamed.tflops == pytest.approx(tflops, rel=0.02)
    assert (unnamed.rule, unnamed.flops_fraction) == ("", None)


def test_layout_kernels_of_a_residual_network_are_known_by_their_grids(traces: Path) -> None:
    groups = own_work(analysis_of(traces / "tl_mi300_ddp_resnet18.json.gz"))
    layout = [group for group in groups if group.rule == "layout-copy"]
    assert sum(group.total_ns for group in layout) > 60_000_000
    assert all(group.bytes is not None for group in layout)
    # Between a quarter of the card's bandwidth and all of it: no tensor is taken for another.
    long = [group for group in layout if group.total_ns > 1_000_000]
    assert all(0.25 < (group.bandwidth_fraction or 0.0) < 1.0 for group in long)


@pytest.mark.parametrize("name", ["tl_h100_timesformer.json.gz", "tl_mi300_timesformer.json.gz"])
def test_separate_attention_is_most_of_a_timesformers_time(traces: Path, name: str) -> None:
    groups = own_work(analysis_of(traces / name))
    busy = sum(group.total_ns for group in groups)
    unfused = [group for group in groups if group.rule == "unfused-attention"]
    assert sum(group.total_ns for group in unfused) > 0.5 * busy
    assert {group.layer for group in unfused} == {Layer.PYTORCH}
    # Its good products are at the roof whatever their occupancy says.
    products = [group for group in groups if group.operator == "aten::addmm"]
    assert not any(group.rule == "memory-bound-slow" and group.total_ns > 500_000
                   for group in products)  # fmt: skip


def test_fp32_convolutions_on_a_v100_are_a_precision_problem(traces: Path) -> None:
    analysis = analysis_of(traces / "kineto_resnet50_workers4.json.gz")
    lost = sum(group.lost_ns for group in analysis.kernels if group.rule == "fp32-matmul")
    assert lost > 0.2 * analysis.budget.total_ns


def files(folder: Path) -> list[Path]:
    names = [*folder.glob("*.json"), *folder.glob("*.json.gz")]
    return sorted(path for path in names if not path.name.startswith(("speedscope", "expected")))


def test_no_figure_above_the_roof_goes_without_a_flag(traces: Path) -> None:
    for path in files(traces):
        for group in analysis_of(path).kernels:
            share = group.bandwidth_fraction or 0.0
            if share > 1.02:
                assert set(group.flags) & {
                    "impossible", "cache-resident", "broadcast", "above-roof"
                }, (path.name, group.name[:60], share)  # fmt: skip
            rate = group.flops_fraction or 0.0
            assert rate <= 1.1 or set(group.flags) & {"impossible", "winograd-or-fft"}


def test_losses_are_within_the_time_and_owned_as_the_groups_say(traces: Path) -> None:
    for path in files(traces):
        analysis = analysis_of(path)
        activities = analysis.activities
        assert (activities.loss_ns >= 0).all()
        assert (activities.loss_ns <= activities.owned_ns).all()
        assert not activities.loss_ns[~activities.judged].any()
        assert not activities.loss_ns[activities.layer == Layer.NONE].any()
        assert sum(group.lost_ns for group in analysis.kernels) == activities.loss_ns.sum()
        inside = activities.group >= 0
        for group, total in zip(
            analysis.kernels,
            np.bincount(activities.group[inside], activities.owned_ns[inside]).tolist(),
            strict=True,
        ):
            assert group.total_ns == total


def test_every_group_says_why(traces: Path) -> None:
    for path in files(traces):
        for group in analysis_of(path).kernels:
            assert group.why
            assert "\n" not in group.why
            assert group.short_name
            assert family(group.name)


#: Recordings whose kernels' bytes have to be known for 95 % of their time.
KNOWN = ("kineto_resnet50_workers0", "kineto_resnet50_workers4", "pt_a100pcie_particle",
         "tl_h100_bert", "tl_mi300_bert", "tl_h100_timesformer", "tl_mi300_timesformer",
         "tl_mi300_ddp_resnet18", "tl_mi300_sd35_239k_events", "tl_mi300_compile_triton",
         "tl_eval_b300_moe", "tl_eval_add_poor_bandwidth",
         "tl_eval_sdpa_low_efficiency")  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_bytes_are_known_where_operators_recorded_their_shapes(traces: Path, name: str) -> None:
    (path,) = traces.glob(f"{name}.json*")
    share = coverage_of(analysis_of(path)).bytes_share
    assert share is not None and share >= 0.95


def test_operators_that_recorded_their_tensors_have_models(traces: Path) -> None:
    """What no model knows is at most 5 % of what a recording tells enough of."""
    for path in files(traces):
        found = coverage_of(analysis_of(path))
        lacking = sum(one.bytes_ns for one in found.missing if one.reason == NO_MODEL)
        assert lacking <= 0.05 * (found.bytes_ns + lacking), path.name
