"""What a screen learns from its recorders, as values; everything in them is checked and bounded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from whichlayer.analysis.live.protocol import Message, Phase
from whichlayer.analysis.live.recording_key import RecordingCost
from whichlayer.analysis.text import clean

_MOST_TEXT: Final = 1000
_MOST_STEPS: Final = 64
_LARGEST: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Recorder:
    """A program that records, as it introduced itself.

    Attributes:
        id: number of its connection, from 1; never used twice.
        pid: its process, or 0.
        rank, world_size: its place in a job, None where it has none.
        program: its command line.
        torch: version of its torch.
        device: name of its GPU, or empty.
        mode: ``training``, ``inference`` or empty, when it introduced itself.
        since_ns: wall clock (``time.time_ns``) since which it can be joined; None where not known.
    """

    id: int
    pid: int
    rank: int | None
    world_size: int | None
    program: str
    torch: str
    device: str
    mode: str
    since_ns: int | None


@dataclass(frozen=True, slots=True)
class Window:
    """A recorded window; its file can be loaded until :class:`WindowsRemoved` names it.

    Attributes:
        id: number in the order of arrival, from 1.
        recorder: who recorded it.
        number: which of the windows of that recorder's rank it is, from 1.
        first_step, last_step: the program's own count, both in; None where not known.
        own: a profiler of the program's own recorded it.
        path: the trace, compressed.
        file_bytes, trace_bytes: its size on disk, and decompressed.
        profiled_ns: from the profiler's start to its end; None where not known.
        overhead_ns: of it, what starting and ending the profiler took of the program's time.
        export_ns: what torch took to write the trace.
        ended_ns: wall clock (``time.time_ns``) at the end of its last step.
        arrived_ns: the same clock, when its file was complete.
        cost: what recording it cost the program; None where that is not known.
    """

    id: int
    recorder: Recorder
    number: int
    first_step: int | None
    last_step: int | None
    own: bool
    path: Path
    file_bytes: int
    trace_bytes: int
    profiled_ns: int | None
    overhead_ns: int | None
    export_ns: int | None
    ended_ns: int | None
    arrived_ns: int
    cost: RecordingCost | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A recorder has connected."""

    recorder: Recorder


@dataclass(frozen=True, slots=True)
class StateTold:
    """What a recorder is doing; told about twice a second between windows.

    Attributes:
        step: how many steps have ended.
        step_us: lengths of the last steps, oldest first.
        dropped: windows that were lost because nobody took them in time, or could not be exported.
        failure: why it records no more, or empty.
    """

    recorder: Recorder
    phase: Phase
    step: int
    step_us: tuple[int, ...]
    dropped: int
    failure: str


@dataclass(frozen=True, slots=True)
class WindowArrived:
    """A window is complete and can be loaded from its path."""

    window: Window


@dataclass(frozen=True, slots=True)
class Noted:
    """Something to tell the user; of a recorder, or of the server itself (None)."""

    recorder: Recorder | None
    text: str


@dataclass(frozen=True, slots=True)
class WindowsRemoved:
    """Files of old windows are gone: the history is full.

    Attributes:
        windows: oldest first.
        reason: one line for people.
    """

    windows: tuple[Window, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Left:
    """A recorder's connection has ended.

    Attributes:
        reason: one line for people.
        said_goodbye: the recorder ended it, so that its last state is the whole of its story; else the
            program was killed or closed the connection, and may have gone on.
    """

    recorder: Recorder
    reason: str
    said_goodbye: bool = False


Event: TypeAlias = Joined | StateTold | WindowArrived | Noted | WindowsRemoved | Left


def recorder_from(message: Message, number: int) -> Recorder:
    """A recorder out of its ``hello``."""
    return Recorder(
        id=number,
        pid=count(message, "pid") or 0,
        rank=count(message, "rank"),
        world_size=count(message, "world_size"),
        program=text(message, "program"),
        torch=text(message, "torch"),
        device=text(message, "device"),
        mode=text(message, "mode"),
        since_ns=count(message, "since_ns"),
    )


def state_from(message: Message, recorder: Recorder) -> StateTold:
    """A recorder's state; a phase that is not known counts as idle."""
    name = message.text("phase")
    lengths = message.fields.get("step_us")
    return StateTold(
        recorder,
        Phase(name) if name in set(Phase) else Phase.IDLE,
        step=count(message, "step") or 0,
        step_us=tuple(
            length
            for length in (lengths if isinstance(lengths, list) else [])[-_MOST_STEPS:]
            if type(length) is int and 0 <= length < _LARGEST
        ),
        dropped=count(message, "dropped") or 0,
        failure=text(message, "reason"),
    )


def count(message: Message, name: str) -> int | None:
    """A field that is a number from zero; None where it is none."""
    value = message.number(name)
    return value if value is not None and 0 <= value < _LARGEST else None


def text(message: Message, name: str) -> str:
    """A field as one line that a terminal can be given."""
    return clean(" ".join(message.text(name)[:_MOST_TEXT].split()))
