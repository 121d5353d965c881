"""The report of a part is that of the whole recording, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.make_trace import make_trace
from tests.support.recordings import loaded
from whichlayer.analysis import Options, analyse, load
from whichlayer.analysis.part import reading
from whichlayer.analysis.part.cut import WARNING, cut
from whichlayer.analysis.part.needed import Wanted
from whichlayer.analysis.report.json_report import render
from whichlayer.analysis.trace.columns import Trace

#: All that may differ: a part says that it is one.
MAY_DIFFER = frozenset({".trace.part", ".trace.warnings"})

#: Of the real recordings these, of every kind of program.
LARGEST = 1_000_000


@pytest.fixture(autouse=True)
def parts_of_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(reading.VARIABLE, "0")


def reported(trace: Trace, wanted: Wanted) -> dict[str, Any] | str:
    """Every section of the JSON report, or why there is none."""
    try:
        options = Options(steps=wanted.steps, span_ns=wanted.span_ns, covered=True)
        found: dict[str, Any] = json.loads(render(analyse(trace, options)))
    except ValueError as error:
        return str(error)
    warnings = found["trace"]["warnings"]
    found["trace"]["warnings"] = [one for one in warnings if one["code"] != WARNING]
    return found


def differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Where two reports differ; positions in tables are left out."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from differences(one.get(key), other.get(key), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from differences(left, right, f"{place}[]")
    elif one != other:
        yield place


def windows(trace: Trace) -> list[Wanted]:
    """Some steps, where there are any, and some spans."""
    numbers = [step.number for step in trace.steps]
    chosen = sorted({0, len(numbers) // 2, len(numbers) - 1}) if numbers else []
    wanted = [Wanted((numbers[at], numbers[at])) for at in chosen]
    if len(numbers) > 3:
        wanted.append(Wanted((numbers[1], numbers[2])))
    for begin, end in ((0.1, 0.12), (0.5, 0.502), (0.5, 0.6), (0.85, 0.9)):
        span = int(trace.duration_ns * begin), int(trace.duration_ns * end)
        wanted.append(Wanted(None, span))
    return wanted


def assert_same_reports(path: Path, whole: Trace, first: int = 0, step: int = 1) -> int:
    """Compares windows of a recording; tells of how many a part is smaller."""
    smaller = 0
    for wanted in windows(whole)[first::step]:
        part = cut(whole, wanted)
        told = set(differences(reported(whole, wanted), reported(part, wanted)))
        assert told <= MAY_DIFFER, (path.name, wanted, sorted(told - MAY_DIFFER))
        smaller += len(part) < len(whole)
    return smaller


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training program with Python frames and arguments, and phases of steps."""
    path = tmp_path_factory.mktemp("made") / "made.json"
    make_trace(path, 12)
    return path


def test_a_made_recording_is_reported_alike(made: Path) -> None:
    assert assert_same_reports(made, loaded(made)) > 3


@pytest.mark.parametrize("wanted", [Wanted((2, 3)), Wanted(None, (60_000_000, 65_000_000))])
def test_a_part_that_was_read_is_reported_as_one_that_was_cut(made: Path, wanted: Wanted) -> None:
    part = load(made, steps=wanted.steps, span_ns=wanted.span_ns)
    assert part.part is not None
    assert reported(part, wanted) == reported(cut(loaded(made), wanted), wanted)


def test_phases_launches_and_coverage_are_known_of_a_part(made: Path) -> None:
    found = reported(load(made, steps=(2, 3)), Wanted((2, 3)))
    assert isinstance(found, dict)
    assert all(row["host_phases"] and row["device_phases"] for row in found["steps"]["rows"])
    assert found["steps"]["phases_record"] is None
    assert all(one["launches"] > 0 for one in found["launches"][0]["steps"])
    assert found["throughput"]["steps"] == 2 and found["coverage"]["bytes_share"] > 0


def test_samples_are_reported_alike() -> None:
    folder = Path(__file__).parents[3] / "sample_traces"
    paths = sorted(folder.glob("*.json.gz"))
    for number, path in enumerate(paths[:12]):
        assert_same_reports(path, loaded(path), number % 3, 3)
    assert paths


def test_real_recordings_are_reported_alike(traces: Path) -> None:
    smaller = 0
    for number, path in enumerate(sorted(traces.glob("*.json*"))):
        if path.stat().st_size <= LARGEST and path.name != "expected.json":
            smaller += assert_same_reports(path, loaded(path), number % 3, 3)
    assert smaller > 10
