"""The samples' own simulator was run again without each planted cause: a second opinion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import analyse, load
from whichlayer.analysis.replay.causes import UPPER_BOUND

FOLDER = Path(__file__).parents[3] / "sample_traces"
NAMES = sorted(path.name.removesuffix(".truth.json") for path in FOLDER.glob("*.truth.json"))
TOLERANCE = 0.05


@pytest.mark.parametrize("name", [name for name in NAMES if name != "healthy"])
def test_recoverable_time_is_what_the_cured_program_gains(name: str) -> None:
    truth: dict[str, Any] = json.loads((FOLDER / f"{name}.truth.json").read_text())
    finding = analyse(load(FOLDER / f"{name}.json.gz")).findings[0]
    true = truth["recoverable_us"] * 1000
    assert finding.recoverable_ns is not None
    assert finding.recoverable_ns >= (1 - TOLERANCE) * true
    if finding.rule in UPPER_BOUND - {"launch-bound"}:
        # The cured copies are faster; the bound takes them as hidden.
        assert finding.recoverable_ns <= truth["window_us"][1] * 1000 - truth["window_us"][0] * 1000
    else:
        assert finding.recoverable_ns <= (1 + TOLERANCE) * true
