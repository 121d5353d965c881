"""With less recorded the time is accounted for all the same; names and causes get fewer.

Whatever a figure would have needed, the report says what to record.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from tests.support.stripping import STRIPS, events_of, write
from whichlayer.analysis import Analysis, Options, analyse, load
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report import render
from whichlayer.analysis.report.advice import recording_advice
from whichlayer.analysis.results import GapKind, State
from whichlayer.tui.samples import sample_names, sample_path

REAL = (
    "hta_a100_event_sync.json.gz",
    "hta_v100_cuda_graphs.json.gz",
    "kineto_resnet50_workers0.json.gz",
    "tl_h100_qwen.json.gz",
    "tl_mi300_bert.json.gz",
)
#: What the advice names where the time that needs it is worth it.
NAMED = {
    "stacks": "with_stack=True",
    "shapes": "record_shapes=True",
    "links": "args.correlation",
    "cpu": "ProfilerActivity.CPU",
    "steps": "prof.step()",
}
WORTH = 0.01


@cache
def whole(path: Path) -> tuple[Analysis, Analysis]:
    """By default, and from the device's first to its last activity: whatever marks steps."""
    trace = load(path, cache=False)
    analysis = analyse(trace)
    low = min(device.start_ns for device in analysis.devices)
    high = max(device.end_ns for device in analysis.devices)
    return analysis, analyse(trace, Options(span_ns=(low, high)))


def gap_totals(analysis: Analysis) -> list[tuple[int, ...]]:
    """Idle (launch spacing with it), exposed communication and exposed copies of each device."""
    gaps, totals = analysis.gaps, []
    length = gaps.end_ns - gaps.start_ns
    for device, segments in enumerate(analysis.segments):
        mine = [
            int(length[(gaps.device == device) & (gaps.kind == kind)].sum()) for kind in GapKind
        ]
        spacing = segments.state == State.SPACING
        mine[GapKind.IDLE] += int((segments.end_ns - segments.start_ns)[spacing].sum())
        totals.append((analysis.devices[device].number, *mine))
    return totals


def unknown(analysis: Analysis) -> int:
    return analysis.budget.gap_ns.get(Layer.UNKNOWN, 0) + analysis.budget.unjudged_ns


def assert_same_with_less(path: Path, folder: Path, kind: str) -> None:
    document, events = events_of(path)
    (_, before), (default, after) = (
        whole(path),
        whole(write(folder, document, STRIPS[kind](events))),
    )
    assert gap_totals(after) == gap_totals(before)
    for one in (default, after):
        budget = one.budget
        layers = sum(budget.lost_to(layer) for layer in Layer)
        rest = budget.at_roof_ns + budget.spacing_ns + budget.edge_ns + budget.unjudged_ns
        assert layers + rest == budget.total_ns
    assert unknown(after) >= unknown(before) - before.budget.total_ns // 1000
    _assert_advice(default, kind)
    if kind in ("flows", "rest"):  # no figure of these needs them
        assert set(recording_advice(default)) <= set(recording_advice(whole(path)[0]))


def _assert_advice(analysis: Analysis, kind: str) -> None:
    """What was taken out is asked for where it would tell something of some size."""
    advice = " ".join(recording_advice(analysis))
    budget = analysis.budget
    above = budget.gap_ns.get(Layer.PYTORCH, 0) + budget.gap_ns.get(Layer.UNKNOWN, 0)
    needed = {
        "stacks": above > WORTH * budget.total_ns,
        "shapes": budget.unjudged_ns > WORTH * budget.total_ns,
        "links": unknown(analysis) > WORTH * budget.total_ns,
        "cpu": True,
        "steps": not analysis.trace.steps,
    }
    if needed.get(kind, False):
        assert NAMED[kind] in advice
    if advice:
        assert b"RECORD NEXT TIME" in render(analysis, "text")


@pytest.mark.parametrize("kind", STRIPS)
@pytest.mark.parametrize("name", sample_names())
def test_samples_with_less_recorded(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / sample_path(name).name
    shutil.copy(sample_path(name), path)
    assert_same_with_less(path, tmp_path, kind)


@pytest.mark.parametrize("kind", STRIPS)
@pytest.mark.parametrize("name", REAL)
def test_real_recordings_with_less_recorded(
    name: str, kind: str, traces: Path, tmp_path: Path
) -> None:
    assert_same_with_less(traces / name, tmp_path, kind)


def test_every_kind_that_figures_need_is_asked_for_somewhere(tmp_path: Path) -> None:
    """The samples hold all kinds, so that taking one out is what the advice answers."""
    path = sample_path("host-sync")
    document, events = events_of(path)
    for kind, word in NAMED.items():
        before = " ".join(recording_advice(whole(path)[0]))
        folder = tmp_path / kind
        folder.mkdir()
        stripped, _ = whole(write(folder, document, STRIPS[kind](events)))
        assert word not in before
        assert word in " ".join(recording_advice(stripped)), kind
