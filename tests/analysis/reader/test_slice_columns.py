"""Events of every phase and producer as columns."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.analysis.reader.conftest import Read, damage
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind


def event(ph: str, ts: float | None, **extra: Any) -> dict[str, Any]:
    made = {"ph": ph, "name": "e", "pid": 1, "tid": 1} | extra
    return made if ts is None else made | {"ts": ts}


def complete(category: str, ts: float, dur: float, **extra: Any) -> dict[str, Any]:
    return event("X", ts, cat=category, dur=dur, **extra)


def read_events(read: Read, *events: Any) -> Trace:
    return read(json.dumps(events))


def row_named(trace: Trace, name: str) -> int:
    (row,) = [row for row in range(len(trace)) if trace.name(row) == name]
    return row


def lane_of(trace: Trace, name: str) -> Lane:
    return trace.lanes[int(trace.lane_id[row_named(trace, name)])]


def spans(trace: Trace) -> list[tuple[str, int, int]]:
    origin = trace.origin_ns
    return sorted(
        (trace.name(row), int(trace.start_ns[row]) + origin, int(trace.end_ns[row]) + origin)
        for row in range(len(trace))
    )


@pytest.mark.parametrize(
    ("category", "kind", "lane"),
    [
        ("cpu_op", SliceKind.CPU_OP, LaneKind.CPU_THREAD),
        ("Operator", SliceKind.CPU_OP, LaneKind.CPU_THREAD),
        ("user_annotation", SliceKind.ANNOTATION, LaneKind.CPU_THREAD),
        ("python_function", SliceKind.PYTHON, LaneKind.CPU_THREAD),
        ("cuda_runtime", SliceKind.RUNTIME, LaneKind.CPU_THREAD),
        ("cuda_driver", SliceKind.RUNTIME, LaneKind.CPU_THREAD),
        ("Runtime", SliceKind.RUNTIME, LaneKind.CPU_THREAD),
        ("xpu_driver", SliceKind.RUNTIME, LaneKind.CPU_THREAD),
        ("privateuse1_runtime", SliceKind.RUNTIME, LaneKind.CPU_THREAD),
        ("kernel", SliceKind.KERNEL, LaneKind.GPU_STREAM),
        ("Kernel", SliceKind.KERNEL, LaneKind.GPU_STREAM),
        ("gpu_memcpy", SliceKind.MEMCPY, LaneKind.GPU_STREAM),
        ("Memset", SliceKind.MEMSET, LaneKind.GPU_STREAM),
        ("gpu_user_annotation", SliceKind.GPU_ANNOTATION, LaneKind.GPU_ANNOTATION),
        ("cuda_sync", SliceKind.GPU_SYNC, LaneKind.GPU_SYNC),
        ("overhead", SliceKind.OVERHEAD, LaneKind.OVERHEAD),
        ("Trace", SliceKind.PROFILER, LaneKind.OTHER),
        ("anything", SliceKind.OTHER, LaneKind.OTHER),
    ],
)
def test_categories_give_kinds_and_lanes(
    read: Read, category: str, kind: SliceKind, lane: LaneKind
) -> None:
    trace = read_events(read, complete(category, 5, 1))
    assert trace.kind[0] == kind
    assert trace.lanes[int(trace.lane_id[0])].kind == lane
    assert trace.strings[int(trace.category_id[0])] == category


def test_old_operators_with_annotation_names_are_annotations(read: Read) -> None:
    names = ["ProfilerStep#3", "Optimizer.step#SGD.step", "enumerate(DataLoader)#_Iter.__next__"]
    trace = read_events(
        read,
        *(complete("Operator", n, 1, name=name) for n, name in enumerate([*names, "aten::add"])),
    )
    kinds = {trace.name(row): SliceKind(int(trace.kind[row])) for row in range(4)}
    assert kinds == dict.fromkeys(names, SliceKind.ANNOTATION) | {"aten::add": SliceKind.CPU_OP}
    assert [step.number for step in trace.steps] == [3]


def test_threads_and_streams_of_the_same_numbers_have_lanes_of_their_own(read: Read) -> None:
    trace = read_events(
        read,
        complete("python_function", 1, 9, name="frame", pid=0, tid=7),
        complete("kernel", 2, 1, name="kernel", pid=0, tid=7, args={"device": 0, "stream": 7}),
        complete("gpu_user_annotation", 2, 1, name="note", pid=0, tid=7),
        complete("cuda_sync", 2, 1, name="sync", pid=0, tid=7, args={"device": 0, "stream": 7}),
        complete("Kernel", 3, 1, name="old", pid=0, tid="stream 7"),
        complete("kernel", 3, 1, name="moved", pid=9, tid=9, args={"device": 0, "stream": 7}),
    )
    assert lane_of(trace, "frame").kind == LaneKind.CPU_THREAD
    assert lane_of(trace, "kernel") == lane_of(trace, "old") == lane_of(trace, "moved")
    kinds = [lane.kind for lane in trace.lanes]
    assert kinds == sorted(kinds) and len(kinds) == 4
    stream = lane_of(trace, "kernel")
    assert (stream.device, stream.stream, stream.name) == (0, 7, "stream 7")


def test_slices_are_sorted_by_lane_start_and_longer_first(read: Read) -> None:
    trace = read_events(
        read,
        complete("cpu_op", 5, 1, name="last"),
        complete("cpu_op", 1, 1, name="inner"),
        complete("cpu_op", 1, 3, name="outer"),
        complete("cpu_op", 1, 1, name="twin"),
        complete("kernel", 9, 1, name="kernel", pid=0, tid=7),
    )
    assert [trace.name(row) for row in range(5)] == ["kernel", "outer", "inner", "twin", "last"]
    assert trace.lane_rows.tolist() == [0, 1, 5]
    assert trace.parent.tolist() == [-1, -1, 1, 2, -1]
    assert trace.depth.tolist() == [0, 0, 1, 2, 0]
    assert trace.start_ns.tolist() == [8000, 0, 0, 0, 4000]
    assert trace.origin_ns == 1000


def test_begin_and_end_events_make_slices(read: Read) -> None:
    trace = read_events(
        read,
        event("B", 0, name="outer", args={"note": 1}),
        event("B", 2, name="inner"),
        event("E", 3.5, name=""),
        event("E", 6, name="never began"),
        event("E", 9, name="outer"),
        event("B", 4, name="other thread", tid=2),
        event("B", 8, name="open", tid=3),
    )
    assert spans(trace) == [
        ("inner", 2000, 3500),
        ("open", 8000, 9000),
        ("other thread", 4000, 9000),
        ("outer", 0, 9000),
    ]
    warnings = {warning.code: warning.count for warning in trace.warnings}
    assert (warnings["unclosed"], warnings["unmatched-end"]) == (2, 1)
    assert trace.args(row_named(trace, "outer")) == {"note": 1}
    assert trace.name(int(trace.parent[row_named(trace, "inner")])) == "outer"


def test_ends_find_their_beginning_by_name_in_any_order_of_the_file(read: Read) -> None:
    trace = read_events(
        read,
        event("E", 9, name="alpha"),
        event("E", 10, name="beta"),
        event("B", 0, name="alpha"),
        event("B", 1, name="beta"),
    )
    assert spans(trace) == [("alpha", 0, 9000), ("beta", 1000, 10000)]
    assert trace.depth.tolist() == [0, 1] and trace.parent.tolist() == [-1, -1]


def test_asynchronous_slices_pair_by_id_and_have_lanes_of_their_own(read: Read) -> None:
    trace = read_events(
        read,
        event("b", 0, name="request", cat="net", id="0x1"),
        event("b", 1, name="request", cat="net", id="0x2", tid=2),
        event("e", 3, name="request", cat="net", id="0x1", tid=2),
        event("e", 4, name="request", cat="net", id="0x2"),
        event("S", 5, name="old", cat="io", id=7),
        event("F", 6, name="old", cat="io", id=7),
        event("X", 0, dur=1, name="x"),
    )
    assert spans(trace) == [
        ("old", 5000, 6000),
        ("request", 0, 3000),
        ("request", 1000, 4000),
        ("x", 0, 1000),
    ]
    assert {lane.tid for lane in trace.lanes} == {1, "async net", "async io"}
    assert not damage(trace)


def test_instants_counters_and_flows_are_columns(read: Read) -> None:
    trace = read_events(
        read,
        complete("cpu_op", 10, 5),
        complete("kernel", 12, 1, name="k", pid=0, tid=7, args={"device": 0, "stream": 7}),
        event("i", 14, name="[memory]", cat="cpu_instant_event", args={"Total Allocated": 64}),
        event("I", 11, name="mark", s="t"),
        event("R", 12, name="nowhere", pid="Traces", tid="x"),
        event("C", 13, name="load", args={"": 1.5, "text": "x", "n": "2"}),
        event("C", 12, name="load", args={"": 1, "none": None}),
        event("s", 11, cat="ac2g", id=5),
        event("f", 12, cat="ac2g", id=5, pid=0, tid=7, bp="e"),
        event("t", 12, cat="other", id="0xab"),
        event("f", 12, cat="other", id="0xab", pid="elsewhere"),
    )
    instants = trace.instants
    names = [trace.strings[index] for index in instants.name_id.tolist()]
    assert (names, instants.time_ns.tolist()) == (
        ["mark", "nowhere", "[memory]"],
        [1000, 2000, 4000],
    )
    assert instants.value[2] == 64 and np.isnan(instants.value[:2]).all()
    thread = int(trace.lane_id[row_named(trace, "e")])
    stream = int(trace.lane_id[row_named(trace, "k")])
    assert instants.lane_id.tolist() == [thread, -1, thread]
    counters = trace.counters
    assert counters.series == (("1", "load", ""), ("1", "load", "n"))
    assert counters.series_id.tolist() == [0, 0, 1]
    assert counters.time_ns.tolist() == [2000, 3000, 3000]
    assert counters.value.tolist() == [1, 1.5, 2]
    flows = trace.flows
    assert flows.id.tolist() == [5, 5, -2, -2]
    assert flows.phase.tolist() == [0, 2, 1, 2]
    assert flows.lane_id.tolist() == [thread, stream, thread, -1]
    assert [trace.strings[index] for index in flows.category_id.tolist()] == ["ac2g"] * 2 + [
        "other"
    ] * 2


def test_names_come_from_metadata_and_else_from_numbers(read: Read) -> None:
    trace = read_events(
        read,
        event("M", None, name="process_name", args={"name": "python3"}),
        event("M", None, name="process_labels", pid=0, args={"labels": "GPU 0"}),
        event("M", 1, name="thread_name", args={"name": "thread 1 (main) "}),
        event("M", 1, name="thread_name", pid=0, tid="stream 7", args={"name": "stream 7 "}),
        event("M", 1, name="thread_sort_index", tid=3, args={"sort_index": -1}),
        event("M", 1, name="thread_name", args=None),
        complete("cpu_op", 1, 1, tid=1),
        complete("cpu_op", 1, 1, tid=2),
        complete("cpu_op", 1, 1, tid=3),
        complete("cpu_op", 1, 1, tid="loader"),
        complete("kernel", 1, 1, pid=0, tid=7),
    )
    assert [(lane.name, lane.process) for lane in trace.lanes] == [
        ("stream 7", "GPU 0"),
        ("thread 1 (main)", "python3"),
        ("thread 3", "python3"),
        ("thread 2", "python3"),
        ("loader", "python3"),
    ]


def test_details_are_stored_once_and_other_arguments_read_on_demand(read: Read) -> None:
    shared = {"Input Dims": [[2, 3], []], "Input type": ["float", "Scalar"]}
    events = [
        complete("cpu_op", n, 1, name=f"op {n}", args={"Ev Idx": n, **shared, "External id": n})
        for n in range(1, 50)
    ]
    kernel = {"device": 0, "stream": 7, "grid": [4, 1, 1], "correlation": 3, "queued": 0}
    trace = read_events(
        read,
        *events,
        complete("kernel", 90, 1, name="k", args=kernel | {"external id": 11}),
        complete("cuda_sync", 91, 1, name="s", args={"stream": -1, "cuda_sync_kind": "Event"}),
        complete("cpu_op", 95, 1, name="none"),
    )
    operators = [row_named(trace, f"op {n}") for n in range(1, 50)]
    assert len({int(trace.detail_id[row]) for row in operators}) == 1
    assert all(trace.detail(row) == shared for row in operators)
    assert [int(trace.external_id[row]) for row in operators] == list(range(1, 50))
    assert trace.args(operators[6]) == {"Ev Idx": 7, **shared, "External id": 7}
    row = row_named(trace, "k")
    assert trace.detail(row) == {"device": 0, "stream": 7, "grid": [4, 1, 1]}
    assert (int(trace.correlation[row]), int(trace.external_id[row])) == (3, 11)
    assert trace.detail(row_named(trace, "s"))["cuda_sync_kind"] == "Event"
    none = row_named(trace, "none")
    assert (trace.detail(none), trace.args(none), int(trace.external_id[none])) == ({}, {}, -1)


def test_numbers_that_are_none_count_as_missing(read: Read) -> None:
    big = 15514734831341844875
    trace = read_events(
        read,
        complete(
            "kernel",
            1,
            1,
            name="a",
            pid=3,
            tid=4,
            args={"correlation": big, "device": None, "stream": "x", "External id": 1.5},
        ),
        complete("cuda_runtime", 1, 1, name="b", tid=big, args={"correlation": "12"}),
    )
    row = row_named(trace, "a")
    assert (int(trace.correlation[row]), int(trace.external_id[row])) == (-1, -1)
    assert (lane_of(trace, "a").device, lane_of(trace, "a").stream) == (3, 4)
    assert int(trace.correlation[row_named(trace, "b")]) == 12
    assert lane_of(trace, "b").tid == big


def test_bad_times_are_counted_and_never_guessed(read: Read) -> None:
    trace = read(
        """[{"ph":"X","name":"no start","dur":1}, {"ph":"X","name":"text","ts":"soon","dur":1},
        {"ph":"X","name":"no end","ts":1}, {"ph":"X","name":"negative","ts":2,"dur":-5},
        {"ph":"X","name":"endless","ts":3,"dur":1e300}, {"ph":"i","name":"no time"},
        {"ph":"X","name":"good","ts":4,"dur":1}, {"ph":"B","name":"never"}]"""
    )
    assert spans(trace) == [
        ("endless", 3000, 3000),
        ("good", 4000, 5000),
        ("negative", 2000, 2000),
        ("no end", 1000, 1000),
    ]
    assert [warning.count for warning in trace.warnings if warning.code == "Q6"] == [4, 2, 1]
    assert trace.events == 8


@pytest.mark.parametrize(
    ("far", "said"),
    [
        (1, "1 event lies far outside the recording and is not counted"),
        (2, "2 events lie far outside the recording and are not counted"),
    ],
)
def test_what_lies_far_outside_is_counted_in_words(read: Read, far: int, said: str) -> None:
    near = [complete("cpu_op", 10**9 + n, 1) for n in range(200)]
    trace = read_events(read, *near, *(complete("cpu_op", 10**13, 1) for _ in range(far)))
    assert [one.message for one in trace.warnings if one.code == "Q6"] == [said]


def test_the_recording_itself_does_not_set_the_origin(read: Read) -> None:
    trace = read_events(
        read,
        complete("Trace", 1, 100, name="PyTorch Profiler (0)", pid="Spans", tid="PyTorch Profiler"),
        complete("cpu_op", 10, 5, name="op"),
    )
    assert trace.origin_ns == 10_000
    assert trace.duration_ns == 5000
    assert trace.start_ns[row_named(trace, "PyTorch Profiler (0)")] == -9000


def test_display_unit_never_scales(read: Read) -> None:
    for unit in ("ns", "ms"):
        event = {"ph": "X", "ts": 1.5, "dur": 2}
        trace = read(json.dumps({"displayTimeUnit": unit, "traceEvents": [event]}))
        assert (trace.origin_ns, int(trace.end_ns[0])) == (1500, 2000)
