"""The view that is asked for on the command line; imports nothing that shows one."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, fields

from whichlayer.tui.lane_spec import LaneEntry, LaneName

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RowsFor:
    """For which stretch lanes have rows, and how many some have that need others there."""

    span: Span
    counts: tuple[tuple[LaneName, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The view that the command line asks for; each field is the option of its name.

    Attributes:
        view: the span in sight, or None.
        at: the cursor, or None.
        select: the selected span, or None.
        lane: ``name`` or ``name/depth`` of the cursor's row, or None.
        mark: where a selection is begun, or None.
        gpu: number of the device that strips and panels show, or None for the cursor's.
        filter: the query that slices have to answer, or nothing.
        find: the query that is searched for, or nothing.
        colour_by: what colours tell, or nothing for the usual.
        clock: times are of the wall clock.
        lanes: the lanes from top to bottom; none for the usual.
        queue: launches have lanes.
        group_by, sort: rows of the kernel table, or nothing for the usual.
        heat_rows: rows of the heatmap, or nothing for the usual.
        only: the part that has the whole screen, or nothing.
        rows_for: the stretch that lanes have rows for, None for that in sight.
        top: lines of the timeline that lie above the screen, None for as few as can be.
    """

    view: Span | None = None
    at: int | None = None
    select: Span | None = None
    lane: str | None = None
    mark: int | None = None
    gpu: int | None = None
    filter: str = ""
    find: str = ""
    colour_by: str = ""
    clock: bool = False
    lanes: tuple[LaneEntry, ...] = ()
    queue: bool = False
    group_by: str = ""
    sort: str = ""
    heat_rows: str = ""
    only: str = ""
    rows_for: RowsFor | None = None
    top: int | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self != Wanted()


def wanted_of(typed: Namespace) -> Wanted:
    """The view of a command line that was read with the view options."""
    asked = {one.name: getattr(typed, one.name) for one in fields(Wanted)}
    return Wanted(**{name: value for name, value in asked.items() if value is not None})
