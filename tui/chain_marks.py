"""A chain drawn on the timeline: its slices lit and underlined, launch and GPU work joined.

Where slices of it are out of sight, the labels of the first and the last line say where.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whichlayer.tui.chain_line import End, Ink, line_between, words_beside
from whichlayer.tui.counter_row import CounterRow
from whichlayer.tui.frame_runs import Painted
from whichlayer.tui.instant_lanes import InstantRow
from whichlayer.tui.palette import BLANK, BLANK_MARKED, CURSOR, bar_code, lit_code
from whichlayer.tui.raster import Row
from whichlayer.tui.viewport import Viewport

if TYPE_CHECKING:  # the first timeline waits for no chain
    from whichlayer.tui.chain import Chain, Link
    from whichlayer.tui.chain_places import Placed

Bool = NDArray[np.bool_]

#: Added to the style code of an underlined cell; of a cell of the joining line.
UNDERLINED, JOINED = 1 << 20, 1 << 21

#: So many slices of a row are marked even where it shows no others.
_FEW = 8

_PER_FAMILY = bar_code(1, 0) - bar_code(0, 0)


@dataclass(slots=True)
class LineMarks:
    """What is marked on one line.

    Attributes:
        cells: bool (cells,), those of slices of the chain; None for none.
        joins: characters of the joining line and its words, which bars hide.
        crosses: characters of the line that take a cell of a bar.
        beyond: what of the chain is out of sight beyond this line, from the longest to the
            shortest way to say it; for the line's label.
    """

    cells: Bool | None = None
    joins: dict[int, str] = field(default_factory=dict)
    crosses: dict[int, str] = field(default_factory=dict)
    beyond: tuple[str, ...] = ()

    def same(self, other: LineMarks | None) -> bool:
        """Whether a line would look the same."""
        if other is None or self.beyond != other.beyond:
            return False
        if (self.joins, self.crosses) != (other.joins, other.crosses):
            return False
        if self.cells is None or other.cells is None:
            return self.cells is other.cells
        return bool((self.cells == other.cells).all())


@dataclass(frozen=True, slots=True)
class InSight:
    """What a chain is drawn over.

    Attributes:
        lines: the lines in sight, from top to bottom.
        rows: what each of them shows.
        port: the visible span.
        idle: bool (lines, cells), where nothing is drawn.
        pinned: how many of the lines do not scroll.
    """

    lines: Sequence[int]
    rows: Sequence[Row]
    port: Viewport
    idle: Bool
    pinned: int = 0

    def height(self, lines: Sequence[int], other: int = -1) -> int:
        """Where the nearest of a row's lines is, seen from another height; past the edge if none.

        -1 stands for above what scrolls, as many as there are lines for below.
        """
        heights = [y for y in map(self._height, lines) if 0 <= y < len(self.lines)]
        if heights:
            return min(heights, key=lambda y: abs(y - other))
        return self._height(lines[0])

    def _height(self, line: int) -> int:
        place = bisect_left(self.lines, line)
        if place < len(self.lines) and self.lines[place] == line:
            return place
        return -1 if place <= self.pinned else len(self.lines)


def chain_marks(
    chain: Chain | None,
    sight: InSight,
    here: int,
    places: Mapping[int, Placed],
    texts: Sequence[str] = (),
) -> dict[int, LineMarks]:
    """The marks of a chain by line.

    Args:
        chain: the chain, None for none.
        sight: what it is drawn over.
        here: the slice that the chain is of; it has the cursor and needs no other mark.
        places: the slices of the chain that have lines, in sight or not.
        texts: what is said beside the line that joins launch and work, the longest first.
    """
    if chain is None or not chain.links:
        return {}
    found = _members(chain, sight, here)
    pair = _joined_pair(chain)
    launch, work = (places.get(link.row) for link in pair) if pair else (None, None)
    if work is not None and not work.folded:
        if launch is None:
            _tell(found, sight, work, [f"{text} · launch hidden" for text in texts])
        elif launch.folded:  # no line: it would lead to a bar of another call
            _tell(found, sight, work, _folded_texts(launch, sight.port, texts))
        else:
            _join(found, sight, (launch, work), texts)
    for line, words in _beyond(chain, sight, places).items():
        found.setdefault(line, LineMarks()).beyond = words
    return found


def laid(painted: Painted, marks: LineMarks) -> Painted:
    """A painted line with its marks; codes from ``UNDERLINED`` on stand for other styles."""
    glyphs, codes = painted.glyphs.copy(), painted.codes.copy()
    if marks.cells is not None:
        bars = marks.cells & (codes >= bar_code(0, 0))
        bodies = bars & ((codes - bar_code(0, 0)) % _PER_FAMILY < 2)
        family = (codes - bar_code(0, 0)) // _PER_FAMILY
        codes[bodies] = lit_code(0) + family[bodies] * _PER_FAMILY
        codes[bars] += UNDERLINED
    for cell, char in (*marks.joins.items(), *marks.crosses.items()):
        if codes[cell] in (BLANK, BLANK_MARKED) and glyphs[cell] == ord(" "):
            glyphs[cell], codes[cell] = ord(char), codes[cell] + JOINED
        elif cell in marks.crosses and codes[cell] != CURSOR:
            glyphs[cell] = ord(char)
    return Painted(glyphs, codes)


def _members(chain: Chain, sight: InSight, here: int) -> dict[int, LineMarks]:
    """The cells of all slices of the chain, and of what was started inside the one at the cursor.

    Of a row that is several lines high they are marked on the first, which says what its bars are.
    """
    links = np.array([link.row for link in chain.links], np.int64)
    related = np.unique(np.concatenate((links, chain.started)).astype(np.int64))
    links, related = links[links != here], related[related != here]
    found: dict[int, LineMarks] = {}
    above: Row | None = None
    for line, row in zip(sight.lines, sight.rows, strict=True):
        if row is above or isinstance(row, CounterRow | InstantRow) or not len(row):
            continue
        above = row
        places = _places_of(row, related)
        if len(places) > _FEW and _are_all_in_sight(row, places, sight.port):
            places = _places_of(row, np.unique(links))  # what all are tells nothing of any
        cells = _cells_of(row, places, sight.port) if len(places) else None
        if cells is not None:
            found[line] = LineMarks(cells)
    return found


def _places_of(row: Row, slices: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where some slices stand in a row: those of them that do."""
    places = np.minimum(np.searchsorted(row.slices, slices), len(row) - 1)
    return np.asarray(places[row.slices[places] == slices])


def _are_all_in_sight(row: Row, places: NDArray[np.intp], port: Viewport) -> bool:
    """Whether a row shows no other slices than these."""
    shown = (row.start_ns < port.end_ns) & (row.end_ns > port.start_ns)
    shown[places] = False
    return not shown.any()


def _joined_pair(chain: Chain) -> tuple[Link, ...]:
    """The launch, and the GPU work at the foot."""
    launch = next((link for link in chain.links[:3] if link.word == "launch"), None)
    return (launch, chain.links[0]) if chain.foot >= 0 and launch is not None else ()


def _cells_of(row: Row, places: NDArray[np.intp], port: Viewport) -> Bool | None:
    """The cells that slices touch, None where they are out of sight."""
    edges = port.edges()
    low, high = row.start_ns[places], np.maximum(row.end_ns[places], row.start_ns[places] + 1)
    seen = (low < edges[-1]) & (high > edges[0])
    if not seen.any():
        return None
    first = np.clip(np.searchsorted(edges, low[seen], "right") - 1, 0, port.cells - 1)
    last = np.clip(np.searchsorted(edges, high[seen], "left") - 1, 0, port.cells - 1)
    steps = np.zeros(port.cells + 1, np.int64)
    np.add.at(steps, first, 1)
    np.add.at(steps, last + 1, -1)
    return np.asarray(np.cumsum(steps)[:-1] > 0)


def _join(
    found: dict[int, LineMarks],
    sight: InSight,
    pair: tuple[Placed, Placed],
    texts: Sequence[str],
) -> None:
    """Draw the line from the launch to the work."""
    launch, work = pair
    launch_y = sight.height(launch.lines, sight.height(work.lines))
    work_y = sight.height(work.lines, launch_y)
    # What is above the lines that scroll lies behind those that do not.
    skipped = sight.pinned if -1 in (launch_y, work_y) else 0
    if skipped and any(0 <= y < skipped for y in (launch_y, work_y)):
        return
    ends = [
        End(y - skipped if y >= 0 else y, *_cells(one, sight.port))
        for y, one in ((launch_y, launch), (work_y, work))
    ]
    if ends[0].last < 0:  # what is at the edge of its row now is another call
        texts = [f"◀ {text}" for text in texts]
    elif ends[0].first >= sight.port.cells:
        texts = [f"{text} ▶" for text in texts]
    ink = line_between(ends[0], ends[1], sight.idle[skipped:], texts)
    _put(found, sight, ink, skipped)


def _folded_texts(launch: Placed, port: Viewport, texts: Sequence[str]) -> list[str]:
    """What is said of a launch whose row has no line, and on which side of the screen it is."""
    before = "◀ " * (launch.end_ns <= port.start_ns)
    after = " ▶" * (launch.start_ns >= port.end_ns)
    return [f"{before}{text} · launch folded{after}" for text in texts]


def _tell(found: dict[int, LineMarks], sight: InSight, work: Placed, texts: Sequence[str]) -> None:
    """Say something beside GPU work that no line leads to."""
    heights = [sight.height((line,)) for line in work.lines]
    heights = [y for y in heights if 0 <= y < len(sight.lines)]
    if heights:
        first, last = _cells(work, sight.port)
        ink = words_beside(End(heights[-1], first, last), heights[0], sight.idle, texts)
        _put(found, sight, ink, 0)


def _put(found: dict[int, LineMarks], sight: InSight, ink: Ink, skipped: int) -> None:
    for (y, cell), char in ink.behind.items():
        found.setdefault(sight.lines[y + skipped], LineMarks()).joins[cell] = char
    for (y, cell), char in ink.before.items():
        found.setdefault(sight.lines[y + skipped], LineMarks()).crosses[cell] = char


def _cells(placed: Placed, port: Viewport) -> tuple[int, int]:
    first = port.cell_of(placed.start_ns)
    return first, max(port.cell_of(max(placed.end_ns - 1, placed.start_ns)), first)


def _beyond(
    chain: Chain, sight: InSight, places: Mapping[int, Placed]
) -> dict[int, tuple[str, ...]]:
    """What the edges say: which slices of the chain lie further up or down, and how far."""
    found: dict[int, tuple[str, ...]] = {}
    scrolled = sight.lines[sight.pinned :]
    if not scrolled:
        return found
    away = [
        (link, sight.height(places[link.row].lines), places[link.row].lines[0])
        for link in chain.links
        if link.row in places
    ]
    for edge, y, arrow in ((scrolled[0], -1, "▲"), (scrolled[-1], len(sight.lines), "▼")):
        words = [f"{link.word} {abs(line - edge)}" for link, height, line in away if height == y]
        if words:
            # The effect that is nearest the GPU is what is looked for above, causes below.
            first = words[0]
            shorter = [f"{arrow} {first}", f"{arrow}{first.partition(' ')[0]}", arrow]
            longest = f"{arrow} {', '.join(words)}"
            found[edge] = tuple(dict.fromkeys([longest, *shorter]))
    return found
