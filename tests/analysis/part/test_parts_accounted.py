"""What is said of a window is the same for a part and for the whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.program import Program
from tests.support.recordings import loaded
from whichlayer.analysis import Options, analyse, load
from whichlayer.analysis.cache import reuse
from whichlayer.analysis.part import reading
from whichlayer.analysis.part.cut import WARNING
from whichlayer.analysis.reader.keep import Keep
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.document import open_document

STEPS, STEP_US, OPERATOR_US = 12, 400_000.0, 1_000.0


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Steps of launches, each with a wait; kernels lag behind, and some before the steps."""
    program = Program()
    at = 1_000.0
    for number in range(STEPS):
        program.step(number, at, STEP_US - 10)
        for index in range(40):
            begin = at + 10 + index * OPERATOR_US
            program.operator("aten::mul", begin, 300.0)
            program.kernel(f"kernel_{index % 5}", begin + 60, 500.0, (begin + 10, 20.0))
        program.call("cudaDeviceSynchronize", at + 42_000, 3_000.0)
        program.frame("train.py(7): log", at + 50_000, 20_000.0)
        at += STEP_US
    return program.write(tmp_path_factory.mktemp("training"))


@pytest.fixture(autouse=True)
def parts_of_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(reading.VARIABLE, "0")


def gaps(analysis: Analysis) -> list[tuple[object, ...]]:
    """Every piece with its cause and what explains it."""
    trace, found = analysis.trace, analysis.gaps
    rows = found.culprit_row.tolist()
    said = [(trace.name(row), int(trace.start_ns[row])) if row >= 0 else None for row in rows]
    columns = (found.start_ns, found.end_ns, found.device, found.kind, found.cause, found.layer)
    return list(zip(*(column.tolist() for column in columns), said, strict=True))


def assert_same_account(part: Analysis, whole: Analysis) -> None:
    assert part.trace.part is not None and whole.trace.part is None
    assert gaps(part) == gaps(whole)
    assert [d.busy_ns for d in part.devices] == [d.busy_ns for d in whole.devices]
    assert part.devices == whole.devices
    assert part.floor_ns == whole.floor_ns
    assert (part.window.start_ns, part.window.end_ns) == (
        whole.window.start_ns,
        whole.window.end_ns,
    )
    assert part.budget.total_ns == whole.budget.total_ns
    assert part.budget.gap_ns == whole.budget.gap_ns
    told = [one for one in part.warnings if one.code != WARNING]
    assert told == list(whole.warnings)


@pytest.mark.parametrize("steps", [(0, 0), (5, 6), (11, 11), (0, 11)])
def test_gaps_of_steps_are_the_same(training: Path, steps: tuple[int, int]) -> None:
    whole = analyse(load(training), Options(steps=steps))
    part = load(training, steps=steps)
    assert_same_account(analyse(part, Options(steps=steps)), whole)
    assert steps == (0, 11) or len(part) < len(whole.trace)


def test_gaps_of_a_span_are_the_same(training: Path) -> None:
    span = (2_310_000_000, 2_350_000_000)
    whole = analyse(load(training), Options(span_ns=span))
    assert_same_account(analyse(load(training, span_ns=span)), whole)


def test_real_recordings_give_the_same_gaps(traces: Path) -> None:
    compared = 0
    for path in sorted(traces.glob("*.json*")):
        if path.stat().st_size > 1_500_000 or path.name == "expected.json":
            continue
        whole = loaded(path)
        steps = [step.number for step in whole.steps]
        if not steps:
            continue
        wanted = (steps[len(steps) // 2],) * 2
        assert_same_account(
            analyse(load(path, steps=wanted)), analyse(whole, Options(steps=wanted))
        )
        compared += 1
    assert compared > 10


def test_a_part_is_accounted_for_in_the_window_it_was_read_for(training: Path) -> None:
    analysis = analyse(load(training, steps=(5, 6)))
    assert [step.number for step in analysis.window.steps] == [5, 6]
    assert analysis.options.steps == (5, 6)


def test_nothing_is_said_of_what_was_not_read(training: Path) -> None:
    part = load(training, steps=(5, 6))
    with pytest.raises(ValueError, match="only a part was read"):
        analyse(part, Options(steps=(9, 9)))


def test_steps_that_are_not_there_are_refused_as_ever(training: Path) -> None:
    part = load(training, steps=(70, 71))
    assert not (part.kind == SliceKind.PYTHON).any()
    with pytest.raises(ValueError, match="no step between 70 and 71; the trace has steps 0, 1, 2"):
        analyse(part, Options(steps=(70, 71)))


def test_the_part_reaches_back_to_the_first_launch(tmp_path: Path) -> None:
    program = Program()
    program.frame("train.py(1): first", 0, 10.0)
    program.frame("train.py(2): long_ago", 5_000_000, 50.0)
    program.kernel("late", 9_000_000, 500.0, (5_000_010, 5.0))
    path = program.write(tmp_path)
    part = load(path, span_ns=(9_000_000_000, 9_000_400_000))
    names = [part.name(row) for row in range(len(part))]
    assert "train.py(2): long_ago" in names and "train.py(1): first" not in names


def test_a_small_recording_is_read_whole(training: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(reading.VARIABLE)
    assert load(training, steps=(5, 6)).part is None


def test_a_part_is_cut_from_the_cache_and_never_put_there(
    training: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reuse, "FEWEST_EVENTS", 0)
    read = load(training, cache=True, steps=(5, 6))
    assert reuse.reopen(str(training)) is None
    assert not reuse.keep(read)
    load(training, cache=True)
    assert reuse.reopen(str(training)) is not None

    def fail(*_: object) -> Trace:
        raise AssertionError("the file was read")

    monkeypatch.setattr(reading, "_read", fail)
    reopened = load(training, cache=True, steps=(5, 6))
    assert reopened.part == read.part
    assert gaps(analyse(reopened)) == gaps(analyse(read))


def test_a_part_of_standard_input_is_read_as_one(training: Path) -> None:
    done = report(training, "--steps", "5:6", "-")
    assert done["trace"]["part"] is not None and done["trace"]["path"] == "-"


def report(training: Path, *arguments: str) -> dict[str, dict[str, object]]:
    """The JSON report of a process of its own, which may read the file or standard input."""
    command = [sys.executable, "-m", "whichlayer", "report", "--format", "json", "--no-cache"]
    with training.open("rb") as stream:
        done = subprocess.run(
            [*command, *arguments], stdin=stream, capture_output=True, timeout=60, check=True
        )
    found: dict[str, dict[str, object]] = json.loads(done.stdout)
    return found


def test_a_report_of_steps_is_that_of_the_whole(
    training: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = report(training, str(training), "--steps", "5:6")
    monkeypatch.setenv(reading.VARIABLE, "1000000000")
    whole = report(training, str(training), "--steps", "5:6")
    assert whole["trace"].pop("part") is None
    assert part["trace"].pop("part") == {"start_us": 1600000.0, "end_us": 2803070.001}
    for name in ("trace", "devices", "window", "budget", "layers", "layers_by_step", "gaps"):
        if name == "trace":
            for one in (part, whole):
                del one[name]["warnings"], one[name]["recorded"]
        assert part[name] == whole[name], name


def test_the_screen_ends_where_the_part_does(training: Path) -> None:
    part = load(training, steps=(5, 6))
    assert part.part is not None
    document = open_document(part)
    assert (document.low_ns, document.high_ns) == (part.part.low_ns, part.part.high_ns)
    keep = Keep(part.part.low_ns, part.part.high_ns)
    for lane in document.lanes:
        for depth in range(lane.depth):
            row = lane.row(depth)
            assert keep.inside(row.start_ns, row.end_ns).all()
