"""Limits hold, break at the very share, and are broken where the recording cannot tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.program import Program
from whichlayer.analysis import Analysis, Options, analyse, load
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.limits import ANY, Limits, hold_to, idle_ns, roof_share
from whichlayer.analysis.untold import untold_of_layer, untold_of_rule
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


def unlinked(tmp_path: Path, busy: float) -> Analysis:
    """Kernels whose launches are not in the file, so that no gap between them is explained."""
    program = Program()
    program.kernel("ampere_sgemm_128x128_nn", 0.0, busy)
    program.kernel("ampere_sgemm_128x128_nn", busy + 40.0, busy)
    return analyse(program.trace(tmp_path))


def test_idle_of_unknown_cause_may_be_a_layer_whose_gaps_it_may_be(tmp_path: Path) -> None:
    analysis = unlinked(tmp_path, 60.0)
    unknown = analysis.budget.gap_ns[Layer.UNKNOWN] / analysis.budget.total_ns
    assert unknown == 0.25
    for layer in (Layer.PYTORCH, Layer.RUNTIME, Layer.BOUNDARY):
        assert untold_of_layer(analysis, layer).gap_ns == unknown * analysis.budget.total_ns
    assert untold_of_layer(analysis, Layer.CUDA).gap_ns == 0
    (outcome,) = hold_to(analysis, Limits(max_layer={Layer.PYTORCH: 0.05}))
    assert outcome.broken and "cannot be told: 0.0 % of the window is lost" in outcome.text
    assert "25.0 % idle of unknown cause" in outcome.text and "record from before" in outcome.text
    assert broken(analysis, Limits(max_layer={Layer.PYTORCH: 0.25})) == []
    assert broken(analysis, Limits(max_layer={Layer.UNKNOWN: 0.25})) == []  # itself, not twice


def test_unknown_time_that_cannot_hold_a_breach_does_not_matter(tmp_path: Path) -> None:
    analysis = unlinked(tmp_path, 600.0)
    assert 0 < analysis.budget.gap_ns[Layer.UNKNOWN] < 0.05 * analysis.budget.total_ns
    limits = Limits(max_layer={Layer.PYTORCH: 0.05}, no_finding=("host-sync",))
    assert broken(analysis, limits) == []


def test_a_finding_may_hide_in_unknown_time(tmp_path: Path) -> None:
    analysis = unlinked(tmp_path, 60.0)
    (outcome,) = hold_to(analysis, Limits(no_finding=("host-sync",)))
    assert outcome.broken and "no-finding host-sync: cannot be told: none" in outcome.text
    assert untold_of_rule(analysis, "memory-bound-slow").gap_ns == 0
    # Of ranks that nothing shows to be there, and of nobody: none.
    assert broken(analysis, Limits(no_finding=("exposed-comm", "stream-wait"))) == []


def test_known_time_of_the_finding_adds_to_what_may_be_it(loader: Analysis) -> None:
    limits = Limits(no_finding=("host-sync",))
    total, unknown = loader.budget.total_ns, cause_code("unattributed")
    longest = int(np.argmax(loader.gaps.end_ns - loader.gaps.start_ns))
    cause = loader.gaps.cause.copy()
    cause[longest] = unknown
    gaps = replace(loader.gaps, cause=cause, launch_row=np.full_like(loader.gaps.launch_row, -1))
    share = int((gaps.end_ns - gaps.start_ns)[longest]) / total
    for listed, hidden in ((share * 0.9, True), (share * 1.1, False)):
        options = Options(settings={"host-sync": {"note": listed}})
        changed = replace(loader, gaps=gaps, options=options)
        assert broken(changed, limits) == (["no-finding host-sync"] if hidden else [])


def test_work_that_waited_in_the_queue_was_not_launched_late(tmp_path: Path) -> None:
    program = Program()
    program.kernel("k", 100.0, 50.0, (10.0, 3.0))
    program.kernel("k", 250.0, 50.0, (20.0, 3.0))
    analysis = analyse(program.trace(tmp_path))
    assert analysis.budget.gap_ns[Layer.UNKNOWN] == 100_000
    assert broken(analysis, Limits(no_finding=("host-sync",))) == []
    assert untold_of_layer(analysis, Layer.PYTORCH).gap_ns == 0


def test_kernels_that_are_not_judged_may_be_slow_by_what_they_are(tmp_path: Path) -> None:
    program = Program()
    program.kernel("ampere_sgemm_128x128_nn", 0.0, 100.0)
    analysis = analyse(program.trace(tmp_path))
    limits: dict[Layer, float] = dict.fromkeys(list(Layer)[: Layer.NONE], 0.05)
    assert broken(analysis, Limits(max_layer=limits)) == [
        f"max-layer {name}" for name in ("boundary", "cuda", "precision")
    ]  # a product is no elementwise operator, and there is no softmax that it could be about
    asked = Limits(no_finding=("memory-bound-slow", "unfused-elementwise", "host-sync"))
    assert broken(analysis, asked) == ["no-finding memory-bound-slow"]


def test_a_few_kernels_that_are_not_judged_are_taken_to_be_like_the_rest() -> None:
    healthy = sample("healthy")
    assert healthy.budget.unjudged_ns > 0.06 * healthy.budget.total_ns
    assert broken(healthy, Limits(max_layer={Layer.CUDA: 0.05})) == []


def test_a_rule_that_had_nothing_to_look_at_found_not_none(tmp_path: Path) -> None:
    program = Program()
    program.kernel("k", 0.0, 100.0)
    outcomes = hold_to(
        analyse(program.trace(tmp_path)), Limits(no_finding=("memory-churn", "loop-indexing"))
    )
    assert all(one.broken and "cannot be told" in one.text for one in outcomes)
    assert "profile_memory" in outcomes[0].text and "ProfilerActivity.CPU" in outcomes[1].text
