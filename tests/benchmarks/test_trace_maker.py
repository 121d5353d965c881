"""The traces that benchmarks read are the same every time, and such as PyTorch could write."""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.make_trace import compress, main, make_trace
from benchmarks.trace_maker.layouts import LAYOUTS
from whichlayer.analysis.reader.opening import open_trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

Events = list[dict[str, Any]]


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("traces")
    found = {layout: folder / f"{layout}.json" for layout in LAYOUTS}
    for layout, path in found.items():
        # Sizes at which every layout holds the same two steps.
        make_trace(path, 2.6, layout=layout)
    return found


@pytest.fixture(scope="module")
def events(traces: dict[str, Path]) -> Events:
    return events_of(traces["pretty"])


def events_of(path: Path) -> Events:
    document = json.loads(path.read_text(encoding="ascii"), parse_float=str)
    found: Events = document["traceEvents"]
    return found


def nanoseconds(text: str) -> int:
    whole, _, fraction = text.partition(".")
    return int(whole) * 1_000 + int(fraction)


def test_same_arguments_give_the_same_bytes(traces: dict[str, Path], tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    make_trace(again, 2.6)
    assert again.read_bytes() == traces["pretty"].read_bytes()
    assert compress(again).read_bytes() == compress(again).read_bytes()


def test_other_seeds_give_other_traces(traces: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    make_trace(other, 2.6, seed=8)
    assert other.read_bytes() != traces["pretty"].read_bytes()


@pytest.mark.parametrize("layout", ["lines", "compact"])
def test_layouts_say_the_same(layout: str, traces: dict[str, Path], events: Events) -> None:
    assert events_of(traces[layout]) == events
    heads = [
        {key: value for key, value in json.loads(path.read_text()).items() if key != "traceEvents"}
        for path in (traces[layout], traces["pretty"])
    ]
    assert heads[0] == heads[1]


def test_sizes_are_reached_and_hardly_exceeded(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    make_trace(path, 6)
    assert 6e6 <= path.stat().st_size < 8.5e6


def test_slices_of_a_lane_nest(events: Events) -> None:
    lanes = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            start = nanoseconds(event["ts"])
            lanes[event["pid"], event["tid"]].append((start, -start - nanoseconds(event["dur"])))
    assert len(lanes) == 6
    for slices in lanes.values():
        ends: list[int] = []
        for start, negative_end in sorted(slices):
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or -negative_end <= ends[-1]
            ends.append(-negative_end)


def test_what_is_recorded_has_the_shares_of_real_traces(events: Events) -> None:
    count = Counter(event.get("cat", event["ph"]) for event in events)
    share = {category: number / len(events) for category, number in count.items()}
    assert 0.25 < share["cpu_op"] < 0.45
    assert 0.10 < share["cuda_runtime"] < 0.20
    assert 0.08 < share["kernel"] < 0.20
    assert 0.05 < share["python_function"] < 0.25
    assert 0.15 < share["ac2g"] < 0.30
    assert {"user_annotation", "gpu_memcpy", "gpu_user_annotation", "fwdbwd", "Trace"} <= set(share)


def test_stacks_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    make_trace(path, 1, stacks=False)
    categories = {event.get("cat") for event in events_of(path)}
    assert "cpu_op" in categories
    assert "python_function" not in categories


def test_shapes_are_drawn_from_more_than_a_thousand(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    make_trace(path, 10, layout="compact")
    shapes = {json.dumps(event.get("args", {}).get("Input Dims")) for event in events_of(path)}
    assert len(shapes) > 1_000


def test_arrows_lead_from_a_call_to_what_it_launched(events: Events) -> None:
    ends: dict[str, dict[int, tuple[object, ...]]] = {"s": {}, "f": {}}
    for event in events:
        if event.get("cat") == "ac2g":
            ends[event["ph"]][event["id"]] = (event["pid"], event["tid"], event["ts"])
    for event in events:
        category = event.get("cat")
        place = (event["pid"], event["tid"], event["ts"]) if "ts" in event else ()
        if category in ("kernel", "gpu_memcpy"):
            assert ends["f"].pop(event["args"]["correlation"]) == place
        elif category == "cuda_runtime" and event["args"]["correlation"] in ends["s"]:
            assert ends["s"].pop(event["args"]["correlation"]) == place
    assert ends == {"s": {}, "f": {}}


@pytest.mark.parametrize("layout", [*LAYOUTS])
def test_reader_finds_nothing_odd(layout: str, traces: dict[str, Path], events: Events) -> None:
    trace = open_trace(traces[layout])
    assert trace.events == len(events)
    assert not trace.warnings
    assert len(trace) == sum(event["ph"] == "X" for event in events)
    assert len(trace.steps) == sum("ProfilerStep" in event["name"] for event in events) / 2
    work = np.isin(trace.kind, GPU_WORK)
    assert (trace.launch[work] >= 0).all()
    assert (trace.kind[trace.launch[work]] == SliceKind.RUNTIME).all()
    assert (trace.start_ns[work] > trace.start_ns[trace.launch[work]]).all()


def test_command_line_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.json"
    assert main([str(path), "1", "--layout", "compact", "--gz"]) == 0
    assert gzip.decompress((tmp_path / "trace.json.gz").read_bytes()) == path.read_bytes()
    assert f"{path.stat().st_size:,} bytes" in capsys.readouterr().out
