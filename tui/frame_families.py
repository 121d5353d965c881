"""Which family has the most time in a cell that several slices share.

The time of each family before an edge is known for every eighth slice; what is between that and
the edge is added. Cells with few slices are added up directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from whichlayer.tui.raster import Row

Int64 = NDArray[np.int64]
UInt8 = NDArray[np.uint8]
Float64 = NDArray[np.float64]
Places = NDArray[np.intp]

#: Slices of one block of which the time by family is known.
BLOCK = 8
_SHIFT = 3

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


def commonest(rows: Sequence[Row], edges: Edges, count: Int64, family: UInt8) -> None:
    """Put the family with the most time into the cells that several slices share.

    Where several have the same time it is the one with the lowest code; what takes no time at
    all is left as it is.

    Args:
        rows: the rows.
        edges: of their cells.
        count: int64 (rows, cells), slices in each cell.
        family: uint8 (rows, cells), written to.
    """
    crowded = count > 1
    mixed = [y for y in np.flatnonzero(crowded.any(axis=1)).tolist() if len(rows[y].codes) > 1]
    spread = edges.begun[:, -1] - edges.begun[:, 0]
    most = _FEW * count.shape[1]
    few = [y for y in mixed if spread[y] <= most and rows[y].holder is None]
    many = [y for y in mixed if spread[y] > most and rows[y].holder is None]
    for chosen, times in ((few, _added_up), (many, _between_blocks)):
        if chosen:
            _put_winners([rows[y] for y in chosen], edges, np.array(chosen), times, crowded, family)
    for y in mixed:
        if rows[y].holder is not None:
            codes = rows[y].codes
            until = np.stack([rows[y].family_until(code, edges.time_ns) for code in codes.tolist()])
            times_of = np.diff(until, axis=1).astype(np.float64)
            _put(times_of, codes, crowded[y], family[y])


class _Codes:
    """The families that some rows have, numbered without gaps."""

    def __init__(self, rows: Sequence[Row]) -> None:
        used = np.zeros(256, np.bool_)
        for row in rows:
            used[row.codes] = True
        self.codes = np.flatnonzero(used).astype(np.uint8)
        self.number = np.zeros(256, np.intp)
        self.number[self.codes] = np.arange(len(self.codes))

    def __len__(self) -> int:
        return len(self.codes)


#: Time by family and cell: float64 (codes, rows * cells).
_Times = Callable[[Sequence["Row"], Edges, _Codes], Float64]


def _put_winners(
    rows: Sequence[Row], edges: Edges, places: Places, times: _Times, crowded: NDArray[np.bool_],
    family: UInt8,
) -> None:  # fmt: skip
    codes = _Codes(rows)
    part = Edges(
        edges.time_ns, edges.begun[places], edges.over[places], edges.done[places],
        edges.held[places], edges.latest[places], edges.running[places],
    )  # fmt: skip
    found = times(rows, part, codes)
    mine = family[places]
    _put(found, codes.codes, crowded[places].ravel(), mine.reshape(-1))
    family[places] = mine


def _put(times: Float64, codes: UInt8, crowded: NDArray[np.bool_], family: UInt8) -> None:
    """Put the winner into crowded cells: times (codes, cells), the others (cells,)."""
    if times.max() < _LONG:
        # The lowest bits tell whose time it is, so that one search for the greatest says both.
        times *= _MOST_CODES
        times += np.arange(_MOST_CODES - 1, _MOST_CODES - 1 - len(codes), -1.0)[:, None]
        greatest = times.max(axis=0).astype(np.int64)
        winner = codes.take(_MOST_CODES - 1 - (greatest & (_MOST_CODES - 1)), mode="clip")
        some = greatest >= _MOST_CODES
    else:
        winner, some = codes[times.argmax(axis=0)], times.max(axis=0) > 0
    some &= crowded
    np.copyto(family, np.where(some, winner, family))


def _added_up(rows: Sequence[Row], edges: Edges, codes: _Codes) -> Float64:
    """Time by family and cell: every slice in sight is looked at."""
    bounds = list(zip(edges.begun[:, 0].tolist(), edges.begun[:, -1].tolist(), strict=True))
    pairs = list(zip(rows, bounds, strict=True))
    start = np.concatenate([row.start_ns[a:b] for row, (a, b) in pairs])
    end = np.concatenate([row.end_ns[a:b] for row, (a, b) in pairs])
    number = codes.number.take(np.concatenate([row.family[a:b] for row, (a, b) in pairs]))
    started = (edges.begun[:, 1:] - edges.begun[:, :-1]).ravel()
    cells = len(started)
    number *= cells
    number += np.repeat(np.arange(cells), started)
    sums = np.bincount(
        number, weights=(end - start).astype(np.float64), minlength=len(codes) * cells
    )
    width = np.diff(edges.time_ns)
    over = edges.over
    # What runs across an edge is of the cell in which it began up to there, and then of the next.
    into = np.minimum(over[:, :-1], width).ravel()
    across = np.flatnonzero(into)
    sums[codes.number.take(edges.running[:, :-1].ravel()[across]) * cells + across] += into[across]
    beyond = (over[:, 1:]).ravel() * (started > 0)
    across = np.flatnonzero(beyond)
    sums[codes.number.take(edges.latest[:, 1:].ravel()[across]) * cells + across] -= beyond[across]
    return sums.reshape(len(codes), cells).astype(np.float64, copy=False)


def _between_blocks(rows: Sequence[Row], edges: Edges, codes: _Codes) -> Float64:
    """Time by family and cell: differences of what is known before each edge."""
    count, across = edges.begun.shape
    block = edges.begun >> _SHIFT
    index = (block << _SHIFT)[:, :, None] + np.arange(BLOCK + 1)
    before = np.empty(index.shape, np.int64)
    family = np.empty((count, across, BLOCK), np.uint8)
    known = np.zeros((len(codes), count, across))
    for y, row in enumerate(rows):
        known[codes.number[row.codes], y] = row.family_blocks().take(block[y], axis=0).T
        row.busy_before.take(index[y], out=before[y], mode="clip")
        row.family.take(index[y, :, :BLOCK], out=family[y], mode="clip")
    length = before[:, :, 1:] - before[:, :, :-1]
    length *= index[:, :, :BLOCK] < edges.begun[:, :, None]
    number = codes.number.take(family)
    number *= count * across
    number += np.arange(count * across).reshape(count, across, 1)
    flat = known.reshape(-1)
    flat += np.bincount(
        number.ravel(), weights=length.ravel().astype(np.float64), minlength=len(flat)
    )
    running = np.flatnonzero(edges.over)
    number_of = codes.number.take(edges.latest.ravel()[running])
    flat[number_of * (count * across) + running] -= edges.over.ravel()[running]
    return (known[:, :, 1:] - known[:, :, :-1]).reshape(len(codes), -1)
