"""What recurs of arguments, told from the numbers before and behind it that do not.

Kineto begins arguments with numbers of the event and of its place in a sequence, and ends them
with another number: what stands in between is the same for all calls with equal inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec
import numpy as np

from whichlayer.analysis.reader.arguments import detail_of
from whichlayer.analysis.reader.digits import Windows, read_integers
from whichlayer.analysis.reader.layouts import JOINS
from whichlayer.analysis.reader.recurring import Recurring
from whichlayer.analysis.trace.columns import Bool, Int64
from whichlayer.analysis.trace.kinds import SliceKind

#: Kinds whose arguments recur in this way.
FRAMED: Final = (SliceKind.CPU_OP, SliceKind.ANNOTATION, SliceKind.RUNTIME)

_FIRST: Final = b'      "External id": '
_NEXT: Final = (b'"Record function id": ', b'"Sequence number": ')
_CORRELATION: Final = b'"correlation": '
_INDEX: Final = b'"Ev Idx": '

_COMMA, _SPACE, _QUOTE, _ZERO = b', "0'

_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


@dataclass(frozen=True, slots=True)
class Frames:
    """The numbers around what recurs in arguments.

    Attributes:
        rows: int64 (n,), which arguments are of this form.
        begin, end: int64 (n,), where what recurs begins and ends.
        external_id: int64 (n,).
        correlation: int64 (n,), -1 without one.
    """

    rows: Int64
    begin: Int64
    end: Int64
    external_id: Int64
    correlation: Int64


class FramedDetails(Recurring[bytes]):
    """What recurs of the arguments of one kind, and the details that it holds."""

    def __init__(self, kind: SliceKind) -> None:
        super().__init__(partial(_detail, kind))


def _detail(kind: SliceKind, text: bytes) -> bytes | None:
    text = b"{%b}" % text
    if JOINS.keys() & _MEMBERS(text).keys():
        return None
    return detail_of(kind, msgspec.Raw(text))


def find_frames(text: bytes, begin: Int64, end: Int64) -> Frames:
    """Looks for the numbers around what recurs.

    Args:
        text: where the arguments stand.
        begin: where each one's begin, without the brace.
        end: where they end, the line with the closing brace not included.
    """
    windows = Windows(text, begin, 48)
    digits = windows.digits(len(_FIRST))
    rows = np.flatnonzero(windows.has(_FIRST) & windows.proper(len(_FIRST), digits))
    digits = digits[rows]
    at, end = begin[rows] + len(_FIRST) + digits, end[rows]
    external_id = read_integers(text, at, digits)
    at, more = _next(text, at, end)
    for name in _NEXT:
        here = np.flatnonzero(more & Windows(text, at, 24).has(name))
        if not len(here):
            continue
        windows = Windows(text, at[here] + len(name), 24)
        digits = windows.digits(0)
        proper = windows.proper(0, digits)
        here, digits = here[proper], digits[proper]
        behind = at[here] + len(name) + digits
        following, some = _next(text, behind, end[here])
        known = some | (behind == end[here])
        here = here[known]
        at[here], more[here] = following[known], some[known]
    last, number = _last(text, at, end)
    # What follows the first numbers begins with a key; if nothing does, the last ends them.
    quoted = (at < end) & (np.frombuffer(text, np.uint8)[at] == _QUOTE)
    usual = np.flatnonzero(np.where(more, quoted, at == end))
    at, end, more = at[usual], np.where(more, last, end)[usual], more[usual]
    number = np.where(more, number[usual], -1)
    return Frames(rows[usual], at, end, external_id[usual], number)


def _next(text: bytes, at: Int64, end: Int64) -> tuple[Int64, Bool]:
    """Where the next argument begins behind a number, and whether there is one."""
    characters = np.frombuffer(text, np.uint8)
    more = (characters[at] == _COMMA) & (at < end)
    return at + more + (more & (characters[at + 1] == _SPACE)), more


def _last(text: bytes, begin: Int64, end: Int64) -> tuple[Int64, Int64]:
    """Where the last argument begins, if it is a number that varies, and the correlation in it.

    The end, and -1, where there is none.
    """
    windows = Windows(text, end - 32, 32)
    digits = windows.digits_before_end()
    number = end - digits
    characters = np.frombuffer(text, np.uint8)
    proper = (digits > 0) & ((characters[number] != _ZERO) | (digits == 1))
    names = Windows(text, number - 16, 16)
    last, correlation = end.copy(), np.full(len(end), -1)
    for name in (_INDEX, _CORRELATION):
        here = np.flatnonzero(proper & names.has(name, 16 - len(name)))
        start = number[here] - len(name)
        comma = start - 1 - (characters[start - 1] == _SPACE)
        alone = start == begin[here]
        known = alone | ((characters[comma] == _COMMA) & (comma > begin[here]))
        here = here[known]
        last[here] = np.where(alone, start, comma)[known]
        if name == _CORRELATION:
            correlation[here] = read_integers(text, end[here], digits[here])
    return last, correlation
