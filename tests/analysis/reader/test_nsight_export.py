"""Nsight Systems exports as traces: names, times, launches, devices and steps."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tests.support.nsight_export import Export, global_pid, global_tid, training
from tests.support.recordings import analysed, loaded
from whichlayer.analysis import Analysis, TraceError, analyse, load
from whichlayer.analysis.reader.opening import open_trace
from whichlayer.analysis.reader.progress import Progress
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

ACTIVITIES = ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")


def rows_of(trace: Trace, kind: SliceKind) -> list[int]:
    return [int(row) for row in np.flatnonzero(trace.kind == kind)]


def only(trace: Trace, kind: SliceKind) -> int:
    (row,) = rows_of(trace, kind)
    return row


def told(trace: Trace) -> str:
    return " ".join(warning.message for warning in trace.warnings)


def figures_by_hand(path: Path) -> dict[int, tuple[int, int, int]]:
    """Span, busy time and activities of every device, by plain SQL and a sweep over edges."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    work: dict[int, list[tuple[int, int]]] = {}
    for kind in ACTIVITIES:
        if f"CUPTI_ACTIVITY_KIND_{kind}" in present:
            query = f"SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_{kind}"
            for device, start, end in connection.execute(query):
                work.setdefault(device, []).append((start, end))
    connection.close()
    figures = {}
    for device, stretches in work.items():
        busy, reached = 0, 0
        for start, end in sorted(stretches):
            busy += max(0, end - max(start, reached))
            reached = max(reached, end)
        figures[device] = (reached - min(stretches)[0], busy, len(stretches))
    return figures


def figures_told(analysis: Analysis) -> dict[int, tuple[int, int, int]]:
    return {
        device.number: (device.end_ns - device.start_ns, device.busy_ns, device.activities)
        for device in analysis.devices
    }


@pytest.mark.parametrize("name", ["nsys_h100_2gpu.sqlite", "nsys_mock.sqlite"])
def test_devices_of_real_exports_are_as_plain_sql_counts_them(traces: Path, name: str) -> None:
    analysis = analysed(traces / name)
    assert figures_told(analysis) == figures_by_hand(traces / name)
    for device in analysis.devices:
        assert device.idle_ns == device.end_ns - device.start_ns - device.busy_ns


@pytest.mark.parametrize("name", ["nsys_h100_2gpu.sqlite", "nsys_mock.sqlite"])
def test_times_of_real_exports_are_exact_and_begin_with_the_first_slice(
    traces: Path, name: str
) -> None:
    trace = loaded(traces / name)
    connection = sqlite3.connect(f"file:{traces / name}?mode=ro&immutable=1", uri=True)
    query = "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL"
    recorded = sorted(connection.execute(query).fetchall())
    connection.close()
    rows = rows_of(trace, SliceKind.KERNEL)
    origin = trace.origin_ns
    found = sorted((int(trace.start_ns[r]) + origin, int(trace.end_ns[r]) + origin) for r in rows)
    assert found == recorded
    assert int(trace.start_ns.min()) == 0


def test_the_two_gpu_recording_waits_for_its_copies(traces: Path) -> None:
    analysis = analysed(traces / "nsys_h100_2gpu.sqlite")
    assert analysis.verdict.side == "above-cuda"
    assert analysis.findings[0].rule == "h2d-exposed"
    kernels = [group for group in analysis.kernels if "gemm" in group.name]
    assert kernels
    assert all("no operator shapes in an Nsight recording" in group.why for group in kernels)


def test_launches_of_a_real_export_are_those_of_their_process(traces: Path) -> None:
    path = traces / "nsys_h100_2gpu.sqlite"
    trace = load(path)
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    (joined,) = connection.execute(
        "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r "
        "ON r.correlationId = k.correlationId AND r.globalTid / 16777216 = k.globalPid / 16777216"
    ).fetchone()
    connection.close()
    rows = rows_of(trace, SliceKind.KERNEL)
    assert int((trace.launch[rows] >= 0).sum()) == joined > 0
    for row in rows:
        launch = int(trace.launch[row])
        if launch >= 0:
            # The process with device 0 is 111, that with device 1 is 112.
            device = trace.lanes[int(trace.lane_id[row])].device
            assert trace.lanes[int(trace.lane_id[launch])].pid == 111 + device


def test_records_have_the_names_that_kineto_gives_them(tmp_path: Path) -> None:
    trace = load(training().write(tmp_path))
    assert trace.name(only(trace, SliceKind.KERNEL)) == "void gemm<128, true>(int)"
    assert trace.name(only(trace, SliceKind.MEMCPY)) == "Memcpy HtoD (Pageable -> Device)"
    assert trace.name(only(trace, SliceKind.MEMSET)) == "Memset (Device)"
    assert {trace.name(row) for row in rows_of(trace, SliceKind.RUNTIME)} == {
        "cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync",
    }  # fmt: skip
    assert trace.producer == "nsight"


def test_details_are_those_of_a_kineto_kernel(tmp_path: Path) -> None:
    trace = load(training().write(tmp_path))
    assert trace.detail(only(trace, SliceKind.KERNEL)) == {
        "device": 0, "stream": 7, "grid": [4, 2, 1], "block": [128, 1, 1],
        "registers per thread": 32, "shared memory": 1040,
    }  # fmt: skip
    assert trace.detail(only(trace, SliceKind.MEMCPY))["bytes"] == 4096


def test_operators_of_emit_nvtx_surround_their_launches_and_keep_sizes(tmp_path: Path) -> None:
    trace = load(training().write(tmp_path))
    operator = only(trace, SliceKind.CPU_OP)
    assert trace.name(operator) == "aten::mm"
    assert trace.detail(operator)["Input Dims"] == [[2, 3], [3, 4]]
    launch = int(trace.launch[only(trace, SliceKind.KERNEL)])
    assert operator in trace.enclosing(launch)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("ProfilerStep#3", [3]),
        ("ProfilerStep#12, op_id = 9", [12]),
        ("step 3", []),
        ("iteration 7", []),
        ("ProfilerStep#x", []),
    ],
)
def test_only_profiler_steps_are_steps(tmp_path: Path, text: str, numbers: list[int]) -> None:
    made = Export()
    made.range(text, 0, 5_000)
    made.kernel("k", 100, 200, 1)
    trace = load(made.write(tmp_path))
    assert [step.number for step in trace.steps] == numbers


def test_equal_launch_numbers_of_two_processes_are_kept_apart(tmp_path: Path) -> None:
    made = Export()
    for pid, start in ((100, 1_000), (200, 5_000)):
        made.call("cudaLaunchKernel_v7000", start, start + 10, 1, pid=pid, tid=pid)
    made.kernel("of 100", 9_000, 9_100, 1, pid=100, device=0)
    made.kernel("of 200", 9_000, 9_100, 1, pid=200, device=1)
    trace = load(made.write(tmp_path))
    for row in rows_of(trace, SliceKind.KERNEL):
        caller = trace.lanes[int(trace.lane_id[int(trace.launch[row])])].pid
        assert trace.name(row) == f"of {caller}"


def test_a_gpu_that_two_processes_number_differently_is_told_by_the_list(tmp_path: Path) -> None:
    made = Export()
    for pid, gpu in ((100, 2), (200, 5)):
        made.kernel("k", 100, 200, 1, pid=pid, device=0)
        made.add("TARGET_INFO_CUDA_DEVICE", gpuId=gpu, cudaId=0, pid=pid)
    trace = load(made.write(tmp_path))
    assert {lane.device for lane in trace.lanes} == {2, 5}
    del made.rows["TARGET_INFO_CUDA_DEVICE"]
    trace = load(made.write(tmp_path))
    assert {lane.device for lane in trace.lanes} == {0}
    assert "shown as one" in told(trace)


def test_streams_of_two_processes_on_one_gpu_are_two_lanes(tmp_path: Path) -> None:
    made = Export()
    made.kernel("a", 100, 300, 1, pid=100)
    made.kernel("b", 200, 400, 1, pid=200)
    trace = load(made.write(tmp_path))
    assert [(lane.device, lane.stream) for lane in trace.lanes] == [(0, 7), (0, 7)]
    assert "stream 7 of process 200" in {lane.name for lane in trace.lanes}


def test_synchronisations_lie_on_the_device_of_their_context(tmp_path: Path) -> None:
    made = Export()
    made.kernel("k", 100, 200, 1, device=1)
    place = made.place(300, 400, 2, 100, 1, 9) | {"deviceId": 0}
    made.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", **place, syncType=2, eventId=5, eventSyncId=77)
    made.add(
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT", streamId=7, correlationId=1, eventSyncId=77, eventId=5,
        globalPid=global_pid(100),
    )  # fmt: skip
    trace = load(made.write(tmp_path))
    row = only(trace, SliceKind.GPU_SYNC)
    assert trace.name(row) == "Stream Wait Event"
    assert trace.lanes[int(trace.lane_id[row])].device == 1
    detail = trace.detail(row)
    assert detail["wait_on_stream"] == 7
    assert detail["wait_on_cuda_event_record_corr_id"] == 1


def test_the_profilers_own_work_is_known_as_such(tmp_path: Path) -> None:
    made = training()
    for table, name, kind in (
        ("CUPTI_ACTIVITY_KIND_OVERHEAD", None, 7),
        ("PROFILER_OVERHEAD", "Chunk Allocation", 0),
    ):
        made.add(
            table, start=3_300, end=9_000, globalTid=global_tid(100, 101), overheadType=kind,
            nameId=made.text(name) if name else None,
        )  # fmt: skip
    made.kernel("last", 9_100, 9_200, 9)
    analysis = analyse(load(made.write(tmp_path)))
    rows = rows_of(analysis.trace, SliceKind.OVERHEAD)
    assert {analysis.trace.name(row) for row in rows} == {
        "Lazy Function Loading", "Chunk Allocation",
    }  # fmt: skip
    assert any(warning.code == "Q7" for warning in analysis.warnings)


def test_graph_launches_without_their_kernels_count_as_work_and_are_told(tmp_path: Path) -> None:
    made = training()
    place = made.place(4_000, 6_000, 8, 100, 0, 7)
    made.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", **place, graphId=4)
    made.call("cudaGraphLaunch_v10000", 3_800, 3_900, 8)
    path = made.write(tmp_path)
    analysis = analyse(load(path))
    assert figures_told(analysis) == figures_by_hand(path)
    assert "--cuda-graph-trace=node" in told(analysis.trace)
    assert "CUDA graph 4" in analysis.trace.strings


def test_ranges_of_libraries_marks_and_free_ranges_are_kept(tmp_path: Path) -> None:
    made = training()
    made.range("NCCL", 0, None, eventType=75, domainId=1)
    made.range("ncclAllReduce", 3_000, 3_100, domainId=1)
    made.range(None, 3_200, 3_300, textId=made.text("registered"))
    made.range("across threads", 3_000, 8_000, eventType=60)
    made.range("never popped", 8_500, None)
    made.range("here", 4_000, None, eventType=34)
    trace = load(made.write(tmp_path))
    names = {trace.name(row): row for row in range(len(trace))}
    assert {"NCCL:ncclAllReduce", "registered", "across threads", "never popped"} <= set(names)
    assert trace.lanes[int(trace.lane_id[names["across threads"]])].kind == LaneKind.OTHER
    assert int(trace.end_ns[names["never popped"]]) == trace.duration_ns
    assert [trace.strings[i] for i in trace.instants.name_id] == ["here"]
    assert int(trace.instants.time_ns[0]) + trace.origin_ns == 4_000
    assert "1 event without an end" in told(trace)


def test_os_calls_and_metrics_become_lanes_and_counters(tmp_path: Path) -> None:
    made = training()
    made.add(
        "OSRT_API", start=1_000, end=2_000, globalTid=global_tid(100, 101),
        nameId=made.text("pthread_cond_wait"),
    )  # fmt: skip
    source = 0x0F0000000001
    made.add("TARGET_INFO_GPU_METRICS", typeId=source, metricId=4, metricName="SMs Active")
    for time, value in ((2_000, 30), (1_000, 10)):
        made.add("GPU_METRICS", timestamp=time, typeId=source, metricId=4, value=value)
    trace = load(made.write(tmp_path))
    assert "OS calls of 101" in {lane.name for lane in trace.lanes}
    assert trace.counters.series == (("GPU 1", "SMs Active", "value"),)
    assert trace.counters.value.tolist() == [10.0, 30.0]


def test_the_card_is_recognised_and_the_clock_is_the_walls(tmp_path: Path) -> None:
    made = training()
    made.add(
        "TARGET_INFO_GPU", id=0, name="NVIDIA A100-SXM4-80GB", totalMemory=85_094_825_984,
        smCount=108, computeMajor=8, computeMinor=0, clockRate=1_410_000_000,
    )  # fmt: skip
    made.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000)
    made.add("META_DATA_EXPORT", name="EXPORT_PARAM_TIME_SHIFT", value="500")
    analysis = analyse(load(made.write(tmp_path)))
    assert analysis.devices[0].model == "A100 SXM4 80"
    assert analysis.trace.base_ns == 1_699_999_999_999_999_500
    assert analysis.trace.header["deviceProperties"][0]["clockRate"] == 1_410_000


def test_all_that_is_recorded_of_a_slice_is_read_when_asked_for(tmp_path: Path) -> None:
    path = training().write(tmp_path)
    trace = load(path)
    arguments = trace.args(only(trace, SliceKind.KERNEL))
    assert arguments["correlationId"] == 1
    assert arguments["demangledName"] == "void gemm<(int)128, (bool)1>(int)"
    assert "graphId" not in arguments  # not recorded
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(TraceError, match="changed"):
        trace.args(only(trace, SliceKind.KERNEL))


def test_reading_reports_progress_and_ends_when_told(tmp_path: Path) -> None:
    path = training().write(tmp_path)
    seen: list[Progress] = []
    open_trace(path, progress=seen.append)
    assert seen
    assert all(one.bytes_read <= one.bytes_total for one in seen)
    assert seen[-1].bytes_read == seen[-1].bytes_total

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_trace(path, progress=stop)
