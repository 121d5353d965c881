"""Events without a usable time, or with one that is wrong or doubtful.

A duration that is missing, not a number or negative is told by the reader, and so are strays:
events whose time is certainly wrong. They are counted and left out of the window. Events of
zero length are normal, as a clock of whole microseconds makes hundreds of them: they are kept
and drawn as ticks.

A few activities that lie ten times the length of all else away from it, or last ten times
longer, may be true, and stay. Where nothing shows that they are, findings and verdict are hints.
What the host did is in no figure by its length: where a few slices of it end so far behind all
else, it is only said, for the timeline reaches as far.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.gate import Effect, Gate, Recording
from whichlayer.analysis.text import clean, plural
from whichlayer.analysis.trace.broken import ENOUGH, SHARE, SPANS, odd_times
from whichlayer.analysis.trace.columns import Int64, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

GATE = Gate(
    "Q6",
    "events without a usable time",
    effect=Effect.ALL_LOW,
    caveat="a few events lie or last so far beyond all others that their times may be wrong",
    thresholds={"spans": SPANS, "share": SHARE},
    source="pytorch/kineto#105 and #646, pytorch#188481, perfetto#393",
    example="an event without a duration: kept without length and counted; a kernel whose "
    "time is 0 among large ones: left out",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """A warning of GPU work, and one of the host's, of doubtful times; the reader tells the rest."""
    spans, share = (recording.limit(GATE, name) for name in ("spans", "share"))
    yield from _doubtful_work(recording, spans, share)
    rows = _late_ends(recording.trace, spans, share)
    if len(rows):
        yield _late_note(recording.trace, rows, spans)


def _late_ends(trace: Trace, spans: float, share: float) -> Int64:
    """Slices of the host that end far behind all starts and all GPU work, if they are few."""
    judged = ~trace.stray & (trace.kind != SliceKind.PROFILER)
    rows = np.flatnonzero(judged)
    work = among(trace.kind, GPU_WORK) & judged
    if len(rows) <= ENOUGH or not work.any():
        return rows[:0]
    first = int(trace.start_ns[rows].min())
    last = max(int(trace.start_ns[rows].max()), int(trace.end_ns[work].max()))
    late = np.flatnonzero(judged & ~work & (trace.end_ns > last + spans * (last - first)))
    return late if len(late) <= max(1, share * len(rows)) else late[:0]


def _late_note(trace: Trace, rows: Int64, spans: float) -> TraceWarning:
    first = int(rows[trace.end_ns[rows].argmax()])
    length = int(trace.end_ns[first] - trace.start_ns[first])
    end, which = ("ends", "") if len(rows) == 1 else ("end", ", the last")
    return TraceWarning(
        GATE.id,
        f"{plural(len(rows), 'event')} of the host {end} more than {spans:g} times the length of "
        f"all others behind them: {clean(trace.name(first))[:60]} at "
        f"{trace.start_ns[first] / 1e9:.3f} s, {length / 1e9:.3f} s long{which}; the timeline "
        "reaches as far, true or not",
        len(rows),
        trace.byte_of(first),
    )


def _doubtful_work(recording: Recording, spans: float, share: float) -> Iterator[TraceWarning]:
    trace, window = recording.trace, recording.window
    columns = (trace.start_ns, trace.end_ns, trace.kind, trace.lane_id, trace.launch)
    rows = odd_times(*columns, trace.stray, spans=spans, share=share).doubtful
    inside = (trace.start_ns[rows] <= window.end_ns) & (trace.end_ns[rows] >= window.start_ns)
    rows = rows[inside]
    if not len(rows) or not recording.devices:
        return
    first = int(rows[trace.start_ns[rows].argmin()])
    length = int(trace.end_ns[first] - trace.start_ns[first])
    lies, lasts = ("lies", "lasts") if len(rows) == 1 else ("lie", "last")
    more = ", the first" if len(rows) > 1 else ""
    yield TraceWarning(
        GATE.id,
        f"{plural(len(rows), 'event')} of the GPU {lies} more than {spans:g} times the length of all "
        f"others away, or {lasts} that long: {clean(trace.name(first))[:60]} at "
        f"{trace.start_ns[first] / 1e9:.3f} s, {length / 1e9:.3f} s long{more}; if that is no true "
        "wait, look at the rest with --span",
        len(rows),
        trace.byte_of(first),
        severity=Severity.DOUBT,
    )
