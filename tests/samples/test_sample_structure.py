"""The samples obey what every recording of Kineto obeys: order, nesting, correlation, flows."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

Event = dict[str, Any]

GPU_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
#: Dense data sheet figures: GB/s, and TFLOP/s by element type of the product.
ROOFS = {
    "NVIDIA A100-SXM4-80GB": (2039.0, {"float": 156.0, "c10::BFloat16": 312.0}),
    "NVIDIA H100 80GB HBM3": (3350.0, {"float": 494.7, "c10::BFloat16": 989.4}),
}
ELEMENT = {"float": 4, "c10::BFloat16": 2, "long int": 8}


def of_kind(trace: Event, *categories: str) -> list[Event]:
    return [e for e in trace["traceEvents"] if e.get("cat") in categories and e["ph"] == "X"]


def launches(trace: Event) -> dict[int, Event]:
    return {e["args"]["correlation"]: e for e in of_kind(trace, "cuda_runtime")}


def operators(trace: Event) -> dict[int, Event]:
    return {e["args"]["External id"]: e for e in of_kind(trace, "cpu_op", "user_annotation")}


def by_thread(events: list[Event]) -> dict[int, list[Event]]:
    threads: dict[int, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda e: (e["ts"], -e["end"])):
        threads[event["tid"]].append(event)
    return threads


def assert_nested(events: list[Event]) -> None:
    for thread in by_thread(events).values():
        open_ends: list[int] = []
        for event in thread:
            while open_ends and open_ends[-1] <= event["ts"]:
                open_ends.pop()
            assert not open_ends or event["end"] <= open_ends[-1], event
            open_ends.append(event["end"])


def test_each_gpu_activity_has_one_launch_that_began_before_it(trace: Event) -> None:
    calls = launches(trace)
    assert len(calls) == len(of_kind(trace, "cuda_runtime"))
    seen = Counter(e["args"]["correlation"] for e in of_kind(trace, *GPU_WORK))
    assert set(seen.values()) == {1}
    for activity in of_kind(trace, *GPU_WORK):
        assert calls[activity["args"]["correlation"]]["ts"] < activity["ts"]


def test_each_launch_has_its_activity(trace: Event) -> None:
    activities = {e["args"]["correlation"]: e["cat"] for e in of_kind(trace, *GPU_WORK)}
    kinds = {"cudaLaunch": "kernel", "cudaMemcpy": "gpu_memcpy", "cudaMemset": "gpu_memset"}
    for call in launches(trace).values():
        kind = next((k for start, k in kinds.items() if call["name"].startswith(start)), None)
        assert activities.get(call["args"]["correlation"]) == kind


def test_streams_run_one_activity_at_a_time_in_launch_order(trace: Event) -> None:
    calls = launches(trace)
    streams: dict[int, list[Event]] = defaultdict(list)
    for activity in of_kind(trace, *GPU_WORK):
        streams[activity["args"]["stream"]].append(activity)
    for stream in streams.values():
        stream.sort(key=lambda e: e["ts"])
        starts = [calls[e["args"]["correlation"]]["ts"] for e in stream]
        assert starts == sorted(starts)
        assert all(before["end"] < after["ts"] for before, after in pairwise(stream))


def test_activities_repeat_their_lane_in_their_arguments(trace: Event) -> None:
    for activity in of_kind(trace, *GPU_WORK):
        assert activity["pid"] == activity["args"]["device"]
        assert activity["tid"] == activity["args"]["stream"]


def test_operators_nest_on_their_thread(trace: Event) -> None:
    assert_nested(of_kind(trace, "cpu_op", "cuda_runtime"))


def test_python_frames_nest_as_their_parents_say(trace: Event) -> None:
    frames = of_kind(trace, "python_function")
    assert_nested(frames)
    by_id = {e["args"]["Python id"]: e for e in frames}
    assert len(by_id) == len(frames)
    for frame in frames:
        parent = frame["args"]["Python parent id"]
        if parent is not None:
            assert by_id[parent]["ts"] <= frame["ts"] <= frame["end"] <= by_id[parent]["end"]


def test_operator_ids_and_indices_are_unique(trace: Event) -> None:
    events = of_kind(trace, "cpu_op", "user_annotation")
    assert len(operators(trace)) == len(events)
    indices = [e["args"]["Ev Idx"] for e in trace["traceEvents"] if "Ev Idx" in e.get("args", {})]
    assert indices == list(range(len(indices)))


def test_external_id_names_the_operator_around_the_launch(trace: Event) -> None:
    known, calls = operators(trace), launches(trace)
    for call in calls.values():
        if "External id" in call["args"]:
            around = known[call["args"]["External id"]]
            assert around["cat"] == "cpu_op"
            assert around["tid"] == call["tid"]
            assert around["ts"] <= call["ts"] <= call["end"] <= around["end"]
    for activity in of_kind(trace, *GPU_WORK):
        call = calls[activity["args"]["correlation"]]
        assert activity["args"]["External id"] == call["args"]["External id"]


def test_steps_are_numbered_and_follow_each_other(trace: Event) -> None:
    steps = [e for e in of_kind(trace, "user_annotation") if e["name"].startswith("ProfilerStep#")]
    assert 4 <= len(steps) <= 6
    numbers = [int(e["name"].split("#")[1]) for e in steps]
    assert numbers == list(range(numbers[0], numbers[0] + len(steps)))
    assert all(0 <= b["ts"] - a["end"] < 10_000 for a, b in pairwise(steps))


def test_flows_join_launches_to_activities_and_forward_to_backward(trace: Event) -> None:
    flows: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            flows[event["cat"], event["id"]].append(event)
    calls = launches(trace)
    activities = {e["args"]["correlation"]: e for e in of_kind(trace, *GPU_WORK)}
    for (category, number), ends in flows.items():
        phases = sorted(e["ph"] for e in ends)
        if category == "fwdbwd":
            assert phases == ["f", "s"]
            first, last = sorted(ends, key=lambda e: e["ph"], reverse=True)
            assert first["ts"] < last["ts"]
            assert first["tid"] != last["tid"]
        elif number in activities:
            assert phases == ["f", "s"]
            places = {(e["ph"], e["ts"]) for e in ends}
            assert places == {("s", calls[number]["ts"]), ("f", activities[number]["ts"])}
        else:
            assert phases == ["f"]
            assert ends[0]["ts"] == calls[number]["ts"]


def test_every_argument_list_has_one_entry_per_argument(trace: Event) -> None:
    keys = ("Concrete Inputs", "Input type", "Input Strides", "Input Dims")
    for event in of_kind(trace, "cpu_op"):
        lengths = {len(event["args"][key]) for key in keys if key in event["args"]}
        assert len(lengths) <= 1
        for dims, strides in zip(
            event["args"].get("Input Dims", []), event["args"].get("Input Strides", []), strict=True
        ):
            assert len(dims) == len(strides)


def test_copies_move_their_bytes_at_the_printed_rate(trace: Event) -> None:
    for copy in of_kind(trace, "gpu_memcpy", "gpu_memset"):
        rate = copy["args"]["bytes"] / copy["dur"]
        assert abs(rate - copy["args"]["memory bandwidth (GB/s)"]) <= 1e-9 * rate


def test_launch_shapes_agree_with_the_device(trace: Event) -> None:
    sms = trace["deviceProperties"][0]["numSms"]
    for kernel in of_kind(trace, "kernel"):
        args = kernel["args"]
        blocks = args["grid"][0] * args["grid"][1] * args["grid"][2]
        threads = args["block"][0] * args["block"][1] * args["block"][2]
        assert 1 <= threads <= 1024
        assert args["registers per thread"] * threads <= 65_536
        assert abs(args["blocks per SM"] - blocks / sms) <= 1e-6 + 1e-6 * blocks / sms
        assert 0 <= args["est. achieved occupancy %"] <= 100


def test_no_product_and_no_pointwise_kernel_beats_the_roof(trace: Event) -> None:
    bandwidth, rates = ROOFS[trace["deviceProperties"][0]["name"]]
    known = operators(trace)
    judged = 0
    for kernel in of_kind(trace, "kernel"):
        op = known[kernel["args"]["External id"]]
        dims, types = op["args"].get("Input Dims"), op["args"].get("Input type")
        if op["name"] == "aten::mm":
            (m, k), (_, n) = dims[0], dims[1]
            moved = (m * k + k * n + m * n) * ELEMENT[types[0]]
            assert 2 * m * n * k / kernel["dur"] / 1000 < rates[types[0]]
        elif op["name"] in ("aten::add", "aten::add_") and dims[0] == dims[1] and dims[0]:
            moved = 3 * ELEMENT[types[0]]
            for size in dims[0]:
                moved *= size
        else:
            continue
        judged += 1
        assert moved / kernel["dur"] < bandwidth
    assert judged > 20


def test_the_recording_is_bounded_by_the_profilers_own_marks(trace: Event) -> None:
    (span,) = of_kind(trace, "Trace")
    (end,) = [e for e in trace["traceEvents"] if e["name"] == "Record Window End"]
    (start,) = [e for e in trace["traceEvents"] if e["name"].startswith("Iteration Start")]
    assert start["ts"] == span["ts"]
    assert span["end"] <= end["ts"]
    inside = of_kind(trace, *GPU_WORK, "cpu_op", "cuda_runtime", "python_function")
    assert all(span["ts"] <= e["ts"] <= e["end"] <= span["end"] for e in inside)


def test_metadata_names_every_thread_and_stream(trace: Event) -> None:
    named = {(e["pid"], e["tid"]) for e in trace["traceEvents"] if e["name"] == "thread_name"}
    used = {
        (e["pid"], e["tid"])
        for e in of_kind(trace, *GPU_WORK, "cpu_op", "cuda_runtime", "python_function")
    }
    assert used <= named
