"""The line from a launch to the GPU work that it started, with its words, through rows of cells.

It leaves the launch where the call begins, runs along the row that has the fewest bars in the way
and turns towards the work where that begins. Along a row it passes behind bars; up and down it
takes one cell of each bar that it crosses, in the bar's own colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Bool = NDArray[np.bool_]
Place = tuple[int, int]

#: So many bars fewer must be in the way for the line to leave the row of the launch.
_WORTH_A_TURN = 2

_UP, _DOWN, _LEFT, _RIGHT = "udlr"
_CORNERS = {"ul": "┘", "ur": "└", "dl": "┐", "dr": "┌"}
_TEES, _HEADS, _SIDES = {-1: "┴", 1: "┬"}, {-1: "▲", 1: "▼"}, {-1: "◀", 1: "▶"}


@dataclass(frozen=True, slots=True)
class End:
    """One end of the line.

    Attributes:
        y: its height on the screen; -1 above what is in sight, as many as there are rows below.
        first, last: its cells, which may lie outside the row.
    """

    y: int
    first: int
    last: int


@dataclass(slots=True)
class Ink:
    """Characters by (height, cell).

    Attributes:
        behind: those that bars hide.
        before: those that take a cell of a bar.
    """

    behind: dict[Place, str] = field(default_factory=dict)
    before: dict[Place, str] = field(default_factory=dict)


def line_between(launch: End, work: End, idle: Bool, texts: Sequence[str] = ()) -> Ink:
    """The line and what is said beside it.

    Args:
        launch: the call.
        work: what it started.
        idle: bool (rows, cells), where nothing is drawn.
        texts: what to say, from the longest to the shortest; the first that fits is.

    Returns:
        Nothing where both ends are out of sight on the same side.
    """
    rows, cells = idle.shape
    ink = Ink()
    if launch.y == work.y or not cells:
        return ink
    if not 0 <= work.first < cells:
        return _leaving(launch, work, idle, texts)
    up = -1 if work.y < launch.y else 1
    turn = _turn(launch, work, idle)
    start = launch.first
    if turn == launch.y:
        _from_launch(ink, launch, work.first, up, cells)
    else:
        ink.before[launch.y, start] = _TEES[up]
        for y in range(launch.y + up, turn, up):
            ink.before[y, start] = "│"
        side = _RIGHT if work.first > start else _LEFT
        ink.before[turn, start] = _CORNERS[(_DOWN if up < 0 else _UP) + side]
        _along(ink, turn, start, work.first)
        ink.before[turn, work.first] = _corner(up, came_from_left=work.first > start)
    for y in range(turn + up, work.y, up):
        ink.before[y, work.first] = _HEADS[up] if y == work.y - up else "│"
    if not 0 <= launch.y < rows:
        ink.before[launch.y + up, work.first] = _HEADS[-up]
    _say(ink, _places(launch, work, turn, up), idle, texts)
    return _in_sight(ink, rows, cells)


def words_beside(work: End, top: int, idle: Bool, texts: Sequence[str]) -> Ink:
    """Words beside GPU work that no line leads to.

    Args:
        work: its last line.
        top: the height of its first.
        idle: bool (rows, cells), where nothing is drawn.
        texts: what to say, from the longest to the shortest; the first that fits is.
    """
    ink = Ink()
    places = [(work.y, work.first, 0, -1), (work.y, work.last, 0, 1)]
    places += [(y, work.first - 1, 0, 1) for y in (work.y + 1, top - 1)]
    places += [(y, work.last + 1, 0, -1) for y in (work.y + 1, top - 1)]
    _say(ink, iter(places), idle, texts)
    return _in_sight(ink, *idle.shape)


def _turn(launch: End, work: End, idle: Bool) -> int:
    """The row along which the line runs: that of the launch unless another is much emptier."""
    rows, cells = idle.shape
    column, start, up = work.first, launch.first, -1 if work.y < launch.y else 1
    if not (0 <= launch.y < rows and 0 <= start < cells) or start <= column <= launch.last:
        return launch.y
    busy = ~idle
    low, high = min(start, column), max(start, column)
    between = [y for y in range(launch.y + up, work.y, up) if 0 <= y < rows]
    below = np.cumsum([0, *busy[between, start]])  # of the rows before each of ``between``
    above = np.cumsum([0, *busy[between, column]])
    outside = busy[launch.y, launch.last + 1 : column] if column > start else busy[
        launch.y, column + 1 : start
    ]  # fmt: skip
    best, least = launch.y, int(outside.sum()) + int(above[-1])
    for place, y in enumerate(between):
        crossed = int(below[place]) + int(above[-1] - above[place + 1])
        crossed += int(busy[y, low : high + 1].sum())
        if crossed + (_WORTH_A_TURN if best == launch.y else 0) < least:
            best, least = y, crossed
    return best


def _from_launch(ink: Ink, launch: End, column: int, up: int, cells: int) -> None:
    """Along the row of the launch to the column of the work."""
    if launch.first <= column <= launch.last:
        ink.before[launch.y, column] = _TEES[up]
        return
    after = column > launch.last
    _along(ink, launch.y, launch.last if after else launch.first, column)
    ink.before[launch.y, column] = _corner(up, came_from_left=after)
    if launch.last < 0:
        ink.before[launch.y, 0] = _SIDES[-1]
    elif launch.first >= cells:
        ink.before[launch.y, cells - 1] = _SIDES[1]


def _corner(up: int, *, came_from_left: bool) -> str:
    return _CORNERS[(_UP if up < 0 else _DOWN) + (_LEFT if came_from_left else _RIGHT)]


def _along(ink: Ink, y: int, one: int, other: int) -> None:
    for cell in range(min(one, other) + 1, max(one, other)):
        ink.behind[y, cell] = "─"


def _leaving(launch: End, work: End, idle: Bool, texts: Sequence[str]) -> Ink:
    """From the launch to the edge beyond which the work begins."""
    rows, cells = idle.shape
    ink = Ink()
    later = work.first >= cells
    edge = cells - 1 if later else 0
    start = launch.last if later else launch.first
    if not (0 <= launch.y < rows and 0 <= start < cells) or start == edge:
        return ink
    _along(ink, launch.y, start, edge)
    ink.before[launch.y, edge] = _SIDES[1 if later else -1]
    places = [(launch.y, min(start, edge), max(start, edge), 0)]
    _say(ink, iter(places), idle, texts)
    return _in_sight(ink, rows, cells)


def _places(launch: End, work: End, turn: int, up: int) -> Iterator[tuple[int, int, int, int]]:
    """Where words may stand: (row, first, last cell, side): within the line, or beside it.

    A side of 1 is right of ``first``, -1 left of it, 0 between ``first`` and ``last``.
    """
    column, inside = work.first, launch.first <= work.first <= launch.last
    if not inside:
        if turn == launch.y:
            near = launch.last if column > launch.last else launch.first
        else:
            near = launch.first
        yield turn, min(near, column), max(near, column), 0
    rows = [turn, *range(turn + up, work.y, up)]
    for y in rows:
        yield y, launch.last if inside and y == launch.y else column, 0, 1
    for y in rows:
        yield y, launch.first if inside and y == launch.y else column, 0, -1
    if turn != launch.y:
        yield launch.y, launch.last, 0, 1
    # Below the launch, before the work, beyond it.
    yield launch.y - up, max(launch.first, 0), 0, 1
    yield work.y, column, 0, -1
    yield work.y + up, column, 0, 1


def _say(
    ink: Ink,
    places: Iterator[tuple[int, int, int, int]],
    idle: Bool,
    texts: Sequence[str],
) -> None:
    """Put the longest text that there is room for where it stands best."""
    rows, cells = idle.shape
    known = list(places)
    for text in texts:
        room = len(text) + 2
        for y, first, last, side in known:
            if not 0 <= y < rows:
                continue
            if side == 0:
                low, high = max(first + 1, 0), min(last, cells)
                start = low + (high - low - room) // 2
                fits = high - low >= room
            else:
                start = first + 1 if side > 0 else first - room
                fits = 0 <= start and start + room <= cells + 1
            stop = min(start + room, cells)
            if not fits or not idle[y, start:stop].all():
                continue
            if any((y, cell) in ink.before for cell in range(start, stop)):
                continue
            if side and any((y, cell) in ink.behind for cell in range(start, stop)):
                continue
            for cell, char in zip(range(start, stop), f" {text} ", strict=False):
                ink.behind[y, cell] = char
            return


def _in_sight(ink: Ink, rows: int, cells: int) -> Ink:
    """What lies on the screen."""
    for chars in (ink.behind, ink.before):
        for place in [p for p in chars if not (0 <= p[0] < rows and 0 <= p[1] < cells)]:
            del chars[place]
    return ink
