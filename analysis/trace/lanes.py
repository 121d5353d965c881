"""The order and the names of lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from whichlayer.analysis.trace.columns import Lane
from whichlayer.analysis.trace.kinds import LaneKind

Id = int | str


@dataclass(slots=True)
class Naming:
    """What a file says about its processes and threads."""

    processes: dict[Id, str] = field(default_factory=dict)
    labels: dict[Id, str] = field(default_factory=dict)
    threads: dict[tuple[Id, Id], str] = field(default_factory=dict)
    process_order: dict[Id, int] = field(default_factory=dict)
    thread_order: dict[tuple[Id, Id], int] = field(default_factory=dict)

    def take(self, other: Naming) -> None:
        """Adds what is said further on in the file; the last word counts."""
        self.processes |= other.processes
        self.labels |= other.labels
        self.threads |= other.threads
        self.process_order |= other.process_order
        self.thread_order |= other.thread_order


def name_lane(lane: Lane, naming: Naming) -> Lane:
    """The lane with the names that the file gives it, else with made ones."""
    recorded = naming.threads.get((lane.pid, lane.tid), "").strip()
    if lane.kind in (LaneKind.GPU_STREAM, LaneKind.GPU_ANNOTATION, LaneKind.GPU_SYNC):
        # A CPU thread may share both numbers with a stream, and with them its name.
        made = f"stream {lane.stream}" if lane.stream >= 0 else "device"
        name = recorded if recorded.lower().startswith("stream") else made
    else:
        name = recorded or (f"thread {lane.tid}" if isinstance(lane.tid, int) else lane.tid)
    process = naming.processes.get(lane.pid) or naming.labels.get(lane.pid, "")
    return replace(lane, name=name, process=process.strip())


def lane_order(lanes: Sequence[Lane], naming: Naming) -> list[int]:
    """Indices of the lanes in the order they are shown: streams, then threads, then the rest.

    Streams by device and number; threads by process and thread in the file's own order, a
    process's main thread first.
    """

    def key(index: int) -> tuple[object, ...]:
        lane = lanes[index]
        return (
            lane.kind,
            lane.device,
            lane.stream,
            naming.process_order.get(lane.pid, 0),
            _number_first(lane.pid),
            lane.pid != lane.tid,
            naming.thread_order.get((lane.pid, lane.tid), 0),
            _number_first(lane.tid),
        )

    return sorted(range(len(lanes)), key=key)


def _number_first(value: Id) -> tuple[bool, int, str]:
    return (False, value, "") if isinstance(value, int) else (True, 0, value)
