"""Reads complete events from text that is laid out as Kineto writes it, line by line.

::

      {
        "ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
        "ts": 1661203462598.738, "dur": 19.250,
        "args": {
          "External id": 1, "Ev Idx": 0
        }
      },

The first line of an event recurs and is looked up, its times stand at known places, and so do
numbers before and behind what recurs of its arguments. Everything is checked: what is read so is
exactly what decoding the whole event gives. Events of another layout are decoded; where they are
most, or where anything is not as it should be, the text is left to those who decode all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from whichlayer.analysis.reader.complete import ArgumentTables, Complete
from whichlayer.analysis.reader.digits import MARGIN, Microseconds, Windows
from whichlayer.analysis.reader.events import DECODE_ERRORS, Event
from whichlayer.analysis.reader.heads import Heads
from whichlayer.analysis.reader.recurring import cut
from whichlayer.analysis.reader.repair import check_encoding
from whichlayer.analysis.reader.together import separate
from whichlayer.analysis.reader.vocabulary import VOCABULARY
from whichlayer.analysis.trace.columns import Bool, Int64

_BEGINNING: Final = b'{\n    "ph": "'
_BEFORE, _BEHIND = b"\n  ", b",\n  {\n" + bytes(MARGIN)


_OPENS, _CLOSES, _CLOSES_ARGUMENTS = b"  {\n", b"\n  },\n", b"    }\n  "
_TS, _DUR, _ARGS = b'    "ts": ', b', "dur": ', b',\n    "args": {\n'
_NEW_LINE, _BRACE = b"\n{"

#: Lines of an event before its arguments, and how many it has at least.
_HEAD, _TIMES, _ARGUMENTS, _FIRST = 1, 2, 3, 4
_FEWEST: Final = 7

#: The least share of complete events that is worth the trouble.
_WORTH: Final = 0.3

#: Text beyond this holds an event of megabytes, which is better decoded without more copies of it.
_LARGEST: Final = 1 << 22


class KinetoText:
    """Reads text chunk by chunk; what it has seen so far makes it faster, and no different."""

    def __init__(self) -> None:
        self._heads = Heads()
        self._arguments = ArgumentTables()

    def read(self, text: bytes | bytearray | memoryview) -> tuple[list[Event], Complete] | None:
        """The events of a chunk, the complete ones of Kineto's layout apart.

        Args:
            text: events, without separators before and behind them.

        Returns:
            Other events, and the complete ones. None where the text is not worth it, or not as
            it should be.
        """
        if len(text) > _LARGEST or bytes(text[: len(_BEGINNING)]) != _BEGINNING:
            return None
        if self._heads.full:
            self._heads = Heads()
        self._arguments.renew()
        lines = b"".join((_BEFORE, text, _BEHIND))
        try:
            check_encoding(lines)
            return self._read(lines)
        except DECODE_ERRORS:
            return None

    def _read(self, lines: bytes) -> tuple[list[Event], Complete] | None:
        """See :meth:`read`.

        Raises:
            ValueError, RecursionError: the text is not as it should be.
        """
        rows = _find_rows(lines)
        if rows is None:
            return None
        head = self._heads.numbers(lines, *rows.heads)
        if bool((head < 0).any()):
            return None
        kind = self._heads.kinds(head)
        arguments = self._arguments.read(kind, lines, *rows.arguments)
        others = cut(lines, *rows.others)
        text = b"[%b,\n0]" % b",\n0,\n".join(others) if others else b"[]"
        return separate(VOCABULARY.decode_apart(text), len(others)), Complete(
            row=rows.complete,
            other=rows.other,
            heads=self._heads,
            head=head,
            kind=kind,
            start_ns=rows.start_ns,
            end_ns=rows.end_ns,
            arguments=arguments,
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where the events of a text stand.

    Attributes:
        start: where each line starts.
        first, behind: of every event, its first line and the one behind its last.
        complete, other: events that are laid out as expected, and the others.
        start_ns, end_ns: of the complete ones.
        arguments: where their arguments begin and end.
    """

    start: Int64
    first: Int64
    behind: Int64
    complete: Int64
    other: Int64
    start_ns: Int64
    end_ns: Int64
    arguments: tuple[Int64, Int64]

    @property
    def heads(self) -> tuple[Int64, Int64]:
        """Where the first lines of the complete events begin and end."""
        first = self.first[self.complete]
        return self.start[first + _HEAD], self.start[first + _TIMES] - 1

    @property
    def others(self) -> tuple[Int64, Int64]:
        """Where the other events begin and end."""
        return self.start[self.first[self.other]], self.start[self.behind[self.other]] - 2


def _find_rows(lines: bytes) -> _Rows | None:
    """Finds the events in a text; None where it is not what it should be."""
    characters = np.frombuffer(lines, np.uint8)
    start = np.flatnonzero(characters == _NEW_LINE) + 1
    opens = np.flatnonzero(characters[start + 2] == _BRACE)
    opens = opens[characters[start[opens] + 3] == _NEW_LINE]
    opens = opens[Windows(lines, start[opens], 8).has(_OPENS)]
    first, behind = opens[:-1], opens[1:]
    if not len(first) or first[0] != 0 or opens[-1] != len(start) - 2:
        return None
    if not bool(Windows(lines, start[behind] - 8, 8).has(_CLOSES, 8 - len(_CLOSES)).all()):
        return None
    usual = np.flatnonzero(_usual(lines, start, first, behind))
    if len(usual) < _WORTH * len(first):
        return None
    at = start[first[usual] + _TIMES]
    windows = Windows(lines, at, 32)
    plain = windows.has(_TS)
    begin = Microseconds.read(lines, windows, at, len(_TS))
    windows = Windows(lines, begin.end, 32)
    plain &= begin.plain & windows.has(_DUR)
    length = Microseconds.read(lines, windows, begin.end, len(_DUR))
    plain &= length.plain & Windows(lines, length.end, 16).has(_ARGS)
    plain &= length.end + 2 == start[first[usual] + _ARGUMENTS]
    if not bool(plain.any()):
        return None
    complete = usual[plain]
    other = np.ones(len(first), np.bool_)
    other[complete] = False
    start_ns = begin.ns[plain]
    return _Rows(
        start=start,
        first=first,
        behind=behind,
        complete=complete,
        other=np.flatnonzero(other),
        start_ns=start_ns,
        end_ns=start_ns + length.ns[plain],
        arguments=(start[first[complete] + _FIRST], start[behind[complete] - 2] - 1),
    )


def _usual(lines: bytes, start: Int64, first: Int64, behind: Int64) -> Bool:
    """Which events have so many lines, and end as those with arguments do."""
    last = start[np.maximum(behind - 2, 0)]
    usual: Bool = (behind - first >= _FEWEST) & Windows(lines, last, 8).has(_CLOSES_ARGUMENTS)
    return usual
