from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.tui.recording import STEPS, build_analysis, build_trace
from whichlayer.analysis.heat_rows import HeatRow
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.steps import folded
from whichlayer.analysis.steps.folded import fold_steps

US = 1000


def test_alike_steps_have_no_spread_and_the_idle_share_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [HeatRow(f"step {n + 1}", n * 1000 * US, (n + 1) * 1000 * US) for n in range(STEPS)]
    monkeypatch.setattr(folded, "step_rows", lambda _: [rows])
    found = fold_steps(build_analysis(build_trace()), 0, 10)
    assert found is not None and len(found.rows) == STEPS
    assert not found.spread.any() and found.steps.tolist() == [STEPS] * 10
    assert found.median.sum() * 100 * US == pytest.approx(500 * US, abs=US)
    assert found.median[:3].tolist() == pytest.approx([1, 1, 1], abs=0.02)
    assert Layer(int(found.owner[0])) is Layer.RUNTIME
    assert Layer(int(found.owner[6])) is Layer.PYTORCH


def test_positions_are_ranked_over_the_steps_that_reach_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One step is cut short: behind its end only the others count."""
    rows = (HeatRow("step 1", 0, 1000 * US), HeatRow("step 2", 1000 * US, 1500 * US),
            HeatRow("step 3", 2000 * US, 3000 * US))  # fmt: skip

    def given(analysis: object) -> Sequence[Sequence[HeatRow]]:
        return [rows]

    monkeypatch.setattr(folded, "step_rows", given)
    analysis = replace(build_analysis(build_trace()), steps=None)
    found = fold_steps(analysis, 0, 10)
    assert found is not None
    assert found.steps.tolist() == [3] * 5 + [2] * 5
    assert not np.isnan(found.median).any()
    assert (found.low <= found.median).all() and (found.median <= found.high).all()
    assert set(found.worst[5:].tolist()) <= {0, 2}


def test_one_step_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = build_analysis(build_trace())
    monkeypatch.setattr(folded, "step_rows", lambda _: [[HeatRow("step 1", 0, 1000)]])
    assert fold_steps(analysis, 0, 10) is None
    assert fold_steps(analysis, 7, 10) is None
