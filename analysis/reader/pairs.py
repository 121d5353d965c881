"""Makes slices of begin and end events.

These are ``B`` and ``E`` on threads, ``b`` and ``e`` or ``S`` and ``F`` of asynchronous work.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whichlayer.analysis.reader.decimals import parse_times
from whichlayer.analysis.reader.events import Event, Raw
from whichlayer.analysis.reader.groups import Groups
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.lanes import Lanes
from whichlayer.analysis.reader.numbering import Numbering
from whichlayer.analysis.trace.assemble import Slices
from whichlayer.analysis.trace.columns import Int32, Int64

_BEGINNINGS = frozenset("BbS")


class _Open:
    """The open slices of one thread or asynchronous piece of work, innermost last.

    A row that was closed stays in the stacks that it is not on top of until it is met there.
    """

    def __init__(self) -> None:
        self._stack: list[int] = []
        self._of_name: defaultdict[int, list[int]] = defaultdict(list)
        self._closed: set[int] = set()

    def begin(self, row: int, name: int) -> None:
        self._stack.append(row)
        self._of_name[name].append(row)

    def close(self, name: int | None) -> int:
        """Closes the innermost slice, of a name if there is one, and returns it; -1 if none."""
        stack = self._stack if name is None else self._of_name[name]
        while stack:
            row = stack.pop()
            if row not in self._closed:
                self._closed.add(row)
                return row
        return -1

    def rows(self) -> list[int]:
        """What is still open."""
        return [row for row in self._stack if row not in self._closed]


@dataclass(slots=True)
class Pairs:
    """Begin and end events, collected chunk by chunk.

    Attributes:
        bad: how many had no usable time.
        unclosed: slices that never end, known after :meth:`slices`.
        unmatched: ends without a beginning, known after :meth:`slices`.
        first_unclosed, first_unmatched: the number among all events of the one of these that
            comes first in the file, -1 without any.
    """

    groups: Groups
    strings: Intern[str]
    bad: int = 0
    unclosed: int = 0
    unmatched: int = 0
    first_unclosed: int = -1
    first_unmatched: int = -1
    _keys: Intern[tuple[Any, ...]] = field(default_factory=Intern)
    _time: list[int] = field(default_factory=list)
    _name: list[int] = field(default_factory=list)
    _key: list[int] = field(default_factory=list)
    _group: list[int] = field(default_factory=list)
    _event: list[int] = field(default_factory=list)

    def add(self, events: Sequence[Event], group: Int32, number: Int64) -> None:
        """Takes begin and end events.

        Args:
            events: of phases ``B``, ``E``, ``b``, ``e``, ``S`` and ``F``.
            group: the group of each.
            number: the place of each among all events of the file.
        """
        times = parse_times([one.ts for one in events])
        self.bad += int(times.bad.sum())
        rounded, bad = times.rounded().tolist(), times.bad.tolist()
        for row, event in enumerate(events):
            if not bad[row]:
                self._time.append(rounded[row])
                self._name.append(self.strings[event.name])
                self._key.append(self._keys[self._partner(event, int(group[row]))])
                self._group.append(int(group[row]))
                self._event.append(int(number[row]))

    @property
    def events(self) -> Int64:
        """The number of each among all events of the file: int64 (n,)."""
        return np.array(self._event, np.int64)

    def take(self, other: Pairs, numbering: Numbering) -> None:
        """Adds the events of another, which is used up."""
        self._time += other._time
        self._name += numbering.strings[other._name].tolist()
        self._key += self._keys.take(other._keys)[other._key].tolist()
        self._group += numbering.groups[other._group].tolist()
        self._event += [numbering.events + event for event in other._event]
        self.bad += other.bad

    def _partner(self, event: Event, group: int) -> tuple[Any, ...]:
        """What an end must share with its beginning."""
        ph, cat, pid, tid = self.groups.keys[group]
        if ph in "BE":
            return (pid, tid)
        local = _text(event.id2)
        name = event.name if ph in "SF" else None
        return ("async", cat, event.id, event.scope, local, pid if local else None, name)

    def slices(self, lanes: Lanes, end_ns: int) -> Slices:
        """The slices that beginnings and ends make, in the order of their beginnings.

        An end closes the innermost open slice of its name, or the innermost of all if it has
        no name. What is still open then ends with the trace.

        Args:
            lanes: give the slices their lanes.
            end_ns: when the rest of the trace ends.
        """
        open_rows: defaultdict[int, _Open] = defaultdict(_Open)
        end_of: dict[int, int] = {}
        last = max(end_ns, max(self._time, default=end_ns))
        unclosed: list[int] = []
        unmatched: list[int] = []
        for row in np.argsort(np.array(self._time, np.int64), kind="stable").tolist():
            still_open, name = open_rows[self._key[row]], self._name[row]
            if self.groups.keys[self._group[row]][0] in _BEGINNINGS:
                still_open.begin(row, name)
                continue
            begun = still_open.close(name if self._has_name(name) else None)
            if begun < 0:
                unmatched.append(self._event[row])
            else:
                end_of[begun] = self._time[row]
        for still_open in open_rows.values():
            rows = still_open.rows()
            unclosed += [self._event[row] for row in rows]
            end_of |= dict.fromkeys(rows, last)
        self.unclosed, self.first_unclosed = len(unclosed), min(unclosed, default=-1)
        self.unmatched, self.first_unmatched = len(unmatched), min(unmatched, default=-1)
        return self._columns(sorted(end_of), end_of, lanes)

    def _has_name(self, name: int) -> bool:
        return name != self.strings[""]

    def _columns(self, rows: list[int], end_of: dict[int, int], lanes: Lanes) -> Slices:
        groups = [self._group[row] for row in rows]
        lane = []
        for group in groups:
            ph, cat, pid, _ = self.groups.keys[group]
            lane.append(lanes.of_group(group) if ph == "B" else lanes.of_async(pid, cat))
        none = np.full(len(rows), -1, np.int64)
        return Slices(
            start_ns=np.array([self._time[row] for row in rows], np.int64),
            end_ns=np.array([end_of[row] for row in rows], np.int64),
            name_id=np.array([self._name[row] for row in rows], np.int32),
            category_id=self.groups.category_id[np.array(groups, np.int32)],
            kind=self.groups.kind[np.array(groups, np.int32)],
            lane_id=np.array(lane, np.int32),
            correlation=none,
            external_id=none,
            detail_id=none.astype(np.int32),
            event=np.array([self._event[row] for row in rows], np.int64),
        )


def _text(raw: Raw) -> bytes:
    text = bytes(raw)
    return b"" if text == b"-" else text
