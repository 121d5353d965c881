"""Memory as lanes: what each allocator held over time, as ``profile_memory`` recorded it.

PyTorch's profiler writes no counter track for it but an instant for every allocation, with the
totals after it. Nothing is sorted out before there is a total in the recording.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whichlayer.analysis.report.units import bytes_text
from whichlayer.analysis.text import gpu_text
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind
from whichlayer.tui.counter_lanes import CounterLane, Series
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.lanes import ShownLane
from whichlayer.tui.raster import Row

if TYPE_CHECKING:
    from whichlayer.analysis.memory.events import AllocatorEvents

_ALLOCATED, _RESERVED = "allocated", "reserved"


class MemoryLane(CounterLane):
    """One allocator: the bytes that tensors had, and those that it held from the device."""

    noted = True

    def __init__(self, events: AllocatorEvents, until_ns: int, device: int | None = None) -> None:
        """Take the events of an allocator; ``until_ns`` is how long the last totals hold.

        ``device`` is what kernels call its device, where that is known to be another number.
        """
        number = events.device if events.on_gpu else -1
        number = number if device is None else device
        owner = gpu_text(number) if events.on_gpu else "CPU"
        self.lane = Lane(owner, "memory", LaneKind.OTHER, number, name="memory", process=owner)
        # Allocators that reserve nothing write zeros, or nothing at all.
        fields = [_ALLOCATED, *([_RESERVED] if np.nanmax(events.reserved, initial=0) > 0 else [])]
        self.series = [
            Series(owner, f"{owner} memory", field, f"{owner} {field}", False, "bytes")
            for field in fields
        ]
        self.title = f"{owner} mem"
        self.group = "counter"
        self.device = number
        self.depth = len(fields)
        self.first_row = 0
        self._rows: dict[int, Row] = {}
        self._events, self._until_ns = events, until_ns

    def row(self, depth: int) -> CounterRow:
        """One series, prepared when first asked for."""
        found = self._rows.get(depth)
        if not isinstance(found, CounterRow):
            events = self._events
            value = events.reserved if depth else events.allocated
            found = CounterRow(events.time_ns, value, self._until_ns, depth & 1)
            self._rows[depth] = found
        return found

    def row_title(self, depth: int, is_first: bool) -> str:
        """The lane's name with the bytes of tensors, the other series' below it."""
        return self.title if depth == 0 else f"  {_RESERVED}"

    def row_note(self, depth: int, room: int) -> str:
        """The most that there was, which is the top of the row."""
        said = bytes_text(int(self.row(depth).top))
        return next((text for text in (said, said.replace(" ", "")) if len(text) <= room), "")


def with_memory(lanes: tuple[ShownLane, ...], trace: Trace, until_ns: int) -> tuple[ShownLane, ...]:
    """The lanes with those of allocators, each below what is of its device, else of all GPUs.

    Args:
        lanes: in the order of the screen.
        trace: the recording.
        until_ns: how long the last totals hold.
    """
    if not np.isfinite(trace.instants.value).any():
        return lanes
    from whichlayer.analysis.memory.events import allocators_of
    from whichlayer.analysis.memory.same_device import devices_of_allocators

    same = devices_of_allocators(trace)
    result = list(lanes)
    for events in allocators_of(trace):
        memory = MemoryLane(events, until_ns, same.get(events.device) if events.on_gpu else None)
        mine = [i for i, lane in enumerate(result) if lane.device == memory.device >= 0]
        # Memory of a GPU whose streams are called otherwise is a GPU's all the same.
        mine = mine or [i for i, lane in enumerate(result) if lane.device >= 0 <= memory.device]
        result.insert(mine[-1] + 1 if mine else len(result), memory)
    return tuple(result)
