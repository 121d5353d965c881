"""A recording of counters or instants alone lies where they are; with slices those decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.options import Options
from whichlayer.analysis.report.text_report import render
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.document import open_document

EPOCH_US = 1_700_000_000_000_000
EPOCH_NS = EPOCH_US * 1000


def counters(count: int) -> list[dict[str, Any]]:
    return [
        {"ph": "C", "name": "c", "pid": 1, "ts": EPOCH_US + 10 * i, "args": {"a": i}}
        for i in range(count)
    ]


def instants(count: int) -> list[dict[str, Any]]:
    return [
        {"ph": "i", "s": "t", "name": "i", "pid": 1, "tid": 1, "ts": EPOCH_US + 5 + 10 * i}
        for i in range(count)
    ]


def written(folder: Path, events: list[dict[str, Any]]) -> str:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return str(path)


def recording_line(trace: Trace) -> str:
    lines = render(analyse(trace, Options())).splitlines()
    return next(line for line in lines if line.startswith("RECORDING"))


def test_counters_alone_begin_at_their_first_sample_and_fill_the_axis(tmp_path: Path) -> None:
    trace = load(written(tmp_path, counters(50)))
    assert (trace.origin_ns, trace.duration_ns) == (EPOCH_NS, 490_000)
    document = open_document(trace)
    assert (document.low_ns, document.high_ns) == (0, 490_001)
    assert recording_line(trace) == (
        "RECORDING  50 events, 1 counter with 50 samples, 490.0 µs from first to last"
    )


def test_instants_alone_begin_at_the_first(tmp_path: Path) -> None:
    trace = load(written(tmp_path, instants(50)))
    assert (trace.origin_ns, trace.duration_ns) == (EPOCH_NS + 5_000, 490_000)
    document = open_document(trace)
    assert (document.low_ns, document.high_ns) == (0, 490_001)
    assert "50 events, 50 instants, 490.0 µs" in recording_line(trace)


def test_with_slices_nothing_but_they_decide(tmp_path: Path) -> None:
    late = {"ph": "X", "name": "s", "pid": 1, "tid": 1, "ts": EPOCH_US + 200, "dur": 50}
    trace = load(written(tmp_path, [*counters(50), *instants(50), late]))
    assert (trace.origin_ns, trace.duration_ns) == (EPOCH_NS + 200_000, 50_000)
    assert int(trace.counters.time_ns.min()) == -200_000
    assert "1 lane with 1 slice, 1 counter with 50 samples" in recording_line(trace)


def test_a_file_of_neither_says_so(tmp_path: Path) -> None:
    flow = {"ph": "s", "id": 1, "cat": "c", "name": "f", "pid": 1, "tid": 1, "ts": EPOCH_US}
    trace = load(written(tmp_path, [flow]))
    assert (trace.origin_ns, trace.duration_ns) == (0, 0)
    assert recording_line(trace) == "RECORDING  1 event, no slices"


@pytest.mark.parametrize("events", [instants(50), [*counters(20), *instants(50)]])
def test_a_part_has_the_origin_and_the_length_of_the_whole(
    events: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, events)
    whole = load(path)
    monkeypatch.setenv("WHICHLAYER_PART_FROM", "0")
    part = load(path, span_ns=(200_000, 210_000))
    assert part.part is not None
    assert (part.origin_ns, part.duration_ns) == (whole.origin_ns, whole.duration_ns)


def test_values_that_are_no_finite_numbers_are_counted_and_left_out(tmp_path: Path) -> None:
    values = [{"a": "inf", "b": 1, "c": "word"}, {"a": "-inf", "b": "nan"}, {"a": 3, "b": True}]
    events = [{"ph": "C", "name": "c", "pid": 1, "ts": i, "args": v} for i, v in enumerate(values)]
    trace = load(written(tmp_path, events))
    named = [trace.counters.series[number][2] for number in trace.counters.series_id.tolist()]
    assert list(zip(named, trace.counters.value.tolist(), strict=True)) == [("b", 1.0), ("a", 3.0)]
    (warning,) = (one for one in trace.warnings if one.code == "not-finite")
    assert warning.count == 3 and warning.byte_offset >= 0
    assert "3 counter values" in warning.message


def test_finite_values_are_not_warned_of(tmp_path: Path) -> None:
    trace = load(written(tmp_path, counters(5)))
    assert not [one for one in trace.warnings if one.code == "not-finite"]
