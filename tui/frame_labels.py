"""What stands at the left of a line of the timeline."""

from __future__ import annotations

from rich.segment import Segment

from whichlayer.tui.lanes import ShownLane, ShownRow
from whichlayer.tui.palette import Palette
from whichlayer.tui.widgets.pane import shortened

#: Marks the label of a pinned lane.
_PIN = "^"

#: A title cut to less than this says nothing at its end either.
_LEAST_CUT = 8

#: Labels as wide as this have room for the greatest value of a counter.
_NOTED = 16


def _cut(title: str, room: int) -> str:
    """A title without its middle where it is too long and ends in a number: that tells it apart.

    >>> _cut("CPU python3 111", 13), _cut("CPU pt_autograd_0", 11), _cut("GPU0 s21 comm", 10)
    ('CPU pytho…111', 'CPU pt…ad_0', 'GPU0 s21 comm')
    """
    if len(title) <= room or room < _LEAST_CUT or not title[-1].isdecimal():
        return title
    last = title.rpartition(" ")[2]
    tail = len(last) if len(last) <= room // 2 else room * 2 // 5
    return f"{title[: room - tail - 1].rstrip()}…{title[-tail:]}"


def label_of(
    shown: ShownRow, lane: ShownLane, cells: int, palette: Palette, *, pinned: bool, chosen: bool
) -> Segment:
    """The label of a line.

    Args:
        shown: the line.
        lane: its lane.
        cells: how wide labels are.
        palette: of the theme.
        pinned: the lane stays at the top.
        chosen: the cursor is on the line.
    """
    title = "" if shown.part else lane.row_title(shown.depth, shown.is_first)
    if shown.is_first and pinned:
        title = f"{_PIN}{title}"
    if (cells >= _NOTED or lane.noted) and not shown.part:
        note = lane.row_note(shown.depth, cells - 3 - len(title))
    else:
        note = ""
    more = f"+{shown.hidden}" if shown.hidden else ""
    if note:
        more = f" {more} {note}" if more else f" {note}"
    room = cells - 2 - len(more)
    if len(title) > room and lane.group != "counter":
        more, room = "", cells - 2
    text = f"{'▸' if chosen else ' '}{shortened(_cut(title, room), room)}{more} "
    return Segment(text, palette.accent if chosen else palette.dim)
