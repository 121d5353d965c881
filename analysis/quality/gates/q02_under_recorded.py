"""Kernels were lost while recording, so that what looks idle may have been busy.

A launch always has its kernel in a sound recording, and each replay of a CUDA graph has the
same kernels. Where more than 2 % of a step's launches have none, or replays of one graph
differ by more than 20 % in their kernels, idle time is unreliable: findings from gaps are
hints.

Not counted: launches into a graph that is being captured, launches whose kernel is there but
could not be joined (Q3), and, where no steps bound the window, launches at the end whose
kernels ran after the recording. Replays are compared where the recording numbers its graphs,
or where every step launches the same number of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.gate import Effect, Gate, Recording, percent
from whichlayer.analysis.quality.lost_launches import lost_launches, shares_by_step
from whichlayer.analysis.quality.replays import uneven_replays

#: Launches of a step that may be without a kernel.
MAX_LOST = 0.02
#: How far replays of one graph may differ in their number of kernels.
MAX_UNEVEN = 0.20

GATE = Gate(
    "Q2",
    "kernels were lost while recording",
    effect=Effect.GAPS_LOW,
    caveat="idle figures are unreliable",
    thresholds={"lost": MAX_LOST, "uneven": MAX_UNEVEN},
    source="pytorch#192021: kernels dropped at the start of a session; shares are whichlayer's",
    example="made: 31 launches in a step, the kernel of one missing (3.2 %)",
)

_UNRELIABLE = "idle figures are unreliable"
_RECORD = f"{_UNRELIABLE}; record again with schedule(warmup=2) and fewer steps"
_NSIGHT = f"{_UNRELIABLE}; record again, a shorter stretch, with nsys profile --trace=cuda,nvtx"
_CUT = f"{_UNRELIABLE}, for their kernels may be in what is missing from the file"
_DAMAGED = frozenset({"truncated", "damaged", "too-large"})


def check(recording: Recording) -> Iterator[TraceWarning]:
    """A warning for lost kernels, another for graphs whose replays differ."""
    if not recording.devices:
        return
    trace, window = recording.trace, recording.window
    advice = _NSIGHT if trace.producer == "nsight" else _RECORD
    if any(w.code in _DAMAGED for w in trace.warnings):
        advice = _CUT
    most_lost, most_uneven = (recording.limit(GATE, name) for name in ("lost", "uneven"))
    lost = lost_launches(trace)
    steps = [s for s in shares_by_step(trace, window, lost) if s.share > most_lost]
    if steps:
        worst = max(steps, key=lambda step: step.share)
        count = sum(step.lost for step in steps)
        more = f", {count} in {len(steps)} such steps" if len(steps) > 1 else ""
        yield TraceWarning(
            GATE.id,
            f"launches without a kernel: {worst.lost} of {worst.launches} in {worst.name} "
            f"({percent(worst.share)}, threshold {percent(most_lost)}){more}; {advice}",
            count,
            severity=Severity.DOUBT,
        )
    uneven = [graph for graph in uneven_replays(trace) if graph.spread > most_uneven]
    if uneven:
        worst_graph = max(uneven, key=lambda graph: graph.spread)
        yield TraceWarning(
            GATE.id,
            f"{worst_graph.name} has {worst_graph.fewest} to {worst_graph.most} kernels a replay "
            f"({percent(worst_graph.spread)} apart, threshold {percent(most_uneven)}); {advice}",
            sum(graph.replays for graph in uneven),
            severity=Severity.DOUBT,
        )
