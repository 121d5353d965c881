"""Parts of idle pieces that have one cause each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Part:
    """Nanoseconds ``[start_ns, end_ns)``, a cause code, and the trace row that explains it.

    ``culprit`` is -1 where no slice does.
    """

    start_ns: int
    end_ns: int
    cause: int
    culprit: int


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of pieces, those of one piece in order of time.

    Attributes:
        piece: int64 (n,), which piece each is a part of.
        start_ns, end_ns: int64 (n,).
        cause: int32 (n,), cause codes.
        culprit: int32 (n,), the trace row that explains each, -1 where no slice does.
    """

    piece: Int64
    start_ns: Int64
    end_ns: Int64
    cause: Int32
    culprit: Int32

    def __len__(self) -> int:
        return len(self.piece)

    @classmethod
    def of(
        cls, piece: Int64, start: Int64, end: Int64, cause: int | Int32, culprit: int | Int32
    ) -> Parts:
        """Parts of which all may have one cause or culprit."""
        size = len(piece)
        return cls(
            piece,
            start,
            end,
            np.broadcast_to(np.asarray(cause, np.int32), size),
            np.broadcast_to(np.asarray(culprit, np.int32), size),
        )

    @classmethod
    def together(cls, each: Sequence[Parts]) -> Parts:
        """All of them by piece; those of one piece in the order given."""
        columns = [
            np.concatenate([np.empty(0, np.int64), *(parts.piece for parts in each)]),
            np.concatenate([np.empty(0, np.int64), *(parts.start_ns for parts in each)]),
            np.concatenate([np.empty(0, np.int64), *(parts.end_ns for parts in each)]),
        ]
        causes = np.concatenate([np.empty(0, np.int32), *(parts.cause for parts in each)])
        culprits = np.concatenate([np.empty(0, np.int32), *(parts.culprit for parts in each)])
        order = np.argsort(columns[0], kind="stable")
        piece, start, end = (column[order] for column in columns)
        return cls(piece, start, end, causes[order], culprits[order])

    def chosen(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Parts:
        """Some of the parts."""
        return Parts(
            self.piece[which],
            self.start_ns[which],
            self.end_ns[which],
            self.cause[which],
            self.culprit[which],
        )

    def replaced(self, by: Mapping[int, Sequence[Part]]) -> Parts:
        """The same, with some of them, by their place, cut into others."""
        keep = np.ones(len(self), np.bool_)
        keep[list(by)] = False
        left = self.chosen(keep)
        place = np.repeat(list(by), [len(parts) for parts in by.values()])
        new = np.array(
            [
                (part.start_ns, part.end_ns, part.cause, part.culprit)
                for parts in by.values()
                for part in parts
            ],
            np.int64,
        ).T
        both = Parts(
            np.concatenate((left.piece, self.piece[place])),
            np.concatenate((left.start_ns, new[0])),
            np.concatenate((left.end_ns, new[1])),
            np.concatenate((left.cause, new[2].astype(np.int32))),
            np.concatenate((left.culprit, new[3].astype(np.int32))),
        )
        return both.chosen(np.argsort(np.append(np.flatnonzero(keep), place), kind="stable"))

    def joined(self) -> Parts:
        """Neighbours of one piece and cause as one part; its culprit is that of the longest."""
        parts = self.chosen(self.end_ns > self.start_ns)
        if not len(parts):
            return parts
        piece, cause = parts.piece, parts.cause
        opens = np.concatenate(([True], (piece[1:] != piece[:-1]) | (cause[1:] != cause[:-1])))
        first = np.flatnonzero(opens)
        longest = first_largest(parts.end_ns - parts.start_ns, first)
        last = np.append(first[1:], len(parts)) - 1
        return Parts(
            piece[first], parts.start_ns[first], parts.end_ns[last], cause[first],
            parts.culprit[longest],
        )  # fmt: skip


def first_largest(values: Int64, first: NDArray[np.integer]) -> NDArray[np.intp]:
    """Where the largest value of each group stands, the first of equals.

    Args:
        values: int64 (n,), at least one for each group.
        first: where each group begins, ascending from 0.
    """
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(values))))
    hits = np.flatnonzero(values == np.maximum.reduceat(values, first)[group])
    mine = group[hits]
    return hits[np.concatenate(([True], mine[1:] != mine[:-1]))]
