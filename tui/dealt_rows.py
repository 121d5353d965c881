"""How many rows each lane gets: the usual ones, more while there is room, or what the user wants."""

from __future__ import annotations

from collections.abc import Mapping

from whichlayer.tui.lane_order import USUAL, LaneOrder
from whichlayer.tui.lanes import FOLDED_ROWS, Fold, ShownLane, ShownRow

#: Lines that one row of a lane may be high.
MOST_LINES = 6

#: What lines that are left make of the rows of a lane, one step after the other: sorts of lanes,
#: and how many lines their rows get. What a GPU does and what a counter says is read off heights.
_TALLER = (
    (("gpu",), 2), (("counter",), 2), (("gpu",), 3), (("counter",), 3), (("gpu",), 4),
    (("cpu", "python", "other"), 2), (("gpu",), MOST_LINES), (("counter",), 4),
    (("cpu", "python", "other"), 3), (("gpu", "counter"), 8), (("cpu", "python", "other"), 4),
    (("gpu",), 12), (("cpu", "python", "other"), 6),
)  # fmt: skip


def shown_rows(
    lanes: tuple[ShownLane, ...],
    folds: Mapping[int, Fold],
    lines: int = 0,
    used: tuple[int, ...] = (),
    order: LaneOrder = USUAL,
    tall: bool = False,
    outer: tuple[int, ...] = (),
) -> tuple[ShownRow, ...]:
    """All lines of the timeline from top to bottom.

    Args:
        lanes: the lanes in order.
        folds: how much is shown of each; ``SOME`` where nothing is said.
        lines: height of the screen; lanes get more rows than usual as long as all fit.
        used: rows that each lane has a use for, where that is known; the others are left out
            if not all fit.
        order: which lanes are shown, in which order, and how many rows the user gave them.
        tall: rows get more lines than one where lines are left.
        outer: rows that each lane leaves out at the top, where that is known.
    """
    rows: list[ShownRow] = []
    listed = tuple(
        index for index in order.listed(len(lanes)) if not _is_idle(lanes, index, used, order)
    )
    seen = tuple(lanes[index] for index in listed)
    shown: list[Fold | int] = [folds.get(index, Fold.SOME) for index in listed]
    if order.rows:
        wanted = dict(order.rows)
        shown = [
            _Fixed(wanted[index]) if index in wanted else fold
            for index, fold in zip(listed, shown, strict=True)
        ]
    skips = [outer[index] if outer else 0 for index in listed]
    dealt = _dealt_rows(seen, shown, lines, tuple(used[i] for i in listed) if used else (), skips)
    heights = _heights(seen, shown, dealt, lines, skips) if tall else ()
    for place, index in enumerate(listed):
        lane = lanes[index]
        depths = _depths_of(lane, shown[place], dealt[place], skips[place])
        lines_of = _lines_by_row(depths, shown[place])
        if heights:
            lines_of = [one * heights[place] for one in lines_of]
        for depth, parts in zip(depths, lines_of, strict=True):
            for part in range(parts):
                is_last = depth == depths[-1] and part == parts - 1
                hidden = lane.depth - len(depths) if is_last else 0
                is_first = depth == depths[0] and not part
                rows.append(ShownRow(index, depth, is_first, hidden, part, parts))
    return tuple(rows)


def used_rows(
    lanes: tuple[ShownLane, ...], low_ns: int, high_ns: int, least: Mapping[int, int]
) -> tuple[int, ...]:
    """Rows that each lane has a use for in ``[low_ns, high_ns)``, as :func:`shown_rows` takes them.

    Empty, which stands for the usual rows, where there are too many lanes to look into each.

    Args:
        lanes: the lanes in order.
        low_ns: where what can be seen begins.
        high_ns: where it ends.
        least: rows that some lanes need in any case, by lane.
    """
    if lanes and lanes[0].is_one_of_many:
        return ()
    used = [lane.used_rows(low_ns, high_ns) for lane in lanes]
    for index, rows in least.items():
        used[index] = max(used[index], rows)
    return tuple(used)


def until_marks(
    lanes: tuple[ShownLane, ...], around: tuple[int, int], span: tuple[int, int]
) -> tuple[int, int]:
    """A stretch about a span, without the marks of such lanes as have none in the span.

    The rows of those would be empty: they come once the span reaches a mark.
    """
    low, high = around
    if lanes and lanes[0].is_one_of_many:
        return around
    for lane in lanes:
        if lane.group == "instant":
            times = lane.row(0).start_ns
            first, stop = times.searchsorted(span).tolist()
            if first == stop:
                low = max(low, int(times[first - 1]) + 1) if first else low
                high = min(high, int(times[stop])) if stop < len(times) else high
    return low, high


def outer_rows(
    lanes: tuple[ShownLane, ...], low_ns: int, high_ns: int, here: tuple[int, int] | None = None
) -> tuple[int, ...]:
    """Rows that each lane leaves out at the top in ``[low_ns, high_ns)``; empty for none.

    Args:
        lanes: the lanes in order.
        low_ns: where what can be seen begins.
        high_ns: where it ends.
        here: lane and depth of a row that stays, as those below it do.
    """
    if lanes and lanes[0].is_one_of_many:
        return ()
    outer = [lane.outer_rows(low_ns, high_ns) for lane in lanes]
    if here is not None:
        index, depth = here
        outer[index] = max(min(outer[index], depth - lanes[index].first_row), 0)
    return tuple(outer) if any(outer) else ()


def most_lines(lanes: tuple[ShownLane, ...]) -> int:
    """The most lines that the timeline makes use of."""
    return sum(
        lane.most_rows * max([1, *(lines for groups, lines in _TALLER if lane.group in groups)])
        for lane in lanes
    )


def _is_idle(
    lanes: tuple[ShownLane, ...], index: int, used: tuple[int, ...], order: LaneOrder
) -> bool:
    """Whether a lane of marks has none anywhere near, so that its row would be empty."""
    if not used or used[index] or lanes[index].group != "instant":
        return False
    return index not in order.pinned and index not in dict(order.rows)


def _heights(
    lanes: tuple[ShownLane, ...],
    folds: list[Fold | int],
    dealt: list[int],
    lines: int,
    skips: list[int],
) -> list[int]:
    """Lines of each row of each lane: streams and counters alike, threads from the first on."""
    heights = [1] * len(lanes)
    if not lines:
        return heights
    counts = [_line_count(lane, folds[i], dealt[i], skips[i]) for i, lane in enumerate(lanes)]
    left = lines - sum(counts)
    for groups, height in _TALLER:
        mine = [i for i, lane in enumerate(lanes) if lane.group in groups and folds[i] is Fold.SOME]
        costs = [counts[i] * (height - heights[i]) for i in mine]
        if "gpu" in groups or "counter" in groups:  # heights are compared: all or none
            mine = mine if sum(costs) <= left else []
        for lane, cost in zip(mine, costs, strict=False):
            if cost <= left:
                left -= cost
                heights[lane] = height
    return heights


class _Fixed(int):
    """So many rows, whatever there is room for."""


def _depths_of(lane: ShownLane, fold: Fold | int, rows: int, skip: int) -> range:
    """Which rows of a lane are on the screen; so many of one that shows some."""
    if isinstance(fold, Fold):
        return lane.shown_depths(fold, rows, skip)
    first = min(lane.first_row + skip, max(lane.depth - fold, 0))
    return range(first, min(first + fold, lane.depth))


def _lines_by_row(depths: range, fold: Fold | int) -> list[int]:
    """How many lines each row has: more than one where the user wants more than there are rows."""
    if isinstance(fold, Fold) or fold <= len(depths) or not depths:
        return [1] * len(depths)
    lines = min(int(fold), len(depths) * MOST_LINES)
    return [lines // len(depths) + (place < lines % len(depths)) for place in range(len(depths))]


def _line_count(lane: ShownLane, fold: Fold | int, rows: int, skip: int) -> int:
    return sum(_lines_by_row(_depths_of(lane, fold, rows, skip), fold))


def _dealt_rows(
    lanes: tuple[ShownLane, ...],
    folds: list[Fold | int],
    lines: int,
    used: tuple[int, ...],
    skips: list[int],
) -> list[int]:
    """Rows that each lane gets: the usual ones, then more dealt round while any are left."""
    some = [index for index, fold in enumerate(folds) if fold is Fold.SOME]
    wish = [max(lane.most_rows - skips[i], 1) for i, lane in enumerate(lanes)]

    def left_by(rows: list[int]) -> int:
        counts = (_line_count(lane, folds[i], rows[i], skips[i]) for i, lane in enumerate(lanes))
        return lines - sum(counts)

    if used and left_by(wish) < 0:
        wish = [
            min(max(rows - skip, 1), most)
            for rows, most, skip in zip(used, wish, skips, strict=True)
        ]
    dealt = [min(FOLDED_ROWS[lane.group], wish[i]) for i, lane in enumerate(lanes)]
    left = left_by(dealt)
    # Threads that only wait get more only once all others have what they need.
    little = {index for index in some if dealt[index] < wish[index] and lanes[index].says_little}
    for last in (False, True):
        wanting = [i for i in some if dealt[i] < wish[i] and (i in little) is last]
        while left > 0 and wanting:
            for index in wanting[:left]:
                dealt[index] += 1
                left -= 1
            wanting = [index for index in wanting if dealt[index] < wish[index]]
    return dealt
