"""What is true of a sample: read off the simulator, never off the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sample_traces.generator.records import Activity
from sample_traces.generator.session import Session

#: A span [start, end) in nanoseconds of the machine's clock.
Span = tuple[int, int]

#: No two kernels of a full queue are further apart than this, in nanoseconds.
SPACING = 2_500
#: A host that launches so long before the device can start has caught up, in nanoseconds.
AHEAD = 100_000


def merge(spans: Sequence[Span]) -> list[Span]:
    """The union of spans, sorted."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def gaps(busy: Sequence[Span], window: Span) -> list[Span]:
    """The parts of a window that merged spans leave free."""
    found, at = [], window[0]
    for start, end in busy:
        if min(start, window[1]) > at:
            found.append((at, min(start, window[1])))
        at = max(at, end)
    if window[1] > at:
        found.append((at, window[1]))
    return found


def clip(spans: Sequence[Span], windows: Sequence[Span]) -> list[Span]:
    """The parts of spans that lie inside one of the windows."""
    return [
        (max(start, low), min(end, high))
        for start, end in spans
        for low, high in windows
        if min(end, high) > max(start, low)
    ]


def total(spans: Sequence[Span]) -> int:
    """Nanoseconds in disjoint spans."""
    return sum(end - start for start, end in spans)


@dataclass(frozen=True, slots=True)
class Facts:
    """A run in figures: its window and steps as ``design`` defines them, and its device."""

    window: Span
    steps: list[Span]
    busy: list[Span]
    idle: list[Span]

    @property
    def length(self) -> int:
        """Nanoseconds in the window."""
        return self.window[1] - self.window[0]


def facts_of(session: Session) -> Facts:
    """The figures of a run.

    The window goes from the start of the first step to the end of the last one, the kernels that
    it launched included. On the device a step lasts from the end of the previous step's last
    kernel (the first: its own start) to the end of its own.
    """
    activities = session.machine.recording.activities
    steps: list[Span] = []
    for step in session.steps:
        own = [a for a in activities if step.start <= a.call.start < step.end]
        start = steps[-1][1] if steps else step.start
        steps.append((start, max((a.end for a in own), default=step.end)))
    last = session.steps[-1]
    window = (session.steps[0].start, max(last.end, steps[-1][1]))
    busy = clip(merge([(a.start, a.end) for a in activities]), [window])
    return Facts(window, steps, busy, gaps(busy, window))


def starved(facts: Facts, calls: Sequence[Span]) -> list[Span]:
    """The idle time inside host calls, without the spacing of kernels that queue up."""
    return [
        span for idle in facts.idle if idle[1] - idle[0] > SPACING for span in clip([idle], calls)
    ]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The planted cause and where it sits."""

    rule: str
    layer: str
    side: str
    where: list[dict[str, Any]]
    summary: str


class TruthWriter:
    """Builds the JSON beside a sample; times count in microseconds from the trace's first slice."""

    def __init__(self, name: str, session: Session, verdict: Verdict) -> None:
        self.session = session
        self.facts = facts_of(session)
        self.verdict = verdict
        self.origin = session.machine.recording.frames[0].start
        self.name = name

    def microseconds(self, time: int) -> float:
        """A moment of the machine's clock as the truth prints it."""
        return (time - self.origin) / 1000

    def spans(self, spans: Sequence[Span]) -> list[list[float]]:
        """Spans as the truth prints them."""
        return [[self.microseconds(start), self.microseconds(end)] for start, end in spans]

    def build(
        self,
        lost_ns: int,
        recoverable_ns: int | None,
        planted: Sequence[Span],
        tolerance: float = 0.05,
        **more: Any,
    ) -> dict[str, Any]:
        """The truth: ``planted`` are the disjoint stretches of device time that the cause took."""
        share = lost_ns / self.facts.length
        return {
            "sample": self.name,
            "trace": f"{self.name}.json.gz",
            "summary": self.verdict.summary,
            "device": self.session.machine.gpu.name,
            "rule": self.verdict.rule,
            "layer": self.verdict.layer,
            "side": self.verdict.side,
            "where": self.verdict.where,
            "window_us": self.spans([self.facts.window])[0],
            "busy_us": total(self.facts.busy) / 1000,
            "idle_us": total(self.facts.idle) / 1000,
            "lost_us": lost_ns / 1000,
            "share": {
                "expected": round(share, 4),
                "low": round(max(0.0, share - tolerance), 4),
                "high": round(min(1.0, share + tolerance), 4),
            },
            "recoverable_us": None if recoverable_ns is None else recoverable_ns / 1000,
            "steps": self._steps(planted),
            **more,
        }

    def _steps(self, planted: Sequence[Span]) -> list[dict[str, Any]]:
        return [
            {
                "name": event.name,
                "host_us": self.spans([(event.start, event.end)])[0],
                "device_us": self.spans([span])[0],
                "busy_us": total(clip(self.facts.busy, [span])) / 1000,
                "idle_us": total(clip(self.facts.idle, [span])) / 1000,
                "planted_us": self.spans(clip(planted, [span])),
            }
            for event, span in zip(self.session.steps, self.facts.steps, strict=True)
        ]


def late_host(session: Session) -> list[Span]:
    """What the host owes of the idle stretches that end with a launch that came too late.

    Each goes from the start of the idle stretch to the start of the launch call; from there on
    it is launch latency, which nobody owns.
    """
    facts = facts_of(session)
    by_start = {a.start: a for a in session.machine.recording.activities}
    return [
        (start, by_start[end].call.start)
        for start, end in facts.idle
        if end - start > SPACING and end in by_start and by_start[end].call.start > start
    ]


def ramps(session: Session, drained: Sequence[int]) -> list[Span]:
    """What the host owes after moments at which the queue was empty, until it is ahead again.

    The host is ahead once a kernel was launched :data:`AHEAD` before the device could start it.
    """
    activities = sorted(session.machine.recording.activities, key=lambda a: a.start)
    late, end = late_host(session), facts_of(session).window[1]
    found: list[Span] = []
    for moment in drained:
        caught_up = next(
            (a.start for a in activities if a.start >= moment and a.start - a.call.end >= AHEAD),
            end,
        )
        last = max((a.end for a in activities if a.start < moment), default=moment)
        found += [span for span in late if last <= span[0] and span[1] <= caught_up]
    return found


def kernel_facts(session: Session) -> list[dict[str, Any]]:
    """The planted kernels by name and operator: calls, time, work and the rates they reach."""
    gpu = session.machine.gpu
    groups: dict[tuple[str, str], list[Activity]] = {}
    for activity in session.machine.recording.activities:
        if activity.work is not None and activity.work.planted:
            groups.setdefault((activity.name, activity.work.operator), []).append(activity)
    found = []
    for (name, operator), members in groups.items():
        time = sum(a.end - a.start for a in members)
        size = sum(a.work.bytes for a in members if a.work)
        flops = sum(a.work.flops for a in members if a.work)
        found.append(
            {
                "name": name,
                "operator": operator,
                "calls": len(members),
                "total_us": time / 1000,
                "bytes": size,
                "flops": flops,
                "gbps": round(size / time, 1),
                "tflops": round(flops / time / 1000, 2),
                "bandwidth_fraction": round(size / time / gpu.bandwidth_gbps, 4),
            }
        )
    return found


def planted_kernels(session: Session) -> list[Activity]:
    """The kernels that are the cause of a sample."""
    return [a for a in session.machine.recording.activities if a.work and a.work.planted]


def lost_bandwidth(session: Session, kernels: Sequence[Activity]) -> int:
    """Nanoseconds above what kernels need at 90 % of the bandwidth plus the launch floor."""
    gpu = session.machine.gpu
    lost = 0.0
    for kernel in kernels:
        size = kernel.work.bytes if kernel.work else 0.0
        ideal = gpu.floor_us * 1000 + size / (0.9 * gpu.bandwidth_gbps)
        lost += max(0.0, kernel.end - kernel.start - ideal)
    return round(lost)
