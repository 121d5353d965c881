"""Limits hold, break at the very share, and are broken where the recording cannot tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis import Analysis, Options, analyse, load
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.limits import ANY, Limits, hold_to, idle_ns, roof_share
from whichlayer.tui.samples import sample_path


def sample(name: str) -> Analysis:
    return analyse(load(str(sample_path(name))), Options())


@pytest.fixture(scope="module")
def loader() -> Analysis:
    """A sample that waits for its loader."""
    return sample("dataloader-bound")


def broken(analysis: Analysis, limits: Limits) -> list[str]:
    return [one.limit for one in hold_to(analysis, limits) if one.broken]


def test_idle_is_what_the_segments_leave_idle(tmp_path: Path) -> None:
    program = Program()
    program.kernel("k", 0.0, 100.0)
    program.kernel("k", 150.0, 50.0)
    analysis = analyse(program.trace(tmp_path))
    assert idle_ns(analysis) == 50_000
    assert broken(analysis, Limits(max_idle=0.25)) == []
    assert broken(analysis, Limits(max_idle=0.2499)) == ["max-idle"]


def test_a_layer_breaks_its_limit_above_what_it_lost_and_not_at_it(loader: Analysis) -> None:
    lost = loader.budget.lost_to(Layer.RUNTIME) / loader.budget.total_ns
    assert 0.3 < lost < 1
    held = Limits(max_layer={Layer.RUNTIME: lost + 1e-9, Layer.CUDA: 0.9})
    assert broken(loader, held) == []
    assert broken(loader, Limits(max_layer={Layer.RUNTIME: lost - 1e-9})) == ["max-layer runtime"]


def test_a_broken_layer_names_the_finding_that_costs_most(loader: Analysis) -> None:
    (outcome,) = hold_to(loader, Limits(max_layer={Layer.RUNTIME: 0.0}))
    assert "dataloader-wait" in outcome.text and "allowed 0 %" in outcome.text
    assert "\n" not in outcome.text


def test_the_share_of_the_roof_is_that_of_judged_time() -> None:
    slow = sample("memory-bound-slow")
    share = roof_share(slow.budget)
    assert share is not None and 0 < share < 0.7
    assert broken(slow, Limits(min_roof=share)) == []
    assert broken(slow, Limits(min_roof=share + 1e-9)) == ["min-roof"]


def test_rules_that_must_find_nothing(loader: Analysis) -> None:
    assert broken(loader, Limits(no_finding=("host-sync",))) == []
    assert broken(loader, Limits(no_finding=("dataloader-wait",))) == ["no-finding dataloader-wait"]
    assert len(broken(loader, Limits(no_finding=(ANY,)))) == len(loader.findings)


def test_a_healthy_recording_passes_all() -> None:
    limits = Limits(0.15, {Layer.RUNTIME: 0.05, Layer.PYTORCH: 0.05}, 0.6, (ANY,))
    assert broken(sample("healthy"), limits) == []


def test_what_cannot_be_told_does_not_pass(tmp_path: Path) -> None:
    program = Program()
    program.slice("cpu_op", "aten::add", 0.0, 10.0)
    limits = Limits(0.5, {Layer.CUDA: 0.5}, 0.5, ("host-sync",))
    outcomes = hold_to(analyse(program.trace(tmp_path)), limits)
    assert [one.limit for one in outcomes] == [
        "max-idle",
        "max-layer cuda",
        "min-roof",
        "no-finding host-sync",
    ]
    assert all(one.broken and "cannot be told" in one.text for one in outcomes)


def test_a_roof_without_judged_kernels_is_broken_and_says_what_to_record(tmp_path: Path) -> None:
    program = Program()
    program.kernel("k", 0.0, 100.0)
    (outcome,) = hold_to(analyse(program.trace(tmp_path)), Limits(min_roof=0.1))
    assert outcome.broken and "record shapes" in outcome.text


def test_a_roof_that_most_kernels_were_not_held_to_does_not_pass() -> None:
    slow = sample("memory-bound-slow")
    budget = replace(slow.budget, unjudged_ns=100 * slow.budget.total_ns)
    (outcome,) = hold_to(replace(slow, budget=budget), Limits(min_roof=0.01))
    assert outcome.broken and "cannot be told" in outcome.text


def test_a_breach_never_reads_like_what_is_allowed(loader: Analysis) -> None:
    lost = loader.budget.lost_to(Layer.RUNTIME) / loader.budget.total_ns
    allowed = round(lost - 0.0001, 3)
    (outcome,) = hold_to(loader, Limits(max_layer={Layer.RUNTIME: allowed}))
    shown = float(outcome.text.partition(": ")[2].partition(" %")[0])
    assert shown != round(100 * allowed, 6) or not outcome.broken
