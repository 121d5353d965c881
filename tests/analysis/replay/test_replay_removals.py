"""What a replay without a cause gains is what the simulated program gains without it.

Truth is the simulator's own run without the cause from the recording's start on; for
``launch-bound`` without any host time of dispatch. The window is the analysis's: from the first
step to the end of the last and of its kernels, else from first to last activity.

What no recording can tell is shown by a second run (``removed_runs``), which differs in nothing
else: causes that look alike go together, copies and collectives are hidden and not left out, and
worker processes hand over their batches when they did.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import pytest

from tests.simulator.cases import Case, alone, mixed
from tests.simulator.engine import Run
from tests.simulator.played import played
from tests.simulator.removals import removed_runs, workers_of
from tests.support.replaying import replayer_of
from whichlayer.analysis.replay.causes import NOT_REPLAYED

SEED = 1
SHARE_WITHIN = 0.97
SHARE_AS_TOLD = 0.99
LEAST_SHARE = 0.01  # causes below this share of the window are not replayed
TOLERANCE = 0.10


@dataclass(frozen=True, slots=True)
class Gain:
    """What taking one cause of one case away gains, replayed and true, in nanoseconds."""

    case: Case
    cause: str
    window: int
    replayed: int | None
    true: int
    knowable: int

    @property
    def within(self) -> bool:
        """Within a tenth of the truth, or 1 % of the window where that is more."""
        return self._near(self.true)

    @property
    def as_told(self) -> bool:
        """The same of what the recording can tell."""
        return self._near(self.knowable)

    def _near(self, true: int) -> bool:
        if self.replayed is None:
            return False
        return abs(self.replayed - true) <= max(TOLERANCE * true, LEAST_SHARE * self.window)


def length(found: Run, steps: bool) -> int:
    """The window of a run."""
    activities = [a for a in found.activities if a.end > found.recording_start]
    last = max(a.end for a in activities)
    if steps:
        return max(found.steps[-1][1], last) - found.steps[0][0]
    return last - min(a.start for a in activities)


def gains(case: Case) -> Iterator[Gain]:
    """Every planted cause that the analysis found to take 1 % of the window or more."""
    program = case.program()
    found = played(case)
    full, analysis = found.run, found.analysis
    replayer = replayer_of(analysis)
    window = analysis.window.end_ns - analysis.window.start_ns
    steps = case.recording.steps
    gaps, workers = analysis.gaps, workers_of(program)
    for cause in sorted(program.causes - NOT_REPLAYED - {"covered-sync"}):
        mine = gaps.cause == gaps.rule_ids.index(cause)
        if int((gaps.end_ns - gaps.start_ns)[mine].sum()) < LEAST_SHARE * window:
            continue
        runs = removed_runs(case, program, cause, workers)
        true, knowable = (length(full, steps) - length(run, steps) for run in runs)
        yield Gain(case, cause, window, replayer.without_cause(cause, gaps), true, knowable)


@pytest.fixture(scope="module")
def found() -> Iterator[list[Gain]]:
    cases = chain(alone(SEED), mixed(SEED + 1, 60))
    result = [gain for case in cases for gain in gains(case)]
    print(table(result))
    yield result
    played.cache_clear()  # the last to need them


def by_cause(gains: list[Gain]) -> dict[str, list[Gain]]:
    groups: dict[str, list[Gain]] = defaultdict(list)
    for gain in gains:
        groups[gain.cause].append(gain)
    return dict(sorted(groups.items()))


def table(gains: list[Gain]) -> str:
    """What the thresholds below are read from."""
    lines = [f"{'cause':18} {'cases':>5} {'within':>7} {'replayed ms':>12} {'true ms':>9}"]
    for cause, group in by_cause(gains).items():
        known = [g for g in group if g.replayed is not None]
        share = sum(g.within for g in known) / max(len(known), 1)
        replayed = sum(g.replayed or 0 for g in known) / 1e6
        true = sum(g.true for g in known) / 1e6
        lines.append(f"{cause:18} {len(known):5d} {share:7.3f} {replayed:12.1f} {true:9.1f}")
    lines += [
        f"  {g.case.name[:60]:60} {g.cause:16} {(g.replayed or 0) / 1e6:8.2f} {g.true / 1e6:8.2f}"
        f" {g.knowable / 1e6:8.2f}{'' if g.as_told else ' !'}"
        for g in gains
        if g.replayed is not None and not (g.within and g.as_told)
    ]
    return "\n".join(lines)


def test_a_replay_without_a_cause_gains_what_the_program_gains(found: list[Gain]) -> None:
    known = [gain for gain in found if gain.replayed is not None]
    assert len(known) >= 150
    assert sum(gain.within for gain in known) >= SHARE_WITHIN * len(known)


def test_what_a_replay_misses_is_what_the_recording_cannot_tell(found: list[Gain]) -> None:
    known = [gain for gain in found if gain.replayed is not None]
    assert sum(gain.as_told for gain in known) >= SHARE_AS_TOLD * len(known)


def test_every_cause_alone_adds_up_to_what_the_programs_gain(found: list[Gain]) -> None:
    groups = by_cause([g for g in found if g.case.group == "alone" and g.replayed is not None])
    assert len(groups) >= 9
    for cause, group in groups.items():
        replayed, true = sum(g.replayed or 0 for g in group), sum(g.true for g in group)
        assert abs(replayed - true) <= TOLERANCE * true, cause


def test_few_recordings_whose_launches_are_in_the_file_cannot_be_replayed(
    found: list[Gain],
) -> None:
    launched = [g for g in found if g.case.recording.calls and g.case.style.drained]
    assert len(launched) >= 120
    assert sum(gain.replayed is None for gain in launched) <= 0.05 * len(launched)
