"""Titles of lanes: each tells its lane from the others of the trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.tui.recording import Slice, build_trace
from whichlayer.analysis import analyse, load
from whichlayer.analysis.trace.columns import Lane
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.document import open_document, with_analysis


def titles(*lanes: Lane) -> list[str]:
    """Titles of lanes with a slice each, in the order given."""
    kinds = {
        LaneKind.GPU_STREAM: SliceKind.KERNEL,
        LaneKind.GPU_SYNC: SliceKind.GPU_SYNC,
        LaneKind.OVERHEAD: SliceKind.OVERHEAD,
    }
    slices: list[Slice] = [
        (i, kinds.get(lane.kind, SliceKind.OTHER), "a", 10 * i, 10 * i + 5, 0, -1)
        for i, lane in enumerate(lanes)
    ]
    document = open_document(build_trace(slices, lanes))
    return [next(s.title for s in document.lanes if s.lane is lane) for lane in lanes]


def other(pid: int | str, tid: int | str, name: str = "", process: str = "") -> Lane:
    return Lane(pid, tid, LaneKind.OTHER, name=name or f"thread {tid}", process=process)


def test_one_process_needs_no_name() -> None:
    assert titles(other(7, 8), other(7, 9, "Compositor", "browser")) == ["thread 8", "Compositor"]


def test_threads_without_a_name_are_told_by_their_process() -> None:
    assert titles(other(2, 0, process="GPU2"), other(3, 0, process="GPU3")) == [
        "GPU2 t0",
        "GPU3 t0",
    ]
    assert titles(other(0, 99), other(1, 99)) == ["0 t99", "1 t99"]


def test_lanes_of_a_device_name_it() -> None:
    found = titles(
        other(1, 2, "XLA Ops", "/device:GPU:0"),
        other(1, 3, "Steps", "/device:GPU:0"),
        other(9, 5, "python", "/host:CPU"),
    )
    assert found == ["GPU:0 XLA Ops", "GPU:0 Steps", "python"]


def test_threads_of_one_name_have_their_number() -> None:
    assert titles(other(7, 12, "PAC"), other(7, 45, "PAC")) == ["PAC 12", "PAC 45"]
    cpu = [Lane(pid, pid, LaneKind.CPU_THREAD, name="python3") for pid in (111, 112)]
    assert titles(*cpu) == ["CPU python3 111", "CPU python3 112"]


def test_syncs_of_several_streams_say_which() -> None:
    lanes = [Lane(0, s, LaneKind.GPU_SYNC, 0, s) for s in (-1, 7, 22)]
    assert titles(*lanes) == ["GPU0 sync", "GPU0 s7 sync", "GPU0 s22 sync"]


def test_the_overhead_of_a_thread_is_not_the_thread() -> None:
    thread = Lane(1, 1, LaneKind.CPU_THREAD, name="python")
    assert titles(thread, Lane(1, 1, LaneKind.OVERHEAD, name="python")) == [
        "CPU python", "python overhead",
    ]  # fmt: skip


def test_a_gpu_without_a_number_is_a_gpu() -> None:
    assert titles(Lane(-1, 7, LaneKind.GPU_STREAM, -1, 7)) == ["GPU s7"]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("thread 21 (python)", "CPU 21"),
        ("thread 21 (train)", "CPU 21"),
        ("thread 21 (pt_autograd_0)", "CPU pt_autograd_0"),
        ("thread 21", "CPU 21"),
        ("pt_data_pin", "CPU pt_data_pin"),
        ("", "CPU 21"),
    ],
)
def test_a_cpu_thread_is_named_by_what_only_it_is_called(name: str, title: str) -> None:
    lane = Lane(7, 21, LaneKind.CPU_THREAD, name=name, process="train")
    assert titles(lane) == [title]


def test_titles_are_clean_and_differ_whatever_a_file_calls_its_threads() -> None:
    lanes = [other(pid, f"\x1b[{tid}", "same", "\n[bold]") for pid in "ab" for tid in "12"]
    found = titles(*lanes)
    assert len(set(found)) == 4 and all(title.isprintable() for title in found)


def test_kernels_of_onnxruntime_are_on_a_gpu_lane_of_the_chosen_device(tmp_path: Path) -> None:
    event: dict[str, Any] = {"ph": "X", "ts": 3, "dur": 5, "args": {}}
    path = tmp_path / "ort.json"
    path.write_text(json.dumps([
        event | {"cat": "Session", "pid": 7, "tid": 8, "name": "model_loading_uri"},
        event | {"cat": "Kernel", "pid": -1, "tid": -1, "name": "add", "args": {"stream": "7"}},
    ]))  # fmt: skip
    trace = load(path)
    document = with_analysis(open_document(trace), analyse(trace))
    assert [lane.title for lane in document.lanes] == ["GPU s7", "thread 8"]
    assert [document.device_of(lane) for lane in (0, 1)] == [0, None]
