"""Text that recurs from event to event, read once for all of them.

Calls of one operator on one thread have everything before their times in common to the last
character, and calls with equal inputs what stands between the numbers in their arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Final, Generic, TypeVar

import numpy as np

from whichlayer.analysis.reader.fingerprints import WIDTHS, Known
from whichlayer.analysis.trace.columns import Int32, Int64

#: Texts that are kept at most, their size in all, and that of one; where there are more, few recur.
_MOST, _MOST_BYTES, _LONGEST = 1 << 15, 1 << 24, 1 << 14

#: How many of some texts may be new, as a share, and beyond that in all: with more, to read them
#: one by one takes longer than to decode all of them together.
_NEW_SHARE, _MORE_NEW = 0.1, 1 << 12

_NEW: Final = -2

#: Stands for a text that is not what it should be.
ODD: Final = -1

Meaning = TypeVar("Meaning")


class TooMany(ValueError):
    """Hardly any of some texts recurs."""


class Recurring(Generic[Meaning]):
    """The texts seen so far.

    Args:
        read: tells what a text means, None where it is not what it should be.

    Attributes:
        meanings: of each text that has one, by its number.
    """

    def __init__(self, read: Callable[[bytes], Meaning | None]) -> None:
        self._read = read
        self._numbers: dict[bytes, int] = {}
        self._known = [Known(width) for width in WIDTHS]
        self.meanings: list[Meaning] = []
        self._more = _MORE_NEW
        self._size = 0

    @property
    def full(self) -> bool:
        """There are so many that it is better to begin anew."""
        return len(self._numbers) >= _MOST or self._size >= _MOST_BYTES

    def numbers(self, text: bytes, begin: Int64, end: Int64) -> Int32:
        """The number of every stretch of a text, ``ODD`` for those too long or without a meaning.

        Raises:
            TooMany: too many of them are new.
            ValueError, RecursionError: reading one has raised it.
        """
        length = end - begin
        found = np.where(length > _LONGEST, np.int32(ODD), np.int32(_NEW))
        least = -1
        for known in self._known:
            rows = np.flatnonzero((length > least) & (length <= known.width))
            least = known.width
            if len(rows) and known.count:
                found[rows] = known.find(text, begin[rows], length[rows])
        rows = np.flatnonzero(found == _NEW)
        if len(rows):
            found[rows] = self._look_up(cut(text, begin[rows], end[rows]), len(begin))
        return found

    def _look_up(self, texts: list[bytes], count: int) -> Int32:
        """The numbers of those of so many that are long or new, from which is learned."""
        numbers = self._numbers
        found = np.fromiter(map(numbers.get, texts, repeat(_NEW)), np.int32, len(texts))
        missing = np.flatnonzero(found == _NEW).tolist()
        if not missing:
            return found
        new = dict.fromkeys([texts[row] for row in missing])
        self._more -= max(len(new) - int(_NEW_SHARE * count), 0)
        if self._more < 0:
            raise TooMany
        for one in new:
            self._learn(one)
        found[missing] = [numbers[texts[row]] for row in missing]
        least = -1
        for known in self._known:
            known.add([one for one in new if least < len(one) <= known.width], numbers)
            least = known.width
        return found

    def _learn(self, text: bytes) -> None:
        meaning = self._read(text)
        self._size += len(text)
        if meaning is None:
            self._numbers[text] = ODD
        else:
            self._numbers[text] = len(self.meanings)
            self.meanings.append(meaning)


def cut(text: bytes, begin: Int64, end: Int64) -> list[bytes]:
    """Stretches of a text."""
    return list(map(text.__getitem__, map(slice, begin.tolist(), end.tolist())))


class Renumbered(Generic[Meaning]):
    """What recurring texts are among the tables of one collector.

    Args:
        texts: the texts.
        columns: gives the numbers of meanings in so many tables.
        count: how many these are.
    """

    def __init__(
        self,
        texts: Recurring[Meaning],
        columns: Callable[[list[Meaning]], Sequence[Sequence[int] | Int32]],
        count: int = 1,
    ) -> None:
        self.texts = texts
        self._columns = columns
        self._known: Int32 = np.full((count, 0), _NEW, np.int32)

    def of(self, number: Int32) -> Int32:
        """int32 (count, n): the number of each text in every table."""
        missing = len(self.texts.meanings) - self._known.shape[1]
        if missing:
            more = np.full((len(self._known), missing), _NEW, np.int32)
            self._known = np.concatenate((self._known, more), axis=1)
        new = number[self._known[0, number] == _NEW]
        if len(new):
            # In the order of the text, so that reading it in parts numbers them alike.
            some = list(dict.fromkeys(new.tolist()))
            self._known[:, some] = self._columns([self.texts.meanings[one] for one in some])
        return self._known[:, number]
