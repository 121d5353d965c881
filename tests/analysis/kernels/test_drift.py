"""Kernels that become slower from step to step, and those that only seem to."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from whichlayer.analysis.kernels.drift import Drift, find_drift
from whichlayer.analysis.kernels.measure import Floor, Measured
from whichlayer.analysis.kernels.peaks import match_device
from whichlayer.analysis.kernels.rules import kernel_drift
from whichlayer.analysis.kernels.ruling import rule_on
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Options

SETTINGS = kernel_drift.RULE.thresholds
H100 = match_device(None, {}, Options(device_model="H100 SXM5"))


def recording(steps: int) -> Any:
    """Steps of 1 ms."""
    marks = [SimpleNamespace(start_ns=1_000_000 * n, end_ns=1_000_000 * (n + 1))
             for n in range(steps)]  # fmt: skip
    return SimpleNamespace(steps=tuple(marks))


def drift_of(times: list[list[float]], trace: Any = None) -> Drift:
    """One population: the times in microseconds of the calls of each step."""
    begun = [
        1_000_000 * step + 10_000 * at for step, of in enumerate(times) for at in range(len(of))
    ]
    taken = np.array([1e3 * one for of in times for one in of])
    return find_drift(
        trace or recording(len(times)), np.zeros(len(taken), np.int64),
        np.array(begun, np.int64), taken, 1, SETTINGS,
    )  # fmt: skip


def test_later_steps_that_take_longer_are_drift() -> None:
    found = drift_of([[50.0] * 5] * 2 + [[60.0] * 5] * 2)
    assert found.ratio[0] == pytest.approx(1.2)
    assert found.earlier_ns[0] == 50_000
    assert found.proven[0]


def test_an_odd_step_in_the_middle_belongs_to_neither_half() -> None:
    found = drift_of([[50.0] * 5] * 2 + [[900.0] * 5] + [[60.0] * 5] * 2)
    assert found.ratio[0] == pytest.approx(1.2)


@pytest.mark.parametrize(
    "times",
    [
        [[50.0] * 5 + [60.0] * 5] * 4,  # within each step: forward and backward pass
        [[50.0] * 4] * 2 + [[60.0] * 4] * 2,  # eight calls in each half
        [[50.0] * 10] + [[60.0] * 10] * 2,  # three steps
        [[50.0] * 5] * 2 + [[60.0] * 9] * 2,  # other work in the later half
        [[5.0] * 5] * 2 + [[6.0] * 5] * 2,  # a microsecond's clock tick
    ],
)
def test_what_is_not_proven_is_no_drift(times: list[list[float]]) -> None:
    found = drift_of(times)
    assert not (found.proven[0] and found.ratio[0] > SETTINGS["slower"])


def test_a_few_slow_calls_are_no_drift() -> None:
    found = drift_of([[50.0] * 6] * 2 + [[50.0] * 2 + [60.0] * 4] * 2)
    assert found.ratio[0] == pytest.approx(1.2)
    assert not found.proven[0]


def test_a_recording_without_steps_says_nothing() -> None:
    times = [[50.0] * 5] * 2 + [[60.0] * 5] * 2
    assert np.isnan(drift_of(times, recording(0)).ratio[0])


def drifting(share: float, earlier_us: float = 85.0) -> Measured:
    """A call of 100 us that took less in the earlier half."""
    size = round(share * 3350 * 98.0 * 1e3)
    return Measured("aten::add", ("add",), Work(size, category="pointwise"), 20, 1, 100e3,
                    Floor(2000.0, measured=True), H100, drift=100 / earlier_us,
                    earlier_ns=earlier_us * 1e3)  # fmt: skip


def test_drift_explains_what_nothing_else_does() -> None:
    ruling = rule_on(drifting(0.7))
    assert (ruling.rule, ruling.layer) == ("kernel-drift", Layer.CUDA)
    # Lost is what calls take beyond an earlier one, and only of those that are slower by a tenth.
    assert ruling.ideal_ns == 85e3
    assert ruling.roof_ns == pytest.approx(85e3 * 1.1)
    assert "1.18 times as long" in ruling.why
    assert "drift" in ruling.flags


def test_a_kernel_that_is_slow_anyway_keeps_its_reason_and_is_marked() -> None:
    ruling = rule_on(drifting(0.5))
    assert ruling.rule == "memory-bound-slow"
    assert "drift" in ruling.flags


def test_a_tenth_is_no_drift() -> None:
    still = replace(drifting(0.7), drift=1.09)
    assert rule_on(still).rule == ""
    assert "drift" not in rule_on(still).flags
