"""Every real recording opens, and what it holds is what was found independently."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.recordings import loaded
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import GPU_WORK

#: Files whose activities carry no correlation, and are joined by External id instead.
WITHOUT_CORRELATIONS = ("tl_eval_nv_", "tl_eval_gemm_misaligned")


def busy_time(trace: Trace, rows: Any) -> int:
    """Nanoseconds in which at least one of the slices runs."""
    total, until = 0, -(1 << 62)
    for start, end in sorted(
        zip(trace.start_ns[rows].tolist(), trace.end_ns[rows].tolist(), strict=True)
    ):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def check_device(trace: Trace, number: int, expected: Mapping[str, Any], name: str) -> None:
    device = np.array([lane.device for lane in trace.lanes])[trace.lane_id]
    work = np.isin(trace.kind, GPU_WORK) & ~trace.stray & (device == number)
    rows = np.flatnonzero(work)
    assert len(rows) == expected["activities"]
    assert Decimal(busy_time(trace, rows)) / 1000 == Decimal(str(expected["busy_us"]))
    span = int(trace.end_ns[rows].max()) - int(trace.start_ns[rows].min())
    assert Decimal(span) / 1000 == Decimal(str(expected["span_us"]))
    if not name.startswith(WITHOUT_CORRELATIONS):
        assert int((trace.launch[rows] < 0).sum()) == expected["activities_without_launch"]


def test_every_recording_opens_and_holds_what_is_expected(traces: Path) -> None:
    told = json.loads((traces / "expected.json").read_text())
    assert len(told) > 50
    for name, expected in told.items():
        trace = loaded(traces / name)
        codes = {warning.code for warning in trace.warnings}
        assert ("truncated" in codes) == (not expected["parses"]), name
        if expected["parses"]:
            assert trace.events == expected["events"], name
            assert [step.name for step in trace.steps] == expected["steps"], name
        for number, device in expected.get("devices", {}).items():
            check_device(trace, int(number), device, name)


def test_parents_enclose_and_rows_of_a_lane_never_overlap(traces: Path) -> None:
    trace = loaded(traces / "tl_mi300_sd35_239k_events.json.gz")
    rows = np.flatnonzero(trace.parent >= 0)
    parents = trace.parent[rows]
    assert (trace.start_ns[parents] <= trace.start_ns[rows]).all()
    assert (trace.end_ns[parents] >= trace.end_ns[rows]).all()
    assert (trace.lane_id[parents] == trace.lane_id[rows]).all()
    assert (trace.depth[parents] < trace.depth[rows]).all()
    order = np.lexsort((trace.end_ns, trace.start_ns, trace.depth, trace.lane_id))
    same = (np.diff(trace.lane_id[order]) == 0) & (np.diff(trace.depth[order]) == 0)
    assert (trace.start_ns[order][1:] >= trace.end_ns[order][:-1])[same].all()


@pytest.mark.parametrize("name", ["kineto_resnet50_workers0.json.gz", "chrome_unclosed.json"])
def test_arguments_on_demand_are_those_of_the_file(traces: Path, name: str) -> None:
    import gzip

    data = (traces / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    document = json.loads(text)
    events = document["traceEvents"] if isinstance(document, dict) else document
    trace = loaded(traces / name)
    by_start: dict[tuple[str, int], list[Any]] = {}
    for event in events:
        if event.get("ph") in ("X", "B"):
            key = (event["name"], round(Decimal(str(event["ts"])) * 1000) - trace.origin_ns)
            by_start.setdefault(key, []).append(event.get("args", {}))
    step = max(1, len(trace) // 60)
    for row in range(0, len(trace), step):
        assert trace.args(row) in by_start[trace.name(row), int(trace.start_ns[row])]
