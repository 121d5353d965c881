"""A window of less than two steps: nothing shows that it is typical.

One step may be the one that logs, saves or evaluates. Its accounting is exact, and its
findings are hints. Recordings without steps say nothing of their number; their findings are
trusted in the middle.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.gate import Effect, Gate, Recording

#: Fewer steps than this make verdicts hints.
MIN_STEPS = 2

GATE = Gate(
    "Q12",
    "a single step",
    effect=Effect.ALL_LOW,
    caveat="from a single step, a hint",
    thresholds={"steps": MIN_STEPS},
    source="TraceML",
    example="BERT on an H100: one recorded step",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning where GPU work was recorded in a single step."""
    steps = len(recording.window.steps)
    nsight = recording.trace.producer == "nsight"
    how = "in one capture range" if nsight else "with schedule(warmup=2, active=3)"
    limit, whole = recording.limit(GATE, "steps"), recording.options.whole
    if recording.devices and 0 < steps < limit:
        yield TraceWarning(
            GATE.id,
            f"the {whole} holds {_few(steps)} (threshold {limit:g}): verdicts are hints; record "
            f"at least three {how}",
            severity=Severity.DOUBT,
        )


def _few(steps: int) -> str:
    return "a single step" if steps == 1 else f"{steps} steps"
