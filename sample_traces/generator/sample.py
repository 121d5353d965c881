"""A sample: the recording as text and what is true of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sample_traces.generator.kineto import write_trace
from sample_traces.generator.session import Session


@dataclass(frozen=True, slots=True)
class Sample:
    """The text of a trace file and its truth."""

    name: str
    trace: str
    truth: dict[str, Any]


def finish(
    name: str, session: Session, truth: dict[str, Any], minutes: int, trace_id: str
) -> Sample:
    """Write the recording as if it had started ``minutes`` after Kineto's clock base."""
    origin = minutes * 60_000_000_000
    return Sample(name, write_trace(session.machine, origin, session.window, trace_id), truth)
