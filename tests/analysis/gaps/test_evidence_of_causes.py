"""Of every planted cause the evidence names the launch, its thread and times to look up."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.simulator.cases import HOWS, Case, alone
from tests.simulator.engine import run
from tests.simulator.recording import Recording, write
from whichlayer.analysis import analyse, load
from whichlayer.analysis.gaps.explain import explain_gap

SEED = 21
FULL = Recording(stacks=True)
_TIME = re.compile(r"\d(\.\d+)? (µs|ms|s)\b")


def largest(cause: str) -> Case:
    """The largest case of a cause alone, with everything recorded."""
    chosen = [case for case in alone(SEED) if case.name.startswith(f"{cause}/")]
    return chosen[-2]  # in every step


@pytest.mark.parametrize("cause", sorted(HOWS))
def test_the_evidence_of_a_planted_cause_can_be_found_on_the_timeline(
    tmp_path: Path, cause: str
) -> None:
    case = largest(cause)
    path = tmp_path / "run.pt.trace.json"
    write(run(case.program()), FULL, path, case.seed)
    analysis = analyse(load(path))
    gaps, trace = analysis.gaps, analysis.trace
    named = "python-overhead" if cause == "unattributed" else cause  # its frames are recorded
    mine = np.flatnonzero((gaps.cause == gaps.rule_ids.index(named)) & (gaps.launch_row >= 0))
    assert len(mine) > 0
    index = int(mine[np.argmax((gaps.end_ns - gaps.start_ns)[mine])])
    text = explain_gap(analysis, index)
    told = "\n".join(text.evidence)
    launch = int(gaps.launch_row[index])
    assert trace.name(launch) in told
    assert f"thread {trace.lanes[int(trace.lane_id[launch])].tid}" in told
    assert len(_TIME.findall(told)) >= 2
    assert text.fix
