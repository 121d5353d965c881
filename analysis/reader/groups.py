"""Groups of events that agree in phase, category, process and thread.

A trace has a few dozen of them, so whatever follows from those four is worked out per group
and looked up per event.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import islice

import numpy as np

from whichlayer.analysis.reader.events import Event, Id
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.trace.classify import kind_of_category
from whichlayer.analysis.trace.columns import Int32, UInt8

Group = tuple[str, str, Id, Id]


class Role(IntEnum):
    """What an event of some phase is for."""

    SLICE = 0
    PAIR = 1
    INSTANT = 2
    COUNTER = 3
    FLOW = 4
    METADATA = 5
    IGNORED = 6


_ROLES = (
    {"X": Role.SLICE, "C": Role.COUNTER, "M": Role.METADATA}
    | dict.fromkeys("BEbeSF", Role.PAIR)
    | dict.fromkeys("iIRnTp", Role.INSTANT)
    | dict.fromkeys("stf", Role.FLOW)
)


class Groups:
    """The groups seen so far.

    Attributes:
        keys: (phase, category, process, thread) of each; numbers in strings are numbers.
        role: uint8, a ``Role`` for each.
        kind: uint8, the ``SliceKind`` of each one's category.
        category_id: int32, each one's category among the strings.
    """

    def __init__(self, strings: Intern[str]) -> None:
        self._strings = strings
        self._ids: Intern[Group] = Intern()
        self.keys: list[Group] = []
        self.role: UInt8 = np.zeros(0, np.uint8)
        self.kind: UInt8 = np.zeros(0, np.uint8)
        self.category_id: Int32 = np.zeros(0, np.int32)

    @property
    def have_phases(self) -> bool:
        """Some event so far has a phase."""
        return any(key[0] for key in self.keys)

    @property
    def categories(self) -> set[str]:
        """The categories seen so far, without the empty one."""
        return {key[1] for key in self.keys if key[1]}

    def of(self, events: Sequence[Event]) -> Int32:
        """The group of every event."""
        ids = self._ids
        numbers = [ids[one.ph, one.cat, one.pid, one.tid] for one in events]
        group = np.fromiter(numbers, np.int32, len(numbers))
        self._add()
        return group

    def take(self, other: Groups) -> Int32:
        """Adds the groups of others, and tells which number each has here."""
        numbers = self._ids.take(other._ids)
        self._add()
        return numbers

    def _add(self) -> None:
        """Works out what follows from the groups that are new."""
        if len(self._ids) == len(self.keys):
            return
        new = list(islice(self._ids, len(self.keys), None))
        self.keys += [(ph, cat, as_number(pid), as_number(tid)) for ph, cat, pid, tid in new]
        roles = [_ROLES.get(ph, Role.IGNORED) for ph, *_ in new]
        kinds = [kind_of_category(cat) for _, cat, *_ in new]
        categories = [self._strings[cat] for _, cat, *_ in new]
        self.role = np.append(self.role, np.array(roles, np.uint8))
        self.kind = np.append(self.kind, np.array(kinds, np.uint8))
        self.category_id = np.append(self.category_id, np.array(categories, np.int32))


def as_number(value: Id) -> Id:
    """A process or thread as a number where it is one in a string."""
    if isinstance(value, str):
        digits = value.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) <= 20:
            return int(value)
    return value
