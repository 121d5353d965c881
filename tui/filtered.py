"""The timeline under a filter: what it lets through as always, the rest as quiet dots.

Nothing moves when a filter comes or goes, so that places are found again; keys that step from
slice to slice see only what is let through.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.document import Document
from whichlayer.tui.filtered_row import FilteredRow
from whichlayer.tui.lanes import ShownLane
from whichlayer.tui.raster import Row

Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """What is let through.

    Attributes:
        text: the query.
        mask: bool (n,), by row of the trace.
        count: how many slices that is.
    """

    text: str
    mask: Bool
    count: int


class FilteredLane(ShownLane):
    """A lane with the rows of another one, filtered; it is as high, and folds as that one."""

    def __init__(self, plain: ShownLane, mask: Bool) -> None:
        """Take a lane and the mask of the trace's slices."""
        self.__dict__.update(plain.__dict__)
        self.plain = plain
        self._mask = mask
        self._rows = {}

    def row(self, depth: int) -> Row:
        """One row, filtered when first asked for."""
        found = self._rows.get(depth)
        if found is None:
            row = self.plain.row(depth)
            found = self._rows[depth] = FilteredRow(row, self._mask[row.slices])
        return found

    def sort_rows(self) -> None:
        """As of the lane itself."""
        self.plain.sort_rows()

    def used_rows(self, low_ns: int, high_ns: int) -> int:
        """As of the lane itself: nothing moves."""
        return self.plain.used_rows(low_ns, high_ns)

    def row_title(self, depth: int, is_first: bool) -> str:
        """As of the lane itself."""
        return self.plain.row_title(depth, is_first)

    def row_note(self, depth: int, room: int) -> str:
        """As of the lane itself."""
        return self.plain.row_note(depth, room)

    def depth_of(self, slice_row: int) -> int:
        """As of the lane itself: what is held back can still be gone to."""
        return self.plain.depth_of(slice_row)


def with_filter(document: Document, chosen: Filter | None) -> Document:
    """The document under a filter; as it was without one."""
    lanes = tuple(lane.plain if isinstance(lane, FilteredLane) else lane for lane in document.lanes)
    if chosen is not None:
        lanes = tuple(
            FilteredLane(lane, chosen.mask) if _has_slices(lane) else lane for lane in lanes
        )
    return replace(document, lanes=lanes, filter=chosen)


def _has_slices(lane: ShownLane) -> bool:
    """Whether a filter applies: counters and instants are no slices."""
    return lane.group not in ("counter", "instant")
