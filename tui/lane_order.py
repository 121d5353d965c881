"""Which lanes are shown, in which order, which stay in sight, and in how many rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class LaneOrder:
    """What the user made of the lanes; a value, part of the view.

    Attributes:
        hidden: lanes that are not shown.
        pinned: lanes at the top, which stay in sight, in their order.
        moved: all lanes in another order than the usual one; empty for the usual.
        rows: (lane, rows) of lanes that show so many rows.
    """

    hidden: frozenset[int] = frozenset()
    pinned: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()
    rows: tuple[tuple[int, int], ...] = ()

    @property
    def is_usual(self) -> bool:
        """Lanes follow on one another as they are numbered."""
        return not (self.pinned or self.moved)

    def listed(self, count: int) -> list[int]:
        """The lanes that are shown, from top to bottom.

        Args:
            count: how many lanes there are.
        """
        order = self.moved if len(self.moved) == count else range(count)
        first = [lane for lane in self.pinned if lane < count and lane not in self.hidden]
        away = self.hidden.union(first)
        return [*first, *(lane for lane in order if lane not in away)]

    def rows_of(self, lane: int) -> int:
        """How many rows the user wants of a lane; 0 for as many as there is room for."""
        return next((rows for one, rows in self.rows if one == lane), 0)

    def hiding(self, lane: int) -> LaneOrder:
        """The lane hidden, and no longer pinned."""
        pinned = tuple(one for one in self.pinned if one != lane)
        return replace(self, hidden=self.hidden | {lane}, pinned=pinned)

    def showing(self, *lanes: int) -> LaneOrder:
        """Some lanes shown again."""
        return replace(self, hidden=self.hidden.difference(lanes))

    def pinning(self, lane: int) -> LaneOrder:
        """The lane pinned below the others that are; one that is, no longer."""
        rest = tuple(one for one in self.pinned if one != lane)
        return replace(self, pinned=rest if lane in self.pinned else (*rest, lane))

    def moving(self, lane: int, step: int, count: int) -> LaneOrder:
        """The lane past its neighbour among those shown; the same order at an end.

        Args:
            lane: which.
            step: 1 for down, -1 for up.
            count: how many lanes there are.
        """
        if lane in self.pinned:
            return replace(self, pinned=_swapped(self.pinned, lane, step, frozenset()))
        order = self.moved if len(self.moved) == count else tuple(range(count))
        away = self.hidden.union(self.pinned)
        moved = _swapped(order, lane, step, away)
        return replace(self, moved=() if moved == tuple(range(count)) else moved)

    def sized(self, lane: int, rows: int) -> LaneOrder:
        """The lane in so many rows; 0 for as many as there is room for."""
        rest = tuple(pair for pair in self.rows if pair[0] != lane)
        return replace(self, rows=(*rest, (lane, rows)) if rows else rest)

    def carried(self, moved: Sequence[int], count: int) -> LaneOrder:
        """The same of lanes that have other numbers now.

        Args:
            moved: the new number of each old lane, -1 for none.
            count: how many lanes there are now.
        """
        order = [moved[lane] for lane in self.moved if lane < len(moved) and moved[lane] >= 0]
        if order:
            known = set(order)
            for lane in range(count):
                if lane not in known:  # a new one goes below the one that it is usually below
                    order.insert(order.index(lane - 1) + 1 if lane else 0, lane)
        kept = {lane: moved[lane] for lane in range(len(moved)) if moved[lane] >= 0}
        return LaneOrder(
            frozenset(kept[lane] for lane in self.hidden if lane in kept),
            tuple(kept[lane] for lane in self.pinned if lane in kept),
            tuple(order),
            tuple((kept[lane], rows) for lane, rows in self.rows if lane in kept),
        )


def _swapped(
    order: tuple[int, ...], lane: int, step: int, passed: frozenset[int]
) -> tuple[int, ...]:
    """A lane moved past its neighbour that is not in ``passed``."""
    place = order.index(lane)
    other = place + step
    while 0 <= other < len(order) and order[other] in passed:
        other += step
    if not 0 <= other < len(order):
        return order
    rest = [one for one in order if one != lane]
    rest.insert(rest.index(order[other]) + (step > 0), lane)
    return tuple(rest)


#: Nothing was changed.
USUAL = LaneOrder()
