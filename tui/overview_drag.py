"""Dragging in the overview: the visible span, one of its ends, or a span that is drawn anew."""

from __future__ import annotations

from dataclasses import dataclass

from whichlayer.tui.viewport import Viewport

#: A span that is drawn has at least so many columns: less is a click with a shaking hand.
_LEAST_DRAWN = 2


@dataclass(frozen=True, slots=True)
class Grip:
    """What the mouse holds.

    Attributes:
        part: ``span``, ``start``, ``end`` or ``new``.
        cell: column of the overview where the button went down.
        start_ns, end_ns: the visible span then.
    """

    part: str
    cell: int
    start_ns: int
    end_ns: int


def grip_at(whole: Viewport, port: Viewport, cell: int) -> Grip:
    """What a press on a column takes hold of.

    Args:
        whole: the recording over the columns of the overview.
        port: the visible span.
        cell: the column.
    """
    part = "new"
    if not port.is_whole:
        first, last = whole.cell_of(port.start_ns), whole.cell_of(port.end_ns - 1)
        if first <= cell <= last:
            part = "span"
        elif cell == first - 1:
            part = "start"
        elif cell == last + 1:
            part = "end"
    return Grip(part, cell, port.start_ns, port.end_ns)


def dragged(whole: Viewport, port: Viewport, grip: Grip, cell: int) -> Viewport | None:
    """The visible span once the mouse is on another column; None where that changes nothing."""
    if grip.part == "span":
        shift = whole.centre(cell) - whole.centre(grip.cell)
        return port.to(grip.start_ns + shift, grip.end_ns + shift)
    if grip.part == "start":
        start = min(whole.edge(cell), grip.end_ns - 1)
        return port.to(start, grip.end_ns)
    if grip.part == "end":
        end = max(whole.edge(cell + 1), grip.start_ns + 1)
        return port.to(grip.start_ns, end)
    if abs(cell - grip.cell) < _LEAST_DRAWN:
        return None
    low, high = sorted((grip.cell, cell))
    return port.to(whole.edge(low), whole.edge(high + 1))
