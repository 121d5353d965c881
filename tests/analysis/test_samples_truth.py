"""The samples carry the truth of the simulator that made them; the analysis must find it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.gaps.catalogue import cause_ids
from whichlayer.analysis.intervals import Intervals, intersect, union
from whichlayer.analysis.results import Analysis

FOLDER = Path(__file__).parents[2] / "sample_traces"
NAMES = sorted(path.name.removesuffix(".truth.json") for path in FOLDER.glob("*.truth.json"))


def truth_of(name: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((FOLDER / f"{name}.truth.json").read_text())
    return truth


@pytest.fixture(scope="module", params=NAMES)
def sample(request: pytest.FixtureRequest) -> tuple[Analysis, dict[str, Any]]:
    return analyse(load(FOLDER / f"{request.param}.json.gz")), truth_of(request.param)


def test_there_is_a_sample_for_every_verdict() -> None:
    assert {truth_of(name)["rule"] for name in NAMES} == {
        "dataloader-wait",
        "host-sync",
        "launch-bound",
        "h2d-pageable",
        "memory-bound-slow",
        "fp32-matmul",
        "none",
    }


def test_the_side_is_the_planted_one(sample: tuple[Analysis, dict[str, Any]]) -> None:
    analysis, truth = sample
    assert analysis.verdict.side == truth["side"]


def test_the_planted_cause_is_the_first_finding_and_the_only_one(
    sample: tuple[Analysis, dict[str, Any]],
) -> None:
    analysis, truth = sample
    told = [(finding.rule, finding.layer.id) for finding in analysis.findings]
    assert told == ([] if truth["rule"] == "none" else [(truth["rule"], truth["layer"])])


def test_its_share_is_within_the_truths_range(sample: tuple[Analysis, dict[str, Any]]) -> None:
    analysis, truth = sample
    share = sum(finding.share for finding in analysis.findings)
    assert truth["share"]["low"] <= share <= truth["share"]["high"]


def test_its_place_is_a_planted_line(sample: tuple[Analysis, dict[str, Any]]) -> None:
    analysis, truth = sample
    places = {f"{place['file']}:{place['line']}" for place in truth["where"]}
    for finding in analysis.findings:
        assert str(finding.where) in places


def test_the_planted_idle_is_blamed_on_the_planted_cause(
    sample: tuple[Analysis, dict[str, Any]],
) -> None:
    analysis, truth = sample
    spans = [span for step in truth["steps"] for span in step.get("planted_us", [])]
    if truth["rule"] not in cause_ids() or not spans:
        pytest.skip("nothing planted in gaps")
    gaps = analysis.gaps
    mine = [i for i in range(len(gaps)) if gaps.rule(i) == truth["rule"]]
    blamed = union(gaps.start_ns[mine], gaps.end_ns[mine])
    planted = _from_microseconds(spans)
    assert intersect(planted, blamed).total >= 0.9 * planted.total


def _from_microseconds(spans: list[list[float]]) -> Intervals:
    import numpy as np

    exact = np.array([[round(edge * 1000) for edge in span] for span in spans], np.int64)
    return union(exact[:, 0], exact[:, 1])
