"""Spans that are too short for a verdict, and spans in which nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.activities import collect_activities
from whichlayer.analysis.findings.short_span import least_span_ns
from whichlayer.analysis.gaps.calibrate import calibrate
from whichlayer.analysis.options import Options
from whichlayer.analysis.trace.columns import Trace

SAMPLES = Path(__file__).parents[3] / "sample_traces"


@pytest.fixture(scope="module")
def sample() -> Trace:
    return load(str(SAMPLES / "dataloader_bound.json.gz"))


def _least(trace: Trace) -> int:
    return least_span_ns([calibrate(trace, d) for d in collect_activities(trace)])


def _middle(trace: Trace) -> int:
    return int(collect_activities(trace)[0].start_ns[100])


@pytest.mark.parametrize("length_ns", [1, 1227, 20_000])
def test_a_few_microseconds_have_no_side(sample: Trace, length_ns: int) -> None:
    start = _middle(sample)
    verdict = analyse(sample, Options(span_ns=(start, start + length_ns))).verdict
    assert verdict.side == "unclear"
    assert verdict.withheld == "too short"
    assert "too short for a verdict" in verdict.text
    assert "of the span in gaps" not in verdict.text


def test_a_span_as_long_as_launches_need_has_its_verdict(sample: Trace) -> None:
    start = _middle(sample)
    verdict = analyse(sample, Options(span_ns=(start, start + 400 * _least(sample)))).verdict
    assert not verdict.withheld
    assert "of the span in gaps" in verdict.text


def test_the_least_span_is_that_of_which_a_fifth_is_what_launches_are_known_to(
    sample: Trace,
) -> None:
    found = [calibrate(sample, d) for d in collect_activities(sample)]
    assert _least(sample) == 5 * max(c.floor_ns + c.default_latency_ns for c in found)
    assert least_span_ns([]) == 0


def test_a_whole_recording_however_short_is_no_span(sample: Trace) -> None:
    assert not analyse(sample, Options()).verdict.withheld


def test_a_span_after_all_work_is_not_healthy(sample: Trace) -> None:
    end = max(int(d.end_ns.max()) for d in collect_activities(sample))
    last = int(sample.end_ns.max())
    span = (end + 1, max(last, end + 2 * _least(sample)))
    verdict = analyse(sample, Options(span_ns=span)).verdict
    assert verdict.side != "healthy"


def test_a_long_gap_with_an_owner_keeps_its_side(sample: Trace) -> None:
    found = analyse(sample, Options())
    gap = int((found.gaps.end_ns - found.gaps.start_ns).argmax())
    span = (int(found.gaps.start_ns[gap]), int(found.gaps.end_ns[gap]))
    verdict = analyse(sample, Options(span_ns=span)).verdict
    assert verdict.side == "above-cuda"
    assert not verdict.withheld
