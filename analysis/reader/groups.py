"""Groups of events that agree in phase, category, process and thread.

A trace has a few dozen of them, so whatever follows from those four is worked out per group
and looked up per event.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np

from whichlayer.analysis.reader.events import Event, Id
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.trace.classify import kind_of_category
from whichlayer.analysis.trace.columns import Int32, UInt8
from whichlayer.analysis.trace.kinds import SliceKind

Group = tuple[str, str, Id, Id]


class Role(IntEnum):
    """What an event of some phase is for."""

    SLICE = 0
    PAIR = 1
    ASYNC = 2
    INSTANT = 3
    COUNTER = 4
    FLOW = 5
    METADATA = 6
    IGNORED = 7


_ROLES = {
    "X": Role.SLICE,
    "B": Role.PAIR,
    "E": Role.PAIR,
    "b": Role.ASYNC,
    "e": Role.ASYNC,
    "S": Role.ASYNC,
    "F": Role.ASYNC,
    "i": Role.INSTANT,
    "I": Role.INSTANT,
    "R": Role.INSTANT,
    "C": Role.COUNTER,
    "s": Role.FLOW,
    "t": Role.FLOW,
    "f": Role.FLOW,
    "M": Role.METADATA,
}


class Groups:
    """The groups seen so far.

    Attributes:
        keys: (phase, category, process, thread) of each; numbers in strings are numbers.
        kind: the slice kind of each one's category.
    """

    def __init__(self) -> None:
        self._ids: Intern[Group] = Intern()
        self.keys: list[Group] = []
        self.kind: list[SliceKind] = []
        self._role: list[Role] = []

    @property
    def no_phase_at_all(self) -> bool:
        """No event so far has a phase: these are no events."""
        return not any(key[0] for key in self.keys)

    def of(self, events: Sequence[Event]) -> tuple[Int32, UInt8]:
        """The group and the role of every event."""
        ids = self._ids
        group = np.array([ids[one.ph, one.cat, one.pid, one.tid] for one in events], np.int32)
        if len(ids) > len(self.keys):
            for ph, cat, pid, tid in list(ids)[len(self.keys) :]:
                self.keys.append((ph, cat, as_number(pid), as_number(tid)))
                self.kind.append(kind_of_category(cat))
                self._role.append(_ROLES.get(ph, Role.IGNORED))
        return group, np.array(self._role, np.uint8)[group]


def as_number(value: Id) -> Id:
    """A process or thread as a number where it is one in a string."""
    if isinstance(value, str):
        digits = value.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) <= 20:
            return int(value)
    return value
