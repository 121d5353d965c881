"""What each producer's traces give: counts worked out by hand or by an independent reader."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.chrome_counts import Counts, count, count_of, events_of
from tests.support.recordings import loaded
from whichlayer.analysis import analyse, load
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

#: Counted by plain ``json`` (``chrome_counts``); slices and total time of those without
#: unclosed slices, instants and merged threads also by Perfetto's trace processor.
GOLDEN: dict[str, tuple[str, Counts]] = {
    "aiu_allreduce_tp4.json": ("chrome", Counts(28, 16, 0, 0, 0, 0, 8_553_942)),
    "ascend_timeline.json": ("chrome", Counts(112, 2, 0, 0, 0, 0, 23_981_320)),
    "chrome_big.json": ("chrome", Counts(933, 4, 0, 0, 0, 0, 1_979_698_000)),
    "chrome_flow.json": ("chrome", Counts(1_625, 9, 1_752, 0, 0, 0, 11_133_584_000)),
    "chrome_nanoseconds.json": ("chrome", Counts(8, 1, 0, 0, 0, 0, 2_020)),
    "chrome_nestable_async.json": ("chrome", Counts(9, 2, 0, 0, 0, 2, 400_000)),
    "chrome_unclosed.json": ("chrome", Counts(1_684, 22, 0, 0, 0, 0, 33_423_040_000)),
    "chrome_zip.zip": ("chrome", Counts(12, 2, 0, 5, 1, 4, 141_000)),
    "rpd_matmul_string_times.json": ("rocprof", Counts(210, 3, 170, 319, 4, 0, 641_552_000)),
    "speedscope_object_partial.json": ("chrome", Counts(3, 1, 0, 0, 0, 0, 26_000)),
    "speedscope_out_of_order.json": ("chrome", Counts(2, 1, 0, 0, 0, 0, 18_000)),
    "speedscope_partial.json": ("chrome", Counts(4, 1, 0, 0, 0, 0, 31_000)),
    "hta_mtia_inference.json.gz": (
        "pytorch", Counts(14_179, 60, 1_801, 0, 0, 2, 7_594_837_696)
    ),
    "kineto_h100_graph_ids.json": ("pytorch", Counts(9, 4, 4, 0, 0, 2, 460)),
    "tl_h100_bert.json.gz": ("pytorch", Counts(2_060, 5, 193, 0, 0, 238, 174_107_606)),
}  # fmt: skip


def counts_of(trace: Trace) -> Counts:
    return Counts(
        slices=len(trace),
        lanes=len(trace.lanes),
        flows=len(trace.flows.id),
        samples=len(trace.counters.time_ns),
        series=len(trace.counters.series),
        instants=len(trace.instants.time_ns),
        total_ns=int((trace.end_ns - trace.start_ns).sum()),
    )


def why_no_verdict(trace: Trace) -> str:
    return " ".join(warning.message for warning in trace.warnings if warning.code == "Q1")


def write(folder: Path, document: Any, name: str = "trace.json") -> Path:
    path = folder / name
    text = document if isinstance(document, str) else json.dumps(document)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", GOLDEN)
def test_real_traces_hold_what_was_counted(traces: Path, name: str) -> None:
    producer, expected = GOLDEN[name]
    trace = loaded(traces / name)
    assert (trace.producer, counts_of(trace)) == (producer, expected)


def test_every_real_trace_holds_what_plain_json_counts(traces: Path) -> None:
    for path in sorted(traces.rglob("*")):
        readable = path.name.endswith((".json", ".json.gz", ".zip")) and path.stem != "expected"
        if readable and "partial" not in path.name:
            assert counts_of(loaded(path)) == count_of(path), path.name


def meta(name: str, value: str, pid: int, tid: int | None = None) -> dict[str, Any]:
    where = {"pid": pid} if tid is None else {"pid": pid, "tid": tid}
    return {"ph": "M", "name": name, **where, "args": {"name": value}}


# As tensorflow/core/profiler/convert/trace_events_to_json.cc writes: six decimals of a
# microsecond, all arguments texts, an empty event at the end.
XLA = (
    '{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":['
    + ",".join(
        json.dumps(one)
        for one in (
            meta("process_name", "/device:GPU:0", 1),
            {"ph": "M", "pid": 1, "name": "process_sort_index", "args": {"sort_index": 1}},
            meta("thread_name", "Stream #13(Compute)", 1, 13),
            meta("thread_name", "XLA Ops", 1, 2),
            meta("process_name", "/host:CPU", 701),
            meta("thread_name", "python", 701, 9),
        )
    )
    + ',{"ph":"X","pid":1,"tid":13,"ts":10.000250,"dur":2.000500,"name":"fusion_3",'
    '"args":{"hlo_module":"jit_step","hlo_op":"fusion.3","correlation_id":"7"}}'
    ',{"ph":"X","pid":1,"tid":13,"ts":20.000000,"dur":0.000001,"name":"MemcpyD2D",'
    '"args":{"memcpy_details":"kind:device_to_device size:4"}}'
    ',{"ph":"X","pid":1,"tid":2,"ts":10.000250,"dur":2.000500,"name":"fusion.3"}'
    ',{"ph":"X","pid":701,"tid":9,"ts":1.5,"dur":30.000000,"name":"PjitFunction(step)"}'
    ",{}]}"
)


@pytest.mark.parametrize("name", ["host.trace.json.gz", "trace.json"])
def test_xla_traces_are_timelines_with_picoseconds_rounded_once(tmp_path: Path, name: str) -> None:
    trace = load(write(tmp_path, XLA, name))
    assert trace.producer == "xla"
    # 10000.25 + 2000.5 = 12000.75 ns rounds to 12001, its start to 10000.
    assert counts_of(trace) == Counts(4, 3, 0, 0, 0, 0, 2 * 2_001 + 0 + 30_000)
    assert trace.origin_ns == 1_500  # "ns" is how viewers show it, the unit stays microseconds
    named = {(lane.process, lane.name) for lane in trace.lanes}
    assert named == {
        ("/device:GPU:0", "Stream #13(Compute)"),
        ("/device:GPU:0", "XLA Ops"),
        ("/host:CPU", "python"),
    }
    assert not set(trace.kind.tolist()) & set(GPU_WORK)
    assert "an XLA trace" in why_no_verdict(trace)
    (row,) = [row for row in range(len(trace)) if trace.name(row) == "fusion_3"]
    assert trace.args(row)["hlo_op"] == "fusion.3"


ONNX = """[
{"cat" : "Session","pid" :7,"tid" :8,"dur" :406,"ts" :3,"ph" : "X","name" :"model_loading_uri","args" : {}},
{"cat" : "Session","pid" :7,"tid" :8,"dur" :90,"ts" :500,"ph" : "X","name" :"SequentialExecutor::Execute","args" : {}},
{"cat" : "Node","pid" :7,"tid" :8,"dur" :1,"ts" :510,"ph" : "X","name" :"Add_0_fence_before","args" : {"op_name" : "Add"}},
{"cat" : "Node","pid" :7,"tid" :8,"dur" :52,"ts" :512,"ph" : "X","name" :"Add_0_kernel_time","args" : {"op_name" : "Add","provider" : "CPUExecutionProvider","output_size" : "4"}}%s
]
"""


def test_onnxruntime_profiles_are_timelines(tmp_path: Path) -> None:
    trace = load(write(tmp_path, ONNX % ""))
    assert trace.producer == "onnxruntime"
    assert counts_of(trace) == Counts(4, 1, 0, 0, 0, 0, 549_000)
    assert "ONNX Runtime" in why_no_verdict(trace)
    (row,) = [row for row in range(len(trace)) if trace.name(row) == "Add_0_kernel_time"]
    assert trace.args(row)["provider"] == "CPUExecutionProvider"
    assert trace.name(int(trace.parent[row])) == "SequentialExecutor::Execute"


def test_kernels_of_an_onnxruntime_profile_are_gpu_work(tmp_path: Path) -> None:
    kernel = (
        ',\n{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :20,"ts" :530,"ph" : "X","name" :"add_k",'
        '"args" : {"stream" : "7","grid_x" : "4","block_x" : "128"}}'
    )
    trace = load(write(tmp_path, ONNX % kernel))
    assert trace.producer == "onnxruntime"
    assert int((trace.kind == SliceKind.KERNEL).sum()) == 1
    assert [lane.stream for lane in trace.lanes if lane.stream >= 0] == [7]
    assert not why_no_verdict(trace)
    assert analyse(trace).devices[0].busy_ns == 20_000


def test_ascend_traces_with_times_as_texts_are_timelines(tmp_path: Path) -> None:
    events = [
        meta("process_name", "Ascend Hardware", 5),
        {"ph": "M", "name": "process_labels", "pid": 5, "args": {"labels": "NPU"}},
        meta("thread_name", "Stream 2", 5, 2),
        meta("process_name", "CANN", 6),
        {
            "name": "MatMulV2", "ph": "X", "pid": 5, "tid": 2, "ts": "1730943468310229.220",
            "dur": 21.54, "args": {"Task Type": "AI_CORE", "Stream Id": 2, "Task Id": "N/A"},
        },
        {
            "name": "Node@launch", "ph": "X", "pid": 6, "tid": 77, "ts": "1730943468310200.110",
            "dur": 9.5, "args": {},
        },
        {
            "name": "HostToDevice9", "cat": "HostToDevice", "ph": "s", "id": "2147483649", "pid": 6,
            "tid": 77, "ts": "1730943468310205.000",
        },
        {
            "name": "HostToDevice9", "cat": "HostToDevice", "ph": "f", "bp": "e",
            "id": "2147483649", "pid": 5, "tid": 2, "ts": "1730943468310229.220",
        },
        {
            "name": "AI Core Freq", "ph": "C", "pid": 8, "tid": 0, "ts": "1730943468310210.5",
            "args": {"MHz": 1800},
        },
    ]  # fmt: skip
    trace = load(write(tmp_path, events))
    assert trace.producer == "ascend"
    assert counts_of(trace) == Counts(2, 2, 2, 1, 1, 0, 31_040)
    assert trace.origin_ns == 1_730_943_468_310_200_110
    assert len(set(trace.flows.id.tolist())) == 1
    assert not set(trace.kind.tolist()) & set(GPU_WORK)
    assert "NPU lanes are shown and not judged" in why_no_verdict(trace)


def test_kernels_of_xpu_need_no_stream(tmp_path: Path) -> None:
    events = [
        {
            "ph": "X", "cat": "xpu_runtime", "name": "urEnqueueKernelLaunch", "pid": 3, "tid": 3,
            "ts": 1.0, "dur": 2.0, "args": {"correlation": 4, "External id": 9},
        },
        {
            "ph": "X", "cat": "kernel", "name": "gemm_kernel", "pid": 0, "tid": 0, "ts": 4.0,
            "dur": 10.0, "args": {"correlation": 4, "sycl queue": "0x1", "kernel_id": 1},
        },
    ]  # fmt: skip
    trace = load(write(tmp_path, {"schemaVersion": 1, "traceEvents": events}))
    assert trace.producer == "pytorch"
    assert counts_of(trace) == Counts(2, 2, 0, 0, 0, 0, 12_000)
    (kernel,) = (trace.kind == SliceKind.KERNEL).nonzero()[0]
    assert trace.name(int(trace.launch[kernel])) == "urEnqueueKernelLaunch"
    assert analyse(trace).devices[0].busy_ns == 10_000
    assert not why_no_verdict(trace)


def test_mtia_is_told_and_not_judged(tmp_path: Path) -> None:
    events = [
        {
            "ph": "X", "cat": category, "name": "n", "pid": pid, "tid": 1, "ts": start, "dur": 1,
            "args": {"correlation": 5},
        }
        for category, pid, start in (("mtia_runtime", 2, 1), ("mtia_ccp_events", 17, 3))
    ]  # fmt: skip
    trace = load(write(tmp_path, {"schemaVersion": 1, "traceEvents": events}))
    assert trace.producer == "pytorch"
    assert counts_of(trace) == Counts(2, 2, 0, 0, 0, 0, 2_000)
    assert "MTIA" in why_no_verdict(trace)
    told = [warning for warning in analyse(trace).warnings if warning.code == "Q1"]
    assert len(told) == 1


def test_rocprof_texts_are_numbers(tmp_path: Path) -> None:
    events = [
        {},
        {"name": "process_name", "ph": "M", "pid": "2", "args": {"name": "GPU2"}},
        {
            "name": "thread_name", "ph": "M", "pid": "10", "tid": "11", "args": {"name": "Hip 11"},
        },
        {
            "pid": "2", "tid": "0", "name": "k", "ts": "100", "dur": "5", "ph": "X",
            "args": {"desc": "KernelExecution"},
        },
        {"pid": "10", "tid": "11", "name": "hipLaunchKernel", "ts": "90", "dur": "4", "ph": "X"},
        {"pid": "10", "tid": "11", "cat": "api_op", "ts": "92", "ph": "s", "id": "3", "name": "a"},
        {"pid": "2", "tid": "0", "cat": "api_op", "ts": "100", "ph": "f", "id": "3", "name": "a"},
        {"pid": "2", "name": "QueueDepth", "ph": "C", "ts": "100", "args": {"depth": 1}},
    ]  # fmt: skip
    trace = load(write(tmp_path, events))
    assert trace.producer == "rocprof"
    assert counts_of(trace) == Counts(2, 2, 2, 1, 1, 0, 9_000)
    assert "rocprof" in why_no_verdict(trace)


def test_a_chrome_trace_of_every_phase_is_a_timeline(tmp_path: Path) -> None:
    thread = {"pid": 1, "tid": 18_446_744_073_709_551_615}
    work = {"pid": 1, "tid": 2, "cat": "work", "id": "0x5"}
    events = [
        {"ph": "X", "name": "x", **thread, "ts": 0, "dur": 10},
        {"ph": "B", "name": "b", **thread, "ts": 20, "attr": {"Power": "1"}},
        {"ph": "B", "name": "inner", **thread, "ts": 21},
        {"ph": "E", **thread, "ts": 25},
        {"ph": "E", "name": "b", **thread, "ts": 30},
        {"ph": "b", "name": "request", **work, "ts": 5},
        {"ph": "n", "name": "half", **work, "ts": 8},
        {"ph": "e", "name": "request", **work, "ts": 15},
        {"ph": "i", "name": "instant", **thread, "ts": 3, "s": "t"},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 1, "args": {"used": 4, "free": "6"}},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 2, "args": {"used": 5, "note": "x"}},
        {"ph": "s", "name": "flow", "cat": "f", "id": 1, **thread, "ts": 1},
        {"ph": "t", "name": "flow", "cat": "f", "id": 1, **thread, "ts": 21},
        {"ph": "f", "name": "flow", "cat": "f", "id": 1, **thread, "ts": 22},
        meta("process_name", "browser", 1),
    ]
    path = write(tmp_path, events)
    trace = load(path)
    assert trace.producer == "chrome"
    expected = Counts(4, 2, 3, 3, 2, 2, 10_000 + 10_000 + 4_000 + 10_000)
    assert counts_of(trace) == count(events_of(path)) == expected
    async_lane = next(i for i, lane in enumerate(trace.lanes) if lane.tid == "async work")
    half = [trace.strings[i] for i in trace.instants.name_id].index("half")
    assert int(trace.instants.lane_id[half]) == async_lane
    assert "shown and not judged" in why_no_verdict(trace)
    assert analyse(trace).verdict.side == "unclear"


def test_a_recording_of_the_cpu_alone_is_told_once_with_what_to_record(tmp_path: Path) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 0, "dur": 1}
    trace = load(write(tmp_path, {"schemaVersion": 1, "traceEvents": [event]}))
    assert not why_no_verdict(trace)
    told = [warning.message for warning in analyse(trace).warnings if warning.code == "Q1"]
    assert len(told) == 1
    assert told[0].startswith("CPU-only recording: no GPU activity, so no GPU verdict; ")
