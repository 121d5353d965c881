"""What almost fired is told with its figure, and nothing else is."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.findings.near import NearMiss
from whichlayer.analysis.findings.near_misses import near_misses
from whichlayer.analysis.report import render
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "sample_traces"


@cache
def sample(name: str) -> Trace:
    return load(SAMPLES / f"{name}.json.gz")


def analysed(name: str, **settings: dict[str, float]) -> Analysis:
    held = {rule.replace("_", "-"): values for rule, values in settings.items()}
    return analyse(sample(name), Options(settings=held)) if held else usual(name)


@cache
def usual(name: str) -> Analysis:
    return analyse(sample(name))


def missed(analysis: Analysis, rule: str) -> NearMiss | None:
    return next((one for one in near_misses(analysis) if one.rule == rule), None)


def test_a_finding_is_no_near_miss() -> None:
    analysis = analysed("host_sync")
    assert "host-sync" in {one.rule for one in analysis.findings}
    assert missed(analysis, "host-sync") is None


def test_what_is_just_too_small_to_be_listed_is_near_with_its_share() -> None:
    (found,) = (one for one in analysed("host_sync").findings if one.rule == "host-sync")
    above = 1.2 * max(found.share, (found.recoverable_ns or 0) * found.share / found.time_ns)
    analysis = analysed("host_sync", host_sync={"note": above})
    near = missed(analysis, "host-sync")
    assert near is not None
    assert near.figure == pytest.approx(found.share) and near.threshold == pytest.approx(above)
    assert (near.setting, near.time_ns) == ("rules.host-sync.note", found.time_ns)
    assert "listed from rules.host-sync.note" in near.why


def test_what_is_far_too_small_is_not_near() -> None:
    (found,) = (one for one in analysed("host_sync").findings if one.rule == "host-sync")
    analysis = analysed("host_sync", host_sync={"note": min(1.0, 2.5 * found.share)})
    listed = {one.rule for one in analysis.findings}
    assert "host-sync" in listed or missed(analysis, "host-sync") is None


def test_what_is_switched_off_says_so() -> None:
    analysis = analyse(sample("host_sync"), Options(rules_off=frozenset({"host-sync"})))
    near = missed(analysis, "host-sync")
    assert near is not None and near.why.endswith("is switched off")


def test_a_kernel_condition_missed_by_one_threshold_is_near_with_the_figure_measured() -> None:
    """Found without knowing the rule: the figure is where its own condition turns."""
    usual = analysed("memory_bound_slow")
    assert "memory-bound-slow" in {one.rule for one in usual.findings}
    for limit in (0.3, 0.2):
        analysis = analysed("memory_bound_slow", memory_bound_slow={"bandwidth": limit})
        near = missed(analysis, "memory-bound-slow")
        if near is None:
            continue
        assert near.setting == "rules.memory-bound-slow.bandwidth" and near.threshold == limit
        assert limit < near.figure <= 2 * limit and near.time_ns > 0
        assert "all else that the rule asks for holds" in near.why
        beyond = near.figure * 1.01
        again = analysed("memory_bound_slow", memory_bound_slow={"bandwidth": beyond})
        assert "memory-bound-slow" in {one.rule for one in again.findings}
        below = near.figure * 0.99
        still = analysed("memory_bound_slow", memory_bound_slow={"bandwidth": below})
        assert missed(still, "memory-bound-slow") is not None
        return
    pytest.fail("the rule is near at neither limit")


def test_a_rule_off_is_not_asked_what_it_is_near_to() -> None:
    off = Options(
        settings={"memory-bound-slow": {"bandwidth": 0.3}},
        rules_off=frozenset({"memory-bound-slow"}),
    )
    assert missed(analyse(sample("memory_bound_slow"), off), "memory-bound-slow") is None


def test_reports_tell_near_misses_only_where_they_are_asked_for() -> None:
    quiet = analysed("host_sync", host_sync={"note": 0.95})
    near = [one.rule for one in near_misses(quiet)]
    asked = replace(quiet, options=replace(quiet.options, near_misses=True))
    assert b"NEAR MISSES" not in render(quiet, "text")
    assert b'"near_misses"' not in render(quiet, "json")
    assert b"NEAR MISSES" in render(asked, "text")
    assert b"Near misses" in render(asked, "markdown") and b"Near misses" in render(asked, "html")
    report = json.loads(render(asked, "json"))
    assert [row["rule"] for row in report["near_misses"]] == near
    schema = json.loads((ROOT / "analysis/report/report.schema.json").read_text())
    jsonschema.validate(report, schema)


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json.gz")), ids=lambda path: path.stem)
def test_near_misses_of_samples_are_below_what_they_name(path: Path) -> None:
    analysis = analyse(sample(path.name.removesuffix(".json.gz")))
    listed = {one.rule for one in analysis.findings}
    begun = time.process_time()
    found = near_misses(analysis)
    assert time.process_time() - begun < 0.5
    for one in found:
        assert one.rule not in listed and one.figure != one.threshold and one.why
        assert one.threshold / 2.01 <= one.figure <= 2.01 * one.threshold
