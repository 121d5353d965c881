"""Only what takes 1 % of the window or more is replayed, and no more than eight causes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from tests.support.program import Program
from whichlayer.analysis import Analysis
from whichlayer.analysis.findings.worth import rank_by_worth
from whichlayer.analysis.replay.recoverable import Replayer
from whichlayer.analysis.results import Finding, Gaps

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
CAUSES = (
    "dataloader-wait", "h2d-pageable", "h2d-exposed", "exposed-comm", "host-sync", "cpu-operator",
    "python-overhead", "gc-pause", "allocator", "module-load", "recompile", "launch-bound",
)  # fmt: skip


@dataclass
class Asked:
    """Stands in for a replayer; remembers what it was asked to take away."""

    reason: str = ""
    rules: list[str] = field(default_factory=list)

    def cause(self, rule: str, gaps: Gaps) -> object:
        self.rules.append(rule)
        return object()

    def gain_of(self, removals: object) -> int:
        return 1_000_000


def loading(tmp_path: Path) -> Analysis:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.annotation(LOADER, 100, 5000)
    program.kernel("second", 5120, 1000, (5110, 5))
    return program.analysis(tmp_path)


def findings(analysis: Analysis, shares: list[float]) -> list[Finding]:
    model, total = analysis.findings[0], analysis.budget.total_ns
    return [
        replace(model, rule=rule, time_ns=int(share * total), share=share, recoverable_ns=None)
        for rule, share in zip(CAUSES, shares, strict=False)
    ]


@pytest.mark.parametrize(
    ("shares", "replayed"),
    [
        ([0.08 - 0.004 * i for i in range(12)], 8),
        ([0.30, 0.02, 0.0101, 0.0099, 0.001], 3),
        ([0.009, 0.005], 0),
    ],
)
def test_the_largest_eight_causes_of_one_percent_are_replayed(
    tmp_path: Path, shares: list[float], replayed: int
) -> None:
    analysis, asked = loading(tmp_path), Asked()
    ranked = rank_by_worth(findings(analysis, shares), analysis, cast(Replayer, asked))
    assert asked.rules == list(CAUSES[:replayed])
    told = {one.rule for one in ranked if one.recoverable_ns is not None}
    assert told <= set(CAUSES[:replayed])
