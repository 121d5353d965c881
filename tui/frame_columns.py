"""Columns of several rows, looked up in all of the rows by one call where they share memory.

A call of NumPy takes longer than the look-up of the few cells of one row. Streams of a trace lie
one behind the other in its columns, so that what they need is found at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Places = NDArray[np.intp]
Scalar = TypeVar("Scalar", bound=np.generic)

#: Values of one piece of memory that several rows share.
_PIECE = 1 << 22

#: Columns longer than this have memory of their own.
_LARGE = _PIECE // 4


@dataclass(frozen=True, slots=True)
class Run(Generic[Scalar]):
    """Rows that follow on one another and lie in the same memory.

    Attributes:
        first, stop: the first of the rows, and the last + 1.
        flat: all of that memory from the first value of any of them to the last.
    """

    first: int
    stop: int
    flat: NDArray[Scalar]


class Column(Generic[Scalar]):
    """One column of several rows.

    Attributes:
        runs: the memory that it lies in.
        offset: intp (rows, 1), where each row begins in the memory of its run.
    """

    def __init__(self, parts: Sequence[NDArray[Scalar]]) -> None:
        """Take the column of each row, from top to bottom; none of them empty."""
        self.offset = np.zeros((len(parts), 1), np.intp)
        self.runs: list[Run[Scalar]] = []
        first = 0
        while first < len(parts):
            base, stop = _memory_of(parts[first]), first + 1
            while base is not None and stop < len(parts) and _memory_of(parts[stop]) is base:
                stop += 1
            self.runs.append(Run(first, stop, self._joined(parts[first:stop], first, base)))
            first = stop

    def _joined(
        self, parts: Sequence[NDArray[Scalar]], first: int, base: NDArray[Any] | None
    ) -> NDArray[Scalar]:
        if base is None or len(parts) == 1:
            return parts[0]
        begins = [_address(part) for part in parts]
        low, size = min(begins), parts[0].itemsize
        if any((begin - low) % size for begin in begins):
            raise AssertionError("values of one column lie askew")
        high = max(begin + part.nbytes for begin, part in zip(begins, parts, strict=True))
        self.offset[first : first + len(parts), 0] = [(begin - low) // size for begin in begins]
        return np.ndarray(
            ((high - low) // size,), parts[0].dtype, buffer=base, offset=low - _address(base)
        )

    def take(self, index: Places) -> NDArray[Scalar]:
        """Values by row: intp (rows, n), places in each of the rows, to an array of that shape."""
        if len(self.runs) == 1:
            return self.runs[0].flat.take(index + self.offset, mode="clip")
        found = np.empty(index.shape, self.runs[0].flat.dtype)
        for run in self.runs:
            mine = slice(run.first, run.stop)
            at = index[mine] + self.offset[mine] if run.stop > run.first + 1 else index[mine]
            run.flat.take(at, out=found[mine], mode="clip")
        return found

    def take_from(self, rows: Places, first: Places, steps: Places) -> NDArray[Scalar]:
        """Values of some rows: intp (n,), which, ascending, and from where on; (k,) how far."""
        index = (first + self.offset.take(rows))[:, None] + steps
        if len(self.runs) == 1:
            return self.runs[0].flat.take(index, mode="clip")
        found = np.empty(index.shape, self.runs[0].flat.dtype)
        bounds = rows.searchsorted([run.first for run in self.runs] + [self.runs[-1].stop]).tolist()
        for run, low, high in zip(self.runs, bounds, bounds[1:], strict=False):
            if high > low:
                run.flat.take(index[low:high], out=found[low:high], mode="clip")
        return found


def _memory_of(part: NDArray[Any]) -> NDArray[Any] | None:
    """The array whose memory a column lies in; None where it cannot be looked up as a whole."""
    if part.strides != (part.itemsize,):
        return None
    base = part
    while isinstance(base.base, np.ndarray):
        base = base.base
    aligned = (_address(part) - _address(base)) % part.itemsize == 0
    return base if base.flags.c_contiguous and aligned else None


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


class Memory(Generic[Scalar]):
    """Room for columns of several rows, side by side so that they can be looked up together."""

    def __init__(self, dtype: type[Scalar]) -> None:
        """Nothing is taken."""
        self._lock = Lock()  # rows are made by several threads
        self._piece = np.empty(0, dtype)
        self._used = 0

    def room(self, count: int) -> NDArray[Scalar]:
        """An array of so many values, whatever they are."""
        if count > _LARGE:
            return np.empty_like(self._piece, shape=count)
        with self._lock:
            if self._used + count > len(self._piece):
                self._piece, self._used = np.empty_like(self._piece, shape=_PIECE), 0
            self._used += count
            return self._piece[self._used - count : self._used]

    def kept(self, column: NDArray[Scalar]) -> NDArray[Scalar]:
        """A column, moved here where nothing else lies in its memory."""
        if column.base is not None or not 0 < len(column) <= _LARGE:
            return column
        room = self.room(len(column))
        room[:] = column
        return room
