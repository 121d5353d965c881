"""Which family has the most time in a cell that several slices share.

The time of each family is known before every eighth slice; what is between that and an edge of a
cell is added, where it may matter. Cells with few slices are added up directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from whichlayer.tui.frame_search import Stack
    from whichlayer.tui.raster import Row

Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
Places = NDArray[np.intp]

#: Slices of one block of which the time by family is known.
BLOCK = 8
_SHIFT = 3

#: Slices between an edge and the nearest block, and one more.
_NEAR = np.arange(BLOCK // 2 + 1)

#: Up to so many slices for each cell are added up one by one: the blocks would take longer.
_FEW = 6

#: More families than there are, a power of two.
_MOST_CODES = 64

#: Times below this are whole numbers of float64 even with the family in their lowest bits.
_LONG = 2**53 // _MOST_CODES


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of cells, and where each lies in every row: arrays of (rows, cells + 1).

    Attributes:
        time_ns: int64 (cells + 1,).
        begun: int64, how many slices of the row begin before.
        over: int64, for how long the slices that run across the edge go on.
        done: int64, busy time up to the end of all slices that begin before.
        held: int64, the slice that runs across the edge, as index into the row.
        latest, running: uint8, the families of the last slice that begins before, and of the one
            that runs across; in rows without overlaps these are the same.
    """

    time_ns: Int64
    begun: Int64
    over: Int64
    done: Int64
    held: Int64
    latest: UInt8
    running: UInt8

    @property
    def width_ns(self) -> Int64:
        """Length of each cell: int64 (cells,)."""
        return self.time_ns[1:] - self.time_ns[:-1]

    def take(self, rows: Places) -> Edges:
        """Those of some rows."""
        return Edges(
            self.time_ns, self.begun[rows], self.over[rows], self.done[rows], self.held[rows],
            self.latest[rows], self.running[rows],
        )  # fmt: skip


def commonest(stack: Stack, edges: Edges, count: Int64, family: UInt8) -> None:
    """Put the family with the most time into the cells that several slices share.

    Where several have the same time it is the one with the lowest code; what takes no time at
    all is left as it is.

    Args:
        stack: the rows; those of its rows that are plain are spoken of.
        edges: of their cells.
        count: int64 (rows, cells), slices in each cell.
        family: uint8 (rows, cells), written to.
    """
    crowded = count > 1
    mixed = crowded.any(axis=1) & stack.mixed
    if not mixed.any():
        return
    for y in stack.overlapping:
        if mixed[y]:
            row, mixed[y] = stack.plain[y], False
            until = np.stack([row.family_until(code, edges.time_ns) for code in row.codes.tolist()])
            times = np.diff(until, axis=1).astype(np.float64)
            _put(times, Codes([row]), crowded[y], family[y])
    places = np.flatnonzero(mixed)
    if not len(places):
        return
    in_sight = int((edges.begun[:, -1] - edges.begun[:, 0])[places].sum())
    put = _add_up if in_sight <= _FEW * len(places) * count.shape[1] else _between_blocks
    if len(places) == len(mixed):
        put(stack, places, edges, crowded, family)
        return
    mine = family[places]
    put(stack, places, edges.take(places), crowded[places], mine)
    family[places] = mine


class Codes:
    """The families that some rows have, numbered without gaps.

    Attributes:
        codes: uint8, ascending.
        number: intp (256,), the number of each code.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        """Take the rows."""
        used = np.zeros(256, np.bool_)
        for row in rows:
            used[row.codes] = True
        self.codes = np.flatnonzero(used).astype(np.uint8)
        self.number = np.zeros(256, np.intp)
        self.number[self.codes] = np.arange(len(self.codes))
        #: What makes of a time times 64 a number that tells whose time it is.
        self.mark = np.arange(_MOST_CODES - 1, _MOST_CODES - 1 - len(self.codes), -1)

    def __len__(self) -> int:
        return len(self.codes)

    def winners(self, greatest: Int64) -> UInt8:
        """The families whose marks stand in the lowest bits of the greatest times."""
        return self.codes.take(_MOST_CODES - 1 - (greatest & (_MOST_CODES - 1)), mode="clip")


def _put(times: Float64, codes: Codes, crowded: Bool | np.bool_, family: UInt8) -> None:
    """Put the winner into crowded cells: times (codes, cells), the others (cells,)."""
    if times.max() < _LONG:
        # The lowest bits tell whose time it is, so that one search for the greatest says both.
        times *= _MOST_CODES
        times += codes.mark[:, None]
        greatest = times.max(axis=0).astype(np.int64)
        winner, some = codes.winners(greatest), greatest >= _MOST_CODES
    else:
        winner, some = codes.codes[times.argmax(axis=0)], times.max(axis=0) > 0
    some &= crowded
    np.copyto(family, winner, where=some)


def _add_up(
    stack: Stack, places: Places, edges: Edges, crowded: Bool, family: UInt8
) -> None:  # fmt: skip
    """Put the winners of rows with few slices in sight: each of these is looked at."""
    rows, codes = stack.coloured(places)
    begun, over = edges.begun, edges.over
    bounds = list(zip(begun[:, 0].tolist(), begun[:, -1].tolist(), strict=True))
    pairs = list(zip(rows, bounds, strict=True))
    length = np.concatenate([row.end_ns[a:b] for row, (a, b) in pairs])
    length -= np.concatenate([row.start_ns[a:b] for row, (a, b) in pairs])
    started = (begun[:, 1:] - begun[:, :-1]).reshape(-1)
    cells = len(started)
    number_of = codes.number * cells
    number = number_of.take(np.concatenate([row.family[a:b] for row, (a, b) in pairs]))
    number += np.arange(cells).repeat(started)
    # Of no slices it is whole numbers.
    sums: Float64 = np.asarray(
        np.bincount(number, weights=length, minlength=len(codes) * cells), np.float64
    )
    # What runs across an edge is of the cell in which it began up to there, and then of the next.
    across = np.flatnonzero(over)
    row, edge = np.divmod(across, over.shape[1])
    cell = across - row  # that to the right of the edge
    rest = over.reshape(-1).take(across)
    into, inner = np.minimum(rest, edges.width_ns.take(edge, mode="clip")), edge < over.shape[1] - 1
    at = number_of.take(edges.running.reshape(-1).take(across))[inner] + cell[inner]
    sums[at] += into[inner]
    began = np.flatnonzero((edge > 0) & (started.take(cell - 1) > 0))
    at = number_of.take(edges.latest.reshape(-1).take(across[began])) + cell[began] - 1
    sums[at] -= rest[began]
    _put(sums.reshape(len(codes), cells), codes, crowded.reshape(-1), family.reshape(-1))


def _between_blocks(
    stack: Stack, places: Places, edges: Edges, crowded: Bool, family: UInt8
) -> None:  # fmt: skip
    """Put the winners of rows with many slices in sight.

    What is known of the blocks before two edges tells the winner of most cells between them; the
    slices between an edge and its block are looked at where others might win.
    """
    rows, codes = stack.coloured(places)
    block = (edges.begun + BLOCK // 2) >> _SHIFT
    known = _known(rows, block, codes)
    # So much more or less may be of any family before an edge.
    spare = np.abs(edges.done - known.sum(axis=0))
    spare += edges.over
    times = known[:, :, 1:] - known[:, :, :-1]
    left_open = crowded
    if times.max() < _LONG:
        times *= _MOST_CODES
        times += codes.mark[:, None, None]
        greatest = times.max(axis=0)
        spare *= _MOST_CODES
        least = greatest - spare[:, 1:]
        least -= spare[:, :-1]
        sure = np.add.reduce(times >= least, axis=0, dtype=np.uint8) == 1
        sure &= least >= _MOST_CODES
        sure &= crowded
        np.copyto(family, codes.winners(greatest), where=sure)
        left_open = crowded & ~sure
    cells = np.flatnonzero(left_open)
    if not len(cells):
        return
    left = cells + cells // left_open.shape[1]
    needed = np.zeros(block.size, np.bool_)
    needed[left] = needed[left + 1] = True
    at = np.flatnonzero(needed)
    flat = known.reshape(len(codes), -1).take(at, axis=1)
    before = _before(stack, places, edges, block.reshape(-1).take(at), flat, at, codes)
    here = at.searchsorted(left)
    mine = family.reshape(-1)[cells]
    _put(before.take(here + 1, axis=1) - before.take(here, axis=1), codes, np.True_, mine)
    family.reshape(-1)[cells] = mine


def _known(rows: Sequence[Row], block: Int64, codes: Codes) -> Int64:
    """Time by family before the block of each edge: int64 (codes, rows, edges)."""
    known = np.zeros((*block.shape, len(codes)), np.int64)
    for y, row in enumerate(rows):
        blocks = row.family_blocks()
        if blocks.shape[1] == len(codes):
            blocks.take(block[y], axis=0, out=known[y], mode="clip")
        else:
            known[y][:, codes.number[row.codes]] = blocks.take(block[y], axis=0)
    return np.ascontiguousarray(known.transpose(2, 0, 1))


def _before(
    stack: Stack,
    places: Places,
    edges: Edges,
    block: Int64,
    known: Int64,
    at: Places,
    codes: Codes,
) -> Float64:
    """Time by family before some edges.

    Args:
        stack: all rows.
        places: which of them the edges are of.
        edges: all of them.
        block: int64 (n,), the block that is nearest to each.
        known: int64 (codes, n), the time by family before that block.
        at: intp (n,), which edges, counted row after row, ascending.
        codes: of the rows.

    Returns:
        float64 (codes, n).
    """
    row = places[at // edges.begun.shape[1]]
    begun = edges.begun.reshape(-1).take(at)
    first = np.minimum(block << _SHIFT, stack.length.take(row))
    count = begun - first
    np.minimum(first, begun, out=first)
    busy = stack.busy_before.take_from(row, first, _NEAR)
    length = busy[:, 1:] - busy[:, :-1]
    # Slices behind the edge and before the block are taken away.
    length *= np.sign(count)[:, None] * (_NEAR[:-1] < np.abs(count)[:, None])
    number = (codes.number * len(at)).take(stack.family.take_from(row, first, _NEAR[:-1]))
    number += np.arange(len(at))[:, None]
    before = known.astype(np.float64)
    flat = before.reshape(-1)
    flat += np.bincount(number.reshape(-1), weights=length.reshape(-1), minlength=len(flat))
    over = edges.over.reshape(-1).take(at)
    across = np.flatnonzero(over)
    number_of = codes.number.take(edges.latest.reshape(-1).take(at.take(across)))
    flat[number_of * len(at) + across] -= over[across]
    return before
