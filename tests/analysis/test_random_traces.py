"""Layers, unjudged and edges are the window, whatever was recorded: 1000 files, and real ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tests.support.program import budget_parts
from tests.support.random_program import random_program
from tests.support.recordings import analysed
from whichlayer.analysis import Analysis, Options, analyse
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import GapKind, State

TRACES, BLOCKS = 1000, 10


def assert_adds_up(analysis: Analysis) -> None:
    """To the nanosecond, in all, by device and by step; gaps are in segments and nowhere twice."""
    window = analysis.window
    assert analysis.budget.total_ns == (window.end_ns - window.start_ns) * len(analysis.devices)
    for budget in (analysis.budget, *analysis.budget_by_device, *analysis.budget_by_step):
        layers = sum(budget.lost_to(layer) for layer in Layer)
        ownerless = budget.at_roof_ns + budget.spacing_ns
        assert layers + ownerless + budget.unjudged_ns + budget.edge_ns == budget.total_ns
        assert budget_parts(budget) == budget.total_ns
        parts = (budget.at_roof_ns, budget.spacing_ns, budget.unjudged_ns, budget.edge_ns)
        assert min(*parts, *budget.loss_ns.values(), *budget.gap_ns.values(), 0) >= 0
    for device, segments in enumerate(analysis.segments):
        assert (segments.start_ns[1:] == segments.end_ns[:-1]).all()
        if len(segments.start_ns):
            assert segments.start_ns[0] == window.start_ns
            assert segments.end_ns[-1] == window.end_ns
        _assert_gaps_apart(analysis, device)
        gaps = segments.state == State.GAP
        in_segments = int((segments.end_ns - segments.start_ns)[gaps].sum())
        mine = analysis.gaps.device == device
        assert in_segments == int((analysis.gaps.end_ns - analysis.gaps.start_ns)[mine].sum())


def _assert_gaps_apart(analysis: Analysis, device: int) -> None:
    mine = analysis.gaps.device == device
    start, end = analysis.gaps.start_ns[mine], analysis.gaps.end_ns[mine]
    assert (end > start).all()
    assert (start[1:] >= end[:-1]).all()


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_recordings_add_up(tmp_path: Path, block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(block, TRACES, BLOCKS):
        trace = random_program(seed).trace(tmp_path)
        analysis = analyse(trace, _options(seed, trace.duration_ns))
        assert_adds_up(analysis)
        seen.update(GapKind(kind).id for kind in set(analysis.gaps.kind.tolist()))
        seen.update(analysis.gaps.rule(i) for i in range(len(analysis.gaps)))
    # What never occurs is not tested.
    assert {kind.id for kind in GapKind} <= set(seen)
    assert len(seen) > 12


def _options(seed: int, duration_ns: int) -> Options:
    """Every third in a span of its own."""
    random = Random(-seed - 1)
    if seed % 3 or duration_ns < 2:
        return Options()
    low = random.randrange(duration_ns)
    return Options(span_ns=(low, random.randint(low + 1, duration_ns + 1000)))


def test_every_real_recording_adds_up(traces: Path) -> None:
    read = 0
    for path in sorted(traces.rglob("*")):
        if not path.is_file() or path.name in ("README.md", "expected.json"):
            continue
        try:
            analysis = analysed(path)
        except TraceError:
            continue
        assert_adds_up(analysis)
        read += 1
    assert read > 40


def test_the_same_seed_is_the_same_recording() -> None:
    assert random_program(17).document() == random_program(17).document()
    assert random_program(17).document() != random_program(18).document()
