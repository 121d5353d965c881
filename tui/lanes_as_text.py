"""How the user arranged lanes as a list of their names, and the way back.

Only what differs from the usual is named, as far as that says it: ``^GPU0 s7,*`` pins one lane.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.lane_spec import (
    ALL,
    MOST_ROWS,
    ONE,
    OTHERS,
    LaneEntry,
    LaneName,
    place_of,
    places_of,
)
from whichlayer.tui.lanes import Fold

#: Lanes that are named, one after the other, until the others are where they are; then all are.
_MOST_TRIES: Final = 24

_WORDS: Final = {Fold.LINE: ONE, Fold.ALL: ALL}
_FOLDS: Final = {word: fold for fold, word in _WORDS.items()}


@dataclass(frozen=True, slots=True)
class Arranged:
    """What a list makes of lanes.

    Attributes:
        order: of the lanes that there are.
        folds: of some of them.
        missing: lanes that are named and not there.
    """

    order: LaneOrder
    folds: Mapping[int, Fold]
    missing: tuple[LaneName, ...] = ()


def lanes_as_text(
    order: LaneOrder, folds: Mapping[int, Fold], names: Sequence[LaneName]
) -> tuple[LaneEntry, ...]:
    """The list of lanes; empty where they are as usual."""
    count = len(names)
    words = {lane: _WORDS[fold] for lane, fold in folds.items() if fold in _WORDS and lane < count}
    rows = {lane: min(number, MOST_ROWS) for lane, number in order.rows if lane < count}
    if (order.hidden, order.pinned, order.moved) == (frozenset(), (), ()) and not (words or rows):
        return ()
    pinned = [lane for lane in order.pinned if lane < count and lane not in order.hidden]
    usual = list(order.moved) if len(order.moved) == count else list(range(count))
    hidden = {lane for lane in order.hidden if lane < count}
    told = (hidden | words.keys() | rows.keys()).difference(pinned)

    def entry(lane: int, pins: bool = False) -> LaneEntry:
        says = pins or lane not in pinned
        return LaneEntry(
            names[lane], pins, lane in hidden,
            rows.get(lane, 0) if says else 0, words.get(lane, "") if says else "",
        )  # fmt: skip

    def listed(named: Collection[int], others: bool) -> tuple[LaneEntry, ...]:
        entries = [entry(lane, True) for lane in pinned]
        entries += [entry(lane) for lane in usual if lane in named]
        return (*entries, OTHERS) if others else tuple(entries)

    named = _named(told, usual)
    found = listed(named, bool(set(range(count)).difference(named, pinned)))
    shown = (set(usual) - hidden).difference(pinned)
    if _with_others([lane for lane in usual if lane in shown], count) == usual:
        alone = listed(shown, False)  # where most are hidden it says less to name the others
        found = min(found, alone, key=lambda one: len(",".join(map(str, one))))
    return found


def arranged_as(entries: Sequence[LaneEntry], names: Sequence[LaneName]) -> Arranged:
    """What a list makes of the lanes of now; as usual where none of them would be shown."""
    places, count = places_of(names), len(names)
    pinned: dict[int, None] = {}
    placed: dict[int, None] = {}
    hidden: set[int] = set()
    rows: dict[int, int] = {}
    folds: dict[int, Fold] = {}
    missing = []
    for entry in entries:
        if entry.name is None:
            continue
        lane = place_of(entry.name, places)
        if lane is None:
            missing.append(entry.name)
            continue
        (pinned if entry.pinned else placed).setdefault(lane)
        if entry.hidden:
            hidden.add(lane)
        if entry.rows:
            rows[lane] = entry.rows
        if entry.fold:
            folds[lane] = _FOLDS[entry.fold]
    if OTHERS not in entries:
        hidden |= set(range(count)).difference(pinned, placed)
    moved = tuple(_with_others(list(placed), count))
    order = LaneOrder(
        frozenset(hidden),
        tuple(lane for lane in pinned if lane not in hidden),
        () if moved == tuple(range(count)) else moved,
        tuple(rows.items()),
    )
    if not order.listed(count):
        order = USUAL  # a screen without a lane helps nobody
    return Arranged(order, folds, tuple(missing))


def _named(told: Collection[int], usual: Sequence[int]) -> set[int]:
    """The lanes to name so that all lie in an order: few, or all."""
    named, count = set(told), len(usual)
    for _ in range(_MOST_TRIES):
        made = _with_others([lane for lane in usual if lane in named], count)
        wrong = next((i for i in range(count) if made[i] != usual[i]), None)
        if wrong is None:
            return named
        named.add(made[wrong] if usual[wrong] in named else usual[wrong])
    return set(usual)


def _with_others(order: Sequence[int], count: int) -> list[int]:
    """An order of some lanes with the others in it, each below the one it is usually below."""
    below: dict[int, int] = {}
    last = -1  # above the first
    for lane in order:
        below[last] = last = lane
    known = set(order)
    for lane in range(count):
        if lane not in known:
            if lane - 1 in below:
                below[lane] = below[lane - 1]
            below[lane - 1] = lane
    found, here = [], -1
    while here in below:
        here = below[here]
        found.append(here)
    return found
