"""The profiler's own work inside the window.

Buffer flushes, instrumentation, resource and buffer requests are work of the measuring, which
an unrecorded run does not do. Gaps under them have no owner. Above 5 % of the window that is
told; above 15 % the recording is contaminated and every finding is trusted less.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.intervals import clip, union
from whichlayer.analysis.quality.gate import Effect, Gate, Recording, percent
from whichlayer.analysis.trace.kinds import SliceKind

#: Share of the window from which the profiler's work is told, and from which it contaminates.
NOTE, CONTAMINATED = 0.05, 0.15

GATE = Gate(
    "Q7",
    "the profiler's own work is in the window",
    effect=Effect.LOWER,
    caveat="the profiler's own work is part of it",
    thresholds={"told": NOTE, "contaminated": CONTAMINATED},
    source="nsys-ai",
    example="made: a Buffer Flush of 600 µs in a window of 2 ms (30 %): contaminated",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning where overhead events cover too much of the window."""
    trace, window = recording.trace, recording.window
    profilers = recording.marks.code == cause_code("profiler-overhead")
    rows = (trace.kind == SliceKind.OVERHEAD) & profilers & ~trace.stray
    covered = clip(union(trace.start_ns[rows], trace.end_ns[rows]), window.start_ns, window.end_ns)
    share = covered.total / max(window.end_ns - window.start_ns, 1)
    told, contaminated = (recording.limit(GATE, name) for name in ("told", "contaminated"))
    bad = share > contaminated
    if not bad and share <= told:
        return
    whole = recording.options.whole
    said = "contaminated by" if bad else "touched by"
    meaning = "every finding is trusted less" if bad else "gaps under it have no owner"
    yield TraceWarning(
        GATE.id,
        f"{said} the profiler: its own work covers {percent(share)} of the {whole} (threshold "
        f"{percent(contaminated if bad else told)}); {meaning}; record fewer steps, and without "
        "stacks or memory if they are not needed",
        int(rows.sum()),
        severity=Severity.DOUBT if bad else Severity.NOTE,
    )
