"""What stands at the edges of the timeline where rows are out of sight above or below it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.segment import Segment

from whichlayer.analysis.report.units import count_text
from whichlayer.tui.lanes import ShownRow
from whichlayer.tui.widgets.pane import shortened

#: A label that ends in how many rows of its lane are folded away.
_FOLDED = re.compile(r"(.*?) *(\+\d+) $")

#: Cells of a title that still tell a lane, the mark of the cursor before it included.
_LEAST_TITLE = 6


def edge_texts(rows: Sequence[ShownRow], first: int, stop: int, mark: str) -> tuple[str, ...]:
    """How many rows are out of sight, from the longest text to the shortest; empty for none.

    Args:
        rows: all lines.
        first: the first line out of sight at this edge.
        stop: the last of them + 1.
        mark: points to them.

    >>> edge_texts([ShownRow(0, depth, not depth, 0) for depth in range(5)], 2, 5, "▼")
    ('▼ 3 rows', '▼3', '▼')
    """
    # A row of several lines that is cut counts: not all of it can be seen.
    count = len({(row.lane, row.depth) for row in rows[first:stop]})
    return (f"{mark} {count_text(count, 'row')}", f"{mark}{count}", mark) if count else ()


def with_edge(label: Segment, texts: Sequence[str]) -> Segment:
    """A label that also tells what is out of sight; the last of the texts always has room.

    >>> with_edge(Segment(" CPU main       "), ["▼ 3 rows", "▼3", "▼"]).text
    ' CPU main    ▼3 '
    >>> with_edge(Segment(" python     +33 "), ["▼ 3 rows", "▼3", "▼"]).text
    ' python  +33 ▼3 '
    >>> with_edge(Segment(" CPU t161   "), ["▼ 51 rows", "▼51", "▼"]).text
    ' CPU t… ▼51 '
    """
    cells = len(label.text)
    found = _FOLDED.match(label.text)
    said, folded = (found[1].rstrip(), found[2] + " ") if found else (label.text.rstrip(), "")
    for text in texts[:-1]:
        room = cells - 1 - len(folded + text)
        if len(said) < room or (room > 0 and not said.strip()):
            return Segment(f"{said:<{room}}{folded}{text} ", label.style)
    short = texts[-2] if len(texts) > 1 else ""
    room = cells - 2 - len(folded + short)
    if short and room >= _LEAST_TITLE:
        return Segment(f"{shortened(said, room)} {folded}{short} ", label.style)
    return Segment(f"{label.text[: cells - 1]}{texts[-1]}"[:cells], label.style)
