"""What recording a window cost, in words."""

from __future__ import annotations

import pytest

from whichlayer.analysis.live.recording_key import RecordingCost
from whichlayer.analysis.report.recording_cost import cost_parts


def test_longer_steps_are_told_as_a_factor() -> None:
    (said,) = cost_parts(RecordingCost(step_ns=3_000_000, usual_step_ns=2_000_000))
    assert "1.50 x" in said


@pytest.mark.parametrize("step_ns", [1, 240_000, 999_999])
def test_shorter_steps_in_the_window_are_no_overhead(step_ns: int) -> None:
    (said,) = cost_parts(RecordingCost(step_ns=step_ns, usual_step_ns=1_000_000))
    assert "not measurable" in said and " x " not in said


def test_what_is_not_known_is_not_told() -> None:
    assert cost_parts(RecordingCost(step_ns=5)) == []
