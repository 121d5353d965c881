"""Rules on real recordings, each against what plain loops over the file's own events say."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.program import gap_time
from tests.support.recordings import analysed
from whichlayer.analysis import Analysis
from whichlayer.analysis.gaps.explain import explain_gap

Event = dict[str, Any]


@cache
def events(path: Path) -> tuple[Event, ...]:
    """The slices of a file, read by nothing of ours."""
    with gzip.open(path, "rt") as file:
        found = json.load(file)
    listed = found["traceEvents"] if isinstance(found, dict) else found
    return tuple(one for one in listed if one.get("ph") == "X" and "dur" in one)


def lasting(path: Path, *starts: str) -> list[float]:
    """How long the slices of these names last, in microseconds, the longest first."""
    return sorted((float(one["dur"]) for one in events(path) if one["name"].startswith(starts)),
                  reverse=True)  # fmt: skip


def pieces(analysis: Analysis, rule: str) -> list[int]:
    return [index for index in range(len(analysis.gaps)) if analysis.gaps.rule(index) == rule]


def groups(analysis: Analysis, rule: str) -> list[Any]:
    return [group for group in analysis.kernels if group.rule == rule]


def test_the_first_convolution_of_a_program_loads_code(traces: Path) -> None:
    path = traces / "hta_a100_simple_add.json.gz"
    told = gap_time(analysed(path))["module-load"]
    (longest, *_) = lasting(path, "aten::cudnn_convolution")
    loading = [one for one in lasting(path, "cudaFree", "cudaLaunchKernel") if one > 1e6]
    assert sum(loading) <= told <= longest + 1e4


def test_reading_values_in_a_recommender_is_a_wait_for_the_device(traces: Path) -> None:
    path = traces / "hta_a100_dlrm_8rank_r3.json.gz"
    analysis = analysed(path)
    told = gap_time(analysis)["host-sync"]
    assert 20e3 < told < sum(lasting(path, "aten::item"))
    (found, *_) = [one for one in analysis.findings if one.rule == "host-sync"]
    assert "## all2all" in str(found.where) and ":init ## > aten::item" in str(found.where)


def test_a_cast_in_host_memory_is_an_operator_of_the_cpu(traces: Path) -> None:
    path = traces / "tl_mi300_timesformer.json.gz"
    analysis = analysed(path)
    (found,) = [one for one in analysis.findings if one.rule == "cpu-operator"]
    # The longest but one: the longest waits for the device at the end.
    assert abs(found.time_ns / 1e3 - lasting(path, "aten::to")[1]) < 100
    calls = [one for one in events(path) if one.get("cat") == "cuda_runtime"]
    (region,) = found.regions
    begin = min(float(one["ts"]) for one in events(path) if one.get("cat") != "Trace")
    inside = (region.start_ns / 1e3 + begin, region.end_ns / 1e3 + begin)
    assert not [one for one in calls if inside[0] < float(one["ts"]) < inside[1]]


def test_a_graph_that_is_captured_is_no_time_of_the_program(traces: Path) -> None:
    path = traces / "tl_mi300_vllm_decode_capture.json.gz"
    told = gap_time(analysed(path))["graph-capture"]
    (whole, *_) = lasting(path, "capture_32_FULL")
    assert 0.9 * whole < told <= whole
    assert lasting(path, "hipGraphInstantiateWithFlags")


def test_gradients_filled_one_by_one_are_an_optimizers_loop(traces: Path) -> None:
    path = traces / "kineto2020_resnet50_workers0.json.gz"
    analysis = analysed(path)
    (found,) = [one for one in analysis.findings if one.rule == "optimizer-loop"]
    own = sum(lasting(path, "Optimizer."))
    assert 0.2 * own < found.time_ns / 1e3 < own
    assert "161 of them for one tensor each" in " ".join(found.evidence)


def test_products_on_kernels_that_load_single_elements_are_the_librarys_choice(
    traces: Path,
) -> None:
    found = groups(analysed(traces / "hta_a100_dlrm_8rank_r3.json.gz"), "kernel-selection")
    assert sum(group.lost_ns for group in found) > 5e6
    assert all("align1" in group.name for group in found)


def test_what_is_latency_bound_is_a_few_microseconds_long(traces: Path) -> None:
    for name in ("hta_a100_dlrm_8rank_r3", "kineto_resnet50_workers0", "tl_h100_timesformer"):
        found = groups(analysed(traces / f"{name}.json.gz"), "latency-bound")
        assert found
        assert all(group.total_ns / group.calls <= 12_000 for group in found)


def test_latency_of_launches_is_that_of_the_recording(traces: Path) -> None:
    path = traces / "tl_mi300_bert.json.gz"
    analysis = analysed(path)
    begun = {one["args"]["correlation"]: float(one["ts"]) for one in events(path)
             if one.get("cat") == "cuda_runtime" and "correlation" in one["args"]}  # fmt: skip
    delays = [float(one["ts"]) - begun[one["args"]["correlation"]] for one in events(path)
              if one.get("cat") == "kernel"]  # fmt: skip
    found = pieces(analysis, "launch-latency")
    length = analysis.gaps.end_ns - analysis.gaps.start_ns
    assert len(found) > 40
    assert max(length[index] for index in found) / 1e3 <= max(delays) + 0.001
    assert sum(length[index] for index in found) / 1e3 <= sum(delays)


def test_work_that_was_queued_long_before_waits_on_the_device(traces: Path) -> None:
    for name in ("kineto2020_resnet50_workers0.json.gz", "hta_v100_cuda_graphs.json.gz"):
        analysis = analysed(traces / name)
        found = pieces(analysis, "stream-wait")
        assert found
        gaps, trace = analysis.gaps, analysis.trace
        for index in found:
            assert trace.start_ns[gaps.launch_row[index]] <= gaps.start_ns[index]
        longest = max(found, key=lambda index: gaps.end_ns[index] - gaps.start_ns[index])
        assert "on its own stream, which ended" in " ".join(explain_gap(analysis, longest).evidence)


def test_a_value_that_is_read_exposes_its_copy(traces: Path) -> None:
    path = traces / "tl_h100_bert.json.gz"
    copies = [float(one["dur"]) for one in events(path) if one["name"].startswith("Memcpy DtoH")]
    assert copies and abs(gap_time(analysed(path))["d2h-exposed"] - sum(copies)) < 0.01
