"""Real recordings: figures computed by others, and diagnoses that must hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import budget_parts, gap_time
from tests.support.recordings import analysed
from whichlayer.analysis import Analysis, Options, analyse
from whichlayer.analysis.layers import ABOVE_CUDA


def recordings(folder: Path) -> dict[str, dict[str, Any]]:
    expected: dict[str, dict[str, Any]] = json.loads((folder / "expected.json").read_text())
    return {name: {"devices": {}, "steps": []} | entry for name, entry in expected.items()}


def shares(analysis: Analysis) -> dict[str, float]:
    """Share of the window by cause of gap."""
    total = analysis.budget.total_ns / 1000
    return {cause: time / total for cause, time in gap_time(analysis).items()}


def largest_gap(analysis: Analysis) -> tuple[str, float]:
    """Cause and milliseconds of the longest piece."""
    length = analysis.gaps.end_ns - analysis.gaps.start_ns
    index = int(length.argmax())
    return analysis.gaps.rule(index), float(length[index]) / 1e6


def test_figures_of_every_device_equal_the_independent_ones(traces: Path) -> None:
    for name, expected in recordings(traces).items():
        analysis = analysed(traces / name)
        found = {str(device.number): device for device in analysis.devices}
        assert found.keys() == expected["devices"].keys(), name
        for number, figures in expected["devices"].items():
            device = found[number]
            told = {
                "span_us": device.end_ns - device.start_ns,
                "busy_us": device.busy_ns,
                "idle_us": device.idle_ns,
                "compute_us": device.compute_ns,
                "exposed_comm_us": device.exposed_comm_ns,
                "exposed_copy_us": device.exposed_copy_ns,
            }
            for key, value in told.items():
                assert abs(value / 1000 - figures[key]) <= 1, (name, number, key)
            assert device.activities == figures["activities"], name


def test_steps_are_those_recorded(traces: Path) -> None:
    for name, expected in recordings(traces).items():
        told = [step.name for step in analysed(traces / name).trace.steps]
        assert told == expected["steps"], name


def test_the_layer_budget_adds_up_to_the_nanosecond(traces: Path) -> None:
    for name in recordings(traces):
        analysis = analysed(traces / name)
        window = analysis.window.end_ns - analysis.window.start_ns
        assert budget_parts(analysis.budget) == analysis.budget.total_ns, name
        assert analysis.budget.total_ns == window * len(analysis.devices), name
        for budget in (*analysis.budget_by_device, *analysis.budget_by_step):
            assert budget_parts(budget) == budget.total_ns, name
            assert all(value >= 0 for value in budget.loss_ns.values()), name
            assert budget.at_roof_ns >= 0, name


def test_segments_cover_the_window_without_overlap(traces: Path) -> None:
    for name in recordings(traces):
        analysis = analysed(traces / name)
        for segments in analysis.segments:
            assert segments.start_ns[0] == analysis.window.start_ns, name
            assert segments.end_ns[-1] == analysis.window.end_ns, name
            assert (segments.start_ns[1:] == segments.end_ns[:-1]).all(), name


@pytest.mark.parametrize(
    ("name", "side", "devices", "activities"),
    [
        ("nsys_h100_2gpu.sqlite", "above-cuda", 2, 4368),
        ("nsys_mock.sqlite", "above-cuda", 1, 3),
    ],
)
def test_nsight_exports_open_with_a_verdict(
    traces: Path, name: str, side: str, devices: int, activities: int
) -> None:
    analysis = analysed(traces / name)
    assert analysis.verdict.side == side
    assert len(analysis.devices) == devices
    assert sum(device.activities for device in analysis.devices) == activities
    window = analysis.window.end_ns - analysis.window.start_ns
    assert budget_parts(analysis.budget) == analysis.budget.total_ns == window * devices


def test_the_classic_loader_stall_is_the_loaders(traces: Path) -> None:
    analysis = analysed(traces / "kineto_resnet50_workers0.json.gz")
    assert 0.30 <= shares(analysis)["dataloader-wait"] <= 0.35
    assert analysis.findings[0].rule == "dataloader-wait"
    assert "num_workers=0" in analysis.findings[0].fix
    assert analysis.verdict.side in ("above-cuda", "both")
    assert str(analysis.findings[0].where) == "resnet50_profiler_api.py:42"


def test_with_workers_the_copies_and_dispatch_remain(traces: Path) -> None:
    analysis = analysed(traces / "kineto_resnet50_workers4.json.gz")
    assert shares(analysis).get("dataloader-wait", 0.0) < 0.02
    assert analysis.findings[0].rule != "dataloader-wait"
    pageable = [
        (int(analysis.gaps.end_ns[i]) - int(analysis.gaps.start_ns[i])) / 1e6
        for i in range(len(analysis.gaps))
        if analysis.gaps.rule(i) == "h2d-pageable"
    ]
    # One copy of about 3 ms a step, most of it exposed.
    assert sum(2.0 < piece < 4.0 for piece in pageable) >= 5


def test_freeing_inside_convolutions_is_the_allocators(traces: Path) -> None:
    analysis = analysed(traces / "tl_mi300_ddp_resnet18.json.gz")
    cause, length = largest_gap(analysis)
    assert cause == "allocator"
    assert 47 <= length <= 69
    assert analysis.findings[0].rule == "allocator"


def test_an_eager_server_is_launch_bound(traces: Path) -> None:
    analysis = analysed(traces / "tl_b200_vllm_eager.json.gz")
    told = shares(analysis)
    assert told["launch-bound"] > 0.6  # single operators held the host for 1 to 2 ms: unattributed
    assert analysis.findings[0].rule == "launch-bound"
    assert analysis.devices[0].idle_ns / (
        analysis.devices[0].end_ns - analysis.devices[0].start_ns
    ) == pytest.approx(0.86, abs=0.01)
    assert analysis.devices[0].exposed_comm_ns / 1e6 == pytest.approx(2.1, abs=0.1)


@pytest.mark.parametrize("name", ["tl_h100_timesformer", "tl_mi300_timesformer"])
def test_preprocessing_before_the_first_kernel_is_python(traces: Path, name: str) -> None:
    path = traces / f"{name}.json.gz"
    analysis = analysed(path)
    assert analysis.findings[0].rule == "python-overhead"
    assert analysis.verdict.side in ("both", "above-cuda")
    device = analysis.devices[0]
    inside = analyse(analysis.trace, Options(span_ns=(device.start_ns, device.end_ns)))
    above = sum(inside.budget.gap_ns.get(layer, 0) for layer in ABOVE_CUDA)
    assert above / inside.budget.total_ns < 0.05
    host = {"python-overhead", "launch-bound", "host-sync", "dataloader-wait", "cpu-operator"}
    assert not host & {finding.rule for finding in inside.findings}


def test_inside_one_graph_launch_no_host_is_blamed(traces: Path) -> None:
    analysis = analysed(traces / "tl_mi300_vllm_decode_graph.json.gz")
    assert shares(analysis).keys() <= {"in-graph-gap", "stream-wait", "launch-latency"}
    assert sum(analysis.budget.gap_ns.get(layer, 0) for layer in ABOVE_CUDA) == 0


@pytest.mark.parametrize(
    "name", ["tl_h100_qwen", "hta_v100_cuda_graphs", "kineto2020_resnet50_workers0"]
)
def test_only_gaps_before_unlaunched_work_are_unattributed(traces: Path, name: str) -> None:
    analysis = analysed(traces / f"{name}.json.gz")
    gaps = analysis.gaps
    for i in range(len(gaps)):
        if gaps.kind[i] == 0 and gaps.next_row[i] >= 0 and gaps.launch_row[i] < 0:
            assert gaps.rule(i) == "unattributed"
    assert (analysis.trace.launch[analysis.activities.row] < 0).sum() > 100
    assert shares(analysis).get("unattributed", 0.0) < 0.02


def test_the_loader_of_2020_still_owns_a_fifth(traces: Path) -> None:
    analysis = analysed(traces / "kineto2020_resnet50_workers0.json.gz")
    assert 0.18 <= shares(analysis)["dataloader-wait"] <= 0.24


def test_launch_calls_that_block_on_a_full_queue_are_no_finding(traces: Path) -> None:
    analysis = analysed(traces / "hta_v100_float_epoch.json.gz")
    assert not [f for f in analysis.findings if f.layer in ABOVE_CUDA]


def test_exposed_communication_counts(traces: Path) -> None:
    analysis = analysed(traces / "hta_a100_dlrm_8rank_r3.json.gz")
    device = analysis.devices[0]
    span = device.end_ns - device.start_ns
    assert device.busy_ns / span == pytest.approx(0.836, abs=0.002)
    assert device.compute_ns / span == pytest.approx(0.61, abs=0.01)
    # The host's waits come first: without them it would hide most of the communication.
    assert max(analysis.findings, key=lambda f: f.time_ns).rule == "exposed-comm"


def test_a_recording_without_kernels_says_why_there_is_no_verdict(traces: Path) -> None:
    for name, code in (
        ("hta_cpu_only.json.gz", "CPU-only"),
        ("pt_a100pcie_no_kernels.json", "no GPU activity"),
        ("hta_mtia_inference.json.gz", "no GPU activity"),
    ):
        analysis = analysed(traces / name)
        assert analysis.verdict.side == "unclear"
        told = " ".join((analysis.verdict.text, *(w.message for w in analysis.warnings)))
        assert code in told, name
