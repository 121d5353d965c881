"""The lines of the timeline, listed once for all who ask for them between two changes."""

from __future__ import annotations

from collections.abc import Mapping

from whichlayer.tui.dealt_rows import shown_rows
from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.lanes import Fold, ShownLane, ShownRow


class ListedRows:
    """Remembers the last list: every key asks for it several times, and seldom changes it."""

    def __init__(self) -> None:
        """Nothing was listed yet."""
        self._last: tuple[object, ...] = ()
        self._rows: tuple[ShownRow, ...] = ()

    def rows(
        self,
        lanes: tuple[ShownLane, ...],
        folds: Mapping[int, Fold],
        lines: int,
        used: tuple[int, ...],
        order: LaneOrder = USUAL,
        tall: bool = False,
        outer: tuple[int, ...] = (),
    ) -> tuple[ShownRow, ...]:
        """As :func:`whichlayer.tui.dealt_rows.shown_rows`."""
        # Lanes have no equality but identity, so tuples of the same ones are alike.
        wanted = (lanes, dict(folds), lines, used, order, tall, outer)
        if wanted != self._last:
            self._rows = shown_rows(lanes, folds, lines, used, order, tall, outer)
            self._last = wanted
        return self._rows
