"""What can be taken back: every act on the screen as what it changed, from what to what.

An act holds values alone, never a recording or lines of one: times on the file's own clock, lanes
by what they are of. So it outlives a file that grows, and most of it another window.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final


class Part(Enum):
    """A part of what is on the screen; the value says what changed, where nothing tells more."""

    FILTER = "filter"
    SEARCH = "search"
    MARKS = "bookmark"
    QUEUE = "launch lanes"
    LANES = "lanes"
    CLOCK = "clock"
    SELECTION = "selection"
    TABLE = "kernel table"
    HEAT = "heatmap"
    COLOURS = "colours"
    THEME = "theme"
    FULL = "whole screen"
    LINES = "height of panels"
    WIDTHS = "width of panels"
    PLACE = "view"
    DEVICE = "device"


#: What a :class:`whichlayer.tui.view.View` holds.
OF_VIEW: Final = (Part.PLACE, Part.DEVICE, Part.SELECTION, Part.LANES, Part.CLOCK)

#: What makes sense in one recording alone.
OF_RECORDING: Final = frozenset({Part.PLACE, Part.SELECTION})


@dataclass(frozen=True, slots=True)
class Change:
    """A part of the screen before an act and after it.

    Attributes:
        part: which.
        before: its value then; equal values look alike.
        after: its value now.
        word: what the act did to it, for the user; the part's own word where empty.
    """

    part: Part
    before: Any
    after: Any
    word: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that the user did.

    Attributes:
        changes: what it changed; what tells most comes first.
        run: acts of one run on one another are taken back at once, such as a held key or a drag;
            an empty one is no run.
    """

    changes: tuple[Change, ...]
    run: str = ""

    @property
    def word(self) -> str:
        """What it did, for the user: of several changes the one that tells most."""
        first = self.changes[0]
        return first.word or first.part.value

    @property
    def parts(self) -> frozenset[Part]:
        """What it changed."""
        return frozenset(change.part for change in self.changes)

    def taken_back(self) -> Act:
        """The act that leads back."""
        back = (replace(one, before=one.after, after=one.before) for one in self.changes)
        return replace(self, changes=tuple(back))


def act_of(changes: Iterable[Change], run: str = "", along: Change | None = None) -> Act | None:
    """What really changed, as an act; None where nothing did.

    Args:
        changes: what may have changed.
        run: of the act.
        along: what is put back too, but is no act alone: where the cursor was.
    """
    order = list(Part)
    found = [one for one in changes if one.before != one.after]
    if found and along is not None and along.part not in {one.part for one in found}:
        found.append(along)
    found.sort(key=lambda one: order.index(one.part))
    changed = [one.part for one in found if one is not along]
    if changed == [Part.DEVICE]:
        run = run or "device"  # a cursor that walks over the lanes of many
    return Act(tuple(found), run) if found else None


class Acts:
    """The acts that can be taken back, and those that can be done again."""

    #: More than anyone takes back, little enough to forget.
    LIMIT: Final = 200

    def __init__(self) -> None:
        """Nothing was done."""
        self._past: list[Act] = []
        self._future: list[Act] = []

    def __len__(self) -> int:
        """How many acts can be taken back."""
        return len(self._past)

    def note(self, act: Act) -> None:
        """Remember an act; what was taken back before cannot be done again any more."""
        last = self._past[-1] if self._past else None
        if last is not None and act.run and act.run == last.run and not self._future:
            joined = act_of(_joined(last, act), act.run)
            self._past[-1:] = [] if joined is None else [joined]
        else:
            past, whole = _with_its_begin(self._past, act)
            self._past = past if whole is None else [*past[-self.LIMIT + 1 :], whole]
        self._future.clear()

    def next_back(self) -> Act | None:
        """The act that would be taken back now."""
        return self._past[-1] if self._past else None

    def next_forward(self) -> Act | None:
        """The act that would be done again now."""
        return self._future[-1] if self._future else None

    def step_back(self) -> None:
        """The last act has been taken back."""
        self._future.append(self._past.pop())

    def step_forward(self) -> None:
        """The act that was taken back last has been done again."""
        self._past.append(self._future.pop())

    def leave_recording(self) -> None:
        """Another recording is on the screen: forget where one was in the one before."""
        self._past = [act for act in map(_elsewhere, self._past) if act is not None]
        self._future = [act for act in map(_elsewhere, self._future) if act is not None]


def _joined(first: Act, then: Act) -> list[Change]:
    later = {change.part: change for change in then.changes}
    both = [
        replace(one, after=later[one.part].after, word=later[one.part].word)
        if one.part in later
        else one
        for one in first.changes
    ]
    return [*both, *(one for one in then.changes if one.part not in first.parts)]


def _with_its_begin(past: list[Act], act: Act) -> tuple[list[Act], Act | None]:
    """An act that ends a selection, from before that was begun; the past without its begin."""
    ended = _selection_in(act)
    if ended is None or not ended.after.span or ended.before.anchor_ns is None:
        return past, act
    for at in range(len(past) - 1, -1, -1):
        begun = _selection_in(past[at])
        if begun is None:
            continue
        if begun.after != ended.before:
            break
        # Where the cursor was is no act alone.
        left = tuple(
            one for one in past[at].changes if one is not begun and one.before != one.after
        )
        kept = [replace(past[at], changes=left)] if left else []
        from_begin = replace(ended, before=begun.before)
        changes = tuple(from_begin if one is ended else one for one in act.changes)
        changed = any(one.before != one.after for one in changes)
        past = [*past[:at], *kept, *past[at + 1 :]]
        return past, replace(act, changes=changes) if changed else None
    return past, act


def _selection_in(act: Act) -> Change | None:
    return next((one for one in act.changes if one.part is Part.SELECTION), None)


def _elsewhere(act: Act) -> Act | None:
    left = tuple(one for one in act.changes if one.part not in OF_RECORDING)
    return replace(act, changes=left) if left else None
