"""What the simulated machine records: the events of a trace before they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class OpEvent:
    """An operator or an annotation on a CPU thread; times in nanoseconds, end -1 while open."""

    category: str
    name: str
    tid: int
    start: int
    external: int
    function_id: int
    end: int = -1
    shapes: dict[str, list[Any]] | None = None
    sequence: int = -1
    forward_thread: int = 0
    flow: tuple[str, int] | None = None  # ("s" or "f", id) of a fwdbwd arrow


@dataclass(slots=True)
class FrameEvent:
    """A Python frame, a builtin or an nn.Module call."""

    name: str
    tid: int
    start: int
    id: int
    parent: int | None
    module_id: int | None = None
    end: int = -1


@dataclass(slots=True)
class Call:
    """A call of the CUDA runtime or driver."""

    name: str
    tid: int
    start: int
    end: int
    correlation: int
    external: int


@dataclass(slots=True)
class Activity:
    """Work on a stream: a kernel, a copy or a memset; ``work`` is what it had to do."""

    kind: str  # "kernel", "gpu_memcpy" or "gpu_memset"
    name: str
    stream: int
    start: int
    end: int
    call: Call
    details: dict[str, Any]
    work: Work | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """The compulsory bytes and the flops of a kernel; ``planted`` marks the cause of a sample."""

    bytes: float = 0.0
    flops: float = 0.0
    precision: str = ""
    planted: bool = False
    operator: str = ""


@dataclass(slots=True)
class Recording:
    """All events of a run."""

    ops: list[OpEvent] = field(default_factory=list)
    frames: list[FrameEvent] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    activities: list[Activity] = field(default_factory=list)
    overhead: list[tuple[str, int, int]] = field(default_factory=list)
