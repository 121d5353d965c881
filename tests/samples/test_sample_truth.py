"""Each truth agrees with its file: figures recomputed here from the events alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

Event = dict[str, Any]
Span = tuple[int, int]
Load = Callable[[str], tuple[Event, Event]]

GPU_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
VERDICTS = {
    "dataloader_bound": ("dataloader-wait", "runtime", "above-cuda"),
    "host_sync": ("host-sync", "pytorch", "above-cuda"),
    "launch_bound_decode": ("launch-bound", "boundary", "above-cuda"),
    "unpinned_copies": ("h2d-pageable", "runtime", "above-cuda"),
    "memory_bound_slow": ("memory-bound-slow", "cuda", "below-pytorch"),
    "fp32_matmul_a100": ("fp32-matmul", "precision", "below-pytorch"),
    "healthy": ("none", "none", "healthy"),
}
#: No two kernels of a full queue are further apart, in nanoseconds.
SPACING = 2_500


def of_kind(trace: Event, *categories: str) -> list[Event]:
    return [e for e in trace["traceEvents"] if e.get("cat") in categories and e["ph"] == "X"]


def origin(trace: Event) -> int:
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"]
    return int(min(e["ts"] for e in slices))


def nanoseconds(truth_us: float) -> int:
    return round(truth_us * 1000)


def spans_of(truth: list[list[float]]) -> list[Span]:
    return [(nanoseconds(start), nanoseconds(end)) for start, end in truth]


def relative(trace: Event, events: Iterable[Event]) -> list[Span]:
    zero = origin(trace)
    return [(e["ts"] - zero, e["end"] - zero) for e in events]


def busy_spans(trace: Event) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(relative(trace, of_kind(trace, *GPU_WORK))):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def idle_spans(trace: Event, window: Span) -> list[Span]:
    edges = [(window[0], window[0]), *busy_spans(trace), (window[1], window[1])]
    return [(a[1], b[0]) for a, b in pairwise(edges) if b[0] > a[1]]


def overlap(spans: list[Span], window: Span) -> int:
    return sum(max(0, min(end, window[1]) - max(start, window[0])) for start, end in spans)


def clipped(spans: list[Span], windows: list[Span]) -> list[Span]:
    return [
        (max(start, low), min(end, high))
        for start, end in spans
        for low, high in windows
        if min(end, high) > max(start, low)
    ]


def steps_of(trace: Event) -> list[Event]:
    return [e for e in of_kind(trace, "user_annotation") if e["name"].startswith("ProfilerStep#")]


def launches(trace: Event) -> dict[int, Event]:
    return {e["args"]["correlation"]: e for e in of_kind(trace, "cuda_runtime")}


def operators(trace: Event) -> dict[int, Event]:
    return {e["args"]["External id"]: e for e in of_kind(trace, "cpu_op", "user_annotation")}


def planted(truth: Event) -> list[Span]:
    return [span for step in truth["steps"] for span in spans_of(step["planted_us"])]


def kernels_under(trace: Event, operator: str) -> list[tuple[Event, Event]]:
    known = operators(trace)
    pairs = [(e, known[e["args"]["External id"]]) for e in of_kind(trace, "kernel")]
    return [(kernel, op) for kernel, op in pairs if op["name"] == operator]


def product_tflops(kernel: Event, op: Event) -> float:
    (m, k), (_, n) = op["args"]["Input Dims"][:2]
    return float(2 * m * n * k / kernel["dur"] / 1000)


def test_truth_names_the_planted_rule_its_owner_and_its_side(name: str, truth: Event) -> None:
    assert (truth["rule"], truth["layer"], truth["side"]) == VERDICTS[name]


def test_window_busy_and_idle_time_are_those_of_the_file(trace: Event, truth: Event) -> None:
    zero, calls = origin(trace), launches(trace)
    steps = steps_of(trace)
    own = [
        e
        for e in of_kind(trace, *GPU_WORK)
        if calls[e["args"]["correlation"]]["ts"] < steps[-1]["end"]
    ]
    window = (steps[0]["ts"] - zero, max(steps[-1]["end"], *(e["end"] for e in own)) - zero)
    assert spans_of([truth["window_us"]]) == [window]
    assert nanoseconds(truth["busy_us"]) == overlap(busy_spans(trace), window)
    assert nanoseconds(truth["idle_us"]) == sum(b - a for a, b in idle_spans(trace, window))


def test_steps_are_those_of_the_file(trace: Event, truth: Event) -> None:
    zero, calls = origin(trace), launches(trace)
    steps = steps_of(trace)
    assert [s["name"] for s in truth["steps"]] == [e["name"] for e in steps]
    assert [spans_of([s["host_us"]])[0] for s in truth["steps"]] == relative(trace, steps)
    at = steps[0]["ts"] - zero
    for step, told in zip(steps, truth["steps"], strict=True):
        ends = [
            e["end"] - zero
            for e in of_kind(trace, *GPU_WORK)
            if step["ts"] <= calls[e["args"]["correlation"]]["ts"] < step["end"]
        ]
        assert spans_of([told["device_us"]]) == [(at, max(ends))]
        assert nanoseconds(told["busy_us"]) == overlap(busy_spans(trace), (at, max(ends)))
        at = max(ends)


def test_planted_cause_dominates_the_window(name: str, truth: Event) -> None:
    start, end = truth["window_us"]
    share = truth["lost_us"] / (end - start)
    assert abs(share - truth["share"]["expected"]) < 1e-4
    assert truth["share"]["low"] <= share <= truth["share"]["high"]
    if name == "healthy":
        assert truth["lost_us"] == truth["recoverable_us"] == 0
    else:
        assert share > 0.25
        assert truth["recoverable_us"] / (end - start) > 0.25


def test_planted_spans_are_disjoint_and_inside_the_window(truth: Event) -> None:
    spans = planted(truth)
    (window,) = spans_of([truth["window_us"]])
    assert all(window[0] <= start < end <= window[1] for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_places_to_fix_are_frames_of_the_file(trace: Event, truth: Event) -> None:
    frames = {e["name"] for e in of_kind(trace, "python_function")}
    for place in truth["where"]:
        assert f"{place['file']}({place['line']}): {place['function']}" in frames


def test_loader_starves_the_gpu_exactly_where_the_truth_says(load: Load) -> None:
    trace, truth = load("dataloader_bound")
    calls = [
        e
        for e in of_kind(trace, "user_annotation")
        if e["name"] == "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    ]
    (window,) = spans_of([truth["window_us"]])
    idle = [span for span in idle_spans(trace, window) if span[1] - span[0] > SPACING]
    starved = clipped(idle, relative(trace, calls))
    assert starved == planted(truth)
    assert nanoseconds(truth["lost_us"]) == sum(b - a for a, b in starved)


def test_each_step_waits_for_the_loss_and_then_runs_at_the_hosts_pace(load: Load) -> None:
    trace, truth = load("host_sync")
    known, calls = operators(trace), launches(trace)
    waits = [
        e
        for e in of_kind(trace, "cuda_runtime")
        if e["name"] == "cudaMemcpyAsync"
        and known[e["args"]["External id"]]["name"] == "aten::_local_scalar_dense"
    ]
    assert len(waits) == len(steps_of(trace))
    assert relative(trace, waits) == spans_of(truth["blocking_calls_us"])
    copies = {e["args"]["correlation"]: e for e in of_kind(trace, "gpu_memcpy")}
    for wait in waits:
        copy = copies[wait["args"]["correlation"]]
        assert copy["name"] == "Memcpy DtoH (Device -> Pageable)"
        assert copy["end"] <= wait["end"], "the call returns when the copy is done"
    zero = origin(trace)
    starts = {e["ts"] - zero: calls[e["args"]["correlation"]] for e in of_kind(trace, *GPU_WORK)}
    (window,) = spans_of([truth["window_us"]])
    late = {
        start: starts[end]["ts"] - zero for start, end in idle_spans(trace, window) if end in starts
    }
    for start, end in planted(truth):
        assert late[start] == end, "from the start of the idle time to the launch that ends it"


def test_loss_would_be_hidden_but_for_the_wait(load: Load) -> None:
    _, truth = load("host_sync")
    # The host's lateness and the launch latency after it are what the simulator gets back.
    assert truth["lost_us"] <= truth["recoverable_us"] <= 1.15 * truth["lost_us"]


def test_host_is_late_for_nearly_every_kernel_of_a_token(load: Load) -> None:
    trace, truth = load("launch_bound_decode")
    kernels = of_kind(trace, "kernel")
    assert len(planted(truth)) > 0.95 * len(kernels)
    assert sum(e["dur"] for e in kernels) / len(kernels) < 10_000
    assert truth["idle_us"] > 0.8 * (truth["window_us"][1] - truth["window_us"][0])
    wait = truth["not_the_cause"]["host-sync"]
    assert wait["recoverable_us"] < 0.05 * truth["lost_us"]
    calls = relative(
        trace, [e for e in of_kind(trace, "cuda_runtime") if e["name"] == "cudaStreamSynchronize"]
    )
    assert calls == spans_of(wait["calls_us"])


def test_pageable_copies_are_alone_on_the_device(load: Load) -> None:
    trace, truth = load("unpinned_copies")
    copies = [
        e
        for e in of_kind(trace, "gpu_memcpy")
        if "Pageable -> Device" in e["name"] and e["args"]["bytes"] > 1e6
    ]
    assert relative(trace, copies) == planted(truth)
    assert nanoseconds(truth["lost_us"]) == sum(e["dur"] for e in copies)
    assert all(e["args"]["bytes"] / e["dur"] < 8 for e in copies)
    kernels = relative(trace, of_kind(trace, "kernel", "gpu_memset"))
    assert all(overlap(kernels, span) == 0 for span in planted(truth))
    calls = launches(trace)
    for copy in copies:
        assert calls[copy["args"]["correlation"]]["end"] >= copy["end"]


def test_slow_kernels_move_their_bytes_at_a_quarter_of_the_bandwidth(load: Load) -> None:
    trace, truth = load("memory_bound_slow")
    told = {group["operator"]: group for group in truth["kernels"]}
    lost = 0.0
    for operator, tensors in (("aten::add", 3), ("aten::_softmax", 2)):
        group = kernels_under(trace, operator)
        assert len(group) == told[operator]["calls"]
        assert {kernel["name"] for kernel, _ in group} == {told[operator]["name"]}
        for kernel, op in group:
            batch, tokens, width = op["args"]["Input Dims"][0]
            moved = tensors * batch * tokens * width * 2
            assert 0.20 < moved / kernel["dur"] / 3350 < 0.45
            lost += kernel["dur"] - 1500 - moved / (0.9 * 3350)
        rate = tensors * batch * tokens * width * 2 * len(group)
        assert abs(rate / sum(k["dur"] for k, _ in group) - told[operator]["gbps"]) < 0.1
    assert abs(lost - truth["lost_us"] * 1000) < 1000
    strides = {tuple(op["args"]["Input Strides"][1]) for _, op in kernels_under(trace, "aten::add")}
    assert strides == {(2_097_152, 1, 1024)}
    assert truth["busy_us"] > 0.98 * (truth["window_us"][1] - truth["window_us"][0])


def test_products_around_the_slow_kernels_are_at_the_roof(load: Load) -> None:
    trace, _ = load("memory_bound_slow")
    products = kernels_under(trace, "aten::mm")
    assert all(0.85 * 0.75 * 989 < product_tflops(*pair) < 989 for pair in products)


def test_fp32_products_run_at_the_fp32_roof_of_the_a100(load: Load) -> None:
    trace, truth = load("fp32_matmul_a100")
    products = kernels_under(trace, "aten::mm")
    assert {op["args"]["Input type"][0] for _, op in products} == {"float"}
    assert all(kernel["name"].startswith("ampere_sgemm_128x128_") for kernel, _ in products)
    assert all(0.85 * 0.85 * 19.5 < product_tflops(*pair) < 19.5 for pair in products)
    assert relative(trace, [kernel for kernel, _ in products]) == planted(truth)
    start, end = truth["window_us"]
    share = sum(kernel["dur"] for kernel, _ in products) / 1000 / (end - start)
    assert share > 0.9
    assert abs(share - truth["product_share"]) < 1e-4


def test_healthy_sample_is_busy_and_at_the_roof(load: Load) -> None:
    trace, truth = load("healthy")
    assert truth["busy_us"] > 0.95 * (truth["window_us"][1] - truth["window_us"][0])
    products = kernels_under(trace, "aten::mm")
    assert all(0.85 * 0.75 * 989 < product_tflops(*pair) < 989 for pair in products)
    assert sum(k["dur"] for k, _ in products) > 0.75 * nanoseconds(truth["busy_us"])
    for operator, tensors in (("aten::gelu", 2), ("aten::gelu_backward", 3), ("aten::add", 3)):
        for kernel, op in kernels_under(trace, operator):
            batch, length, width = op["args"]["Input Dims"][0]
            moved = tensors * batch * length * width * 2
            assert 0.8 < moved / kernel["dur"] / 3350 < 1


def test_healthy_sample_hides_its_loader_and_its_wait(load: Load) -> None:
    trace, truth = load("healthy")
    (window,) = spans_of([truth["window_us"]])
    idle = [span for span in idle_spans(trace, window) if span[1] - span[0] > SPACING]
    covered = truth["covered"]
    for call in spans_of(covered["host-sync"]):
        assert call[1] - call[0] > 50_000_000
        assert overlap(idle, call) == 0
    first, *later = spans_of(covered["dataloader-wait"])
    assert first[1] - first[0] < 500_000, "nothing covers the first call: it is quick"
    for call in later:
        assert call[1] - call[0] > 2_000_000
        assert overlap(idle, call) == 0
