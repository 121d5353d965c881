"""Turns instants, counter samples and flow ends into columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from whichlayer.analysis.reader.arguments import as_int64
from whichlayer.analysis.reader.decimals import Times, parse_times
from whichlayer.analysis.reader.events import ABSENT, DECODE_ERRORS, Event, Id, Raw
from whichlayer.analysis.reader.groups import Groups
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.keep import Reach
from whichlayer.analysis.reader.lanes import LaneFinder
from whichlayer.analysis.reader.numbering import Numbering
from whichlayer.analysis.reader.repair import decode_value
from whichlayer.analysis.trace.columns import Counters, Flows, Instants, Int32, Int64
from whichlayer.analysis.trace.kinds import LaneKind

_MEMORY = "[memory]"
_FIGURES = ("Total Allocated", "Bytes", "Total Reserved")
_TYPE, _DEVICE = "Device Type", "Device Id"
_PHASES = {"s": 0, "t": 1, "f": 2}

#: Flows from launches to the GPU, whose last end is on a stream.
_TO_GPU = frozenset({"ac2g", "async_gpu", "async_cpu_to_gpu", "async"})

#: Instants of asynchronous work.
_ASYNC = frozenset("nTp")

_ON_THREAD = (LaneKind.CPU_THREAD, LaneKind.OTHER, LaneKind.GPU_STREAM, LaneKind.GPU_ANNOTATION)
_ON_STREAM = (LaneKind.GPU_STREAM, *_ON_THREAD)


class Marks:
    """Instants, counters and flows, collected chunk by chunk.

    Attributes:
        bad: how many had no usable time.
        not_finite: values of counters that are no finite number, which are left out.
        seen: from when to when instants and counter samples last.
    """

    def __init__(
        self,
        groups: Groups,
        strings: Intern[str],
    ) -> None:
        self._groups = groups
        self._strings = strings
        self._instants: list[tuple[np.ndarray[Any, Any], ...]] = []
        self._flows: list[tuple[Int64, Int32, Int64]] = []
        self._flow_names: dict[str, int] = {}
        self._series: Intern[tuple[str, str, str]] = Intern()
        self._samples: list[tuple[Int32, Int64, np.ndarray[Any, Any]]] = []
        self.bad = self.not_finite = 0
        self.seen = Reach()

    def add_instants(self, events: Sequence[Event], group: Int32) -> None:
        """Takes events of phase ``i``, ``I``, ``R`` or, of asynchronous work, ``n``, ``T``, ``p``."""
        times = parse_times([one.ts for one in events])
        self._see(times)
        strings = self._strings
        names = np.array([strings[one.name] for one in events], np.int32)
        figures = [np.full(len(events), np.nan) for _ in _FIGURES]
        allocator = np.full(len(events), -1, np.int64)
        memory = [row for row, one in enumerate(events) if one.name == _MEMORY]
        if memory:
            found = _decoded_arguments([events[row].args for row in memory])
            for column, key in zip(figures, _FIGURES, strict=True):
                column[memory] = [_number(one.get(key)) for one in found]
            allocator[memory] = [_allocator(one) for one in found]
        columns = (times.rounded(), group, names, *figures, allocator)
        self._keep(times.bad, self._instants, *columns)

    def add_flows(self, events: Sequence[Event], group: Int32) -> None:
        """Takes events of phase ``s``, ``t`` or ``f``."""
        times = parse_times([one.ts for one in events])
        ids = [one.id for one in events]
        try:
            numbers = np.array(ids, np.int64) if set(map(type, ids)) == {int} else None
        except OverflowError:
            numbers = None
        if numbers is None or bool((numbers < 0).any()):
            numbers = np.array([self._flow_id(one) for one in ids], np.int64)
        self._keep(times.bad, self._flows, times.rounded(), group, numbers)

    def add_counters(self, events: Sequence[Event], group: Int32) -> None:
        """Takes events of phase ``C``: every numeric argument is a series.

        A value that is no finite number is counted and left out: no row could draw it.
        """
        times = parse_times([one.ts for one in events])
        self.bad += int(times.bad.sum())
        self._see(times)
        numbers, series, values = self._series, array("i"), array("d")
        samples = np.zeros(len(events), np.int64)  # of each event
        arguments = _decoded_arguments([one.args for one in events])
        for row in np.flatnonzero(~times.bad).tolist():
            event, before = events[row], len(series)
            process = str(self._groups.keys[int(group[row])][2])
            name = event.name if event.id == "" else f"{event.name}[{event.id}]"
            for field, value in arguments[row].items():
                number = value if type(value) is float else _number(value)
                if math.isfinite(number):
                    series.append(numbers[process, name, field])
                    values.append(number)
                elif _is_number(value):
                    self.not_finite += 1
            samples[row] = len(series) - before
        self._samples.append(
            (
                np.array(series, np.int32),
                np.repeat(times.rounded(), samples),
                np.array(values, np.float64),
            )
        )

    def take(self, other: Marks, numbering: Numbering) -> None:
        """Adds the marks of another, which is used up."""
        strings, groups = numbering.strings, numbering.groups
        self._instants += [
            (time, groups[group], strings[name], *figures)
            for time, group, name, *figures in other._instants
        ]
        names = np.array([self._flow_id(name) for name in other._flow_names], np.int64)
        for time, group, numbers in other._flows:
            named = numbers < -1
            numbers[named] = names[-2 - numbers[named]]
            self._flows.append((time, groups[group], numbers))
        series = self._series.take(other._series)
        self._samples += [(series[own], time, value) for own, time, value in other._samples]
        self.bad += other.bad
        self.not_finite += other.not_finite
        self.seen.join(other.seen)

    def instants(self, finder: LaneFinder) -> Instants:
        """All instants, in the order of the file."""
        types = (np.int64, np.int32, np.int32, *(np.float64 for _ in _FIGURES), np.int64)
        time, group, name, *figures = _joined(self._instants, types)
        lanes = [
            finder.find_async(pid, cat) if ph in _ASYNC else finder.find(pid, tid, _ON_THREAD)
            for ph, cat, pid, tid in self._groups.keys
        ]
        return Instants(time, np.array(lanes or [0], np.int32)[group], name, *figures)

    def flows(self, finder: LaneFinder) -> Flows:
        """All flow ends, in the order of the file."""
        time, group, numbers = _joined(self._flows, (np.int64, np.int32, np.int64))
        lanes, phases, categories = [0], [0], [0]
        if len(group):
            lanes, phases, categories = [], [], []
            for ph, cat, pid, tid in self._groups.keys:
                kinds = _ON_STREAM if cat in _TO_GPU and ph == "f" else _ON_THREAD
                lanes.append(finder.find(pid, tid, kinds))
                phases.append(_PHASES.get(ph, 0))
                categories.append(self._strings[cat] if ph in _PHASES else 0)
        return Flows(
            id=numbers,
            phase=np.array(phases, np.uint8)[group],
            time_ns=time,
            lane_id=np.array(lanes, np.int32)[group],
            category_id=np.array(categories, np.int32)[group],
        )

    def counters(self) -> Counters:
        """All counter samples, in the order of the file."""
        series, time, value = _joined(self._samples, (np.int32, np.int64, np.float64))
        return Counters(tuple(self._series), series, time, value)

    @property
    def extent(self) -> tuple[int, int] | None:
        """The first and the last time of all instants and counter samples; None without any."""
        seen = self.seen
        return (seen.low_ns, seen.high_ns) if seen.low_ns <= seen.high_ns else None

    def _see(self, times: Times) -> None:
        usable = times.rounded()[~times.bad]
        self.seen.note(usable, usable)

    def _keep(self, bad: np.ndarray[Any, Any], into: list[Any], *columns: Any) -> None:
        if bool(bad.any()):
            self.bad += int(bad.sum())
            columns = tuple(column[~bad] for column in columns)
        into.append(columns)

    def _flow_id(self, value: Id) -> int:
        if value == "":
            return -1
        if isinstance(value, int) and 0 <= value < 1 << 63:
            return value
        return self._flow_names.setdefault(str(value), -2 - len(self._flow_names))


def _joined(chunks: list[Any], types: Sequence[type]) -> list[Any]:
    """The columns of all chunks, which become one chunk."""
    if not chunks:
        return [np.zeros(0, one) for one in types]
    if len(chunks) > 1:
        chunks[:] = [tuple(np.concatenate(parts) for parts in zip(*chunks, strict=True))]
    return list(chunks[0])


def _decoded_arguments(texts: Sequence[Raw]) -> list[Mapping[str, Any]]:
    present = [b"{}" if text is ABSENT else text for text in texts]
    decoded: Sequence[object]
    try:
        decoded = msgspec.json.decode(b"[%b]" % b",".join(present))
    except DECODE_ERRORS:
        decoded = [decode_value(bytes(text)) for text in present]
    return [one if isinstance(one, dict) else {} for one in decoded]


def _allocator(arguments: Mapping[str, Any]) -> int:
    """Which allocator a memory event is of, as :class:`Instants` numbers them; -1 unknown."""
    kind, device = arguments.get(_TYPE), arguments.get(_DEVICE, 0)
    if type(kind) is not int or type(device) is not int or not 0 <= kind < 1 << 16:
        return -1
    return (kind << 32) + max(device, 0) if device < 1 << 31 else -1


def _number(value: object) -> float:
    """A JSON value as a number, NaN if it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return math.nan
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return float(number) if (number := as_int64(value)) != -1 else math.nan
    return math.nan


def _is_number(value: object) -> bool:
    """Whether a value without a finite number is meant as one: ``NaN``, ``"-inf"``, 1e999."""
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int | float) and not isinstance(value, bool)
