"""Where a recording begins behind other text: lines of a log, or an object around it."""

from __future__ import annotations

import re
from typing import Final

from whichlayer.analysis.reader.patterns import STRING, WORD, container
from whichlayer.analysis.reader.structure import ValueScan

_LIST: Final = re.compile(rb'"traceEvents"\s*+:\s*+\[')
_PHASE: Final = re.compile(rb'"ph"\s*+:')
_OBJECT: Final = re.compile(rb'\{(?=\s*+")')
_SEPARATORS: Final = re.compile(rb"[\s,]*+")
_KEY: Final = re.compile(STRING + rb"\s*+:\s*+", re.DOTALL)
_SMALL_VALUE: Final = re.compile(
    rb"(?:" + STRING + rb"|" + container(3) + rb"|" + WORD + rb")(?=[,}\]\s])", re.DOTALL
)

#: Text in which a recording's beginning is looked for; beginnings and lists of events that are
#: tried, and keys of each, lest a file that is no trace take forever.
LOOKED_AT: Final = 1 << 20
_BEGINNINGS, _LISTS, _KEYS = 20_000, 4, 1000

#: Text that is looked at in vain for the ends of long values.
_IN_VAIN: Final = 1 << 24

#: How a recording, or a list of events, begins; other text is a line of a log.
_USUAL: Final = re.compile(rb'\s*+(?:\{\s*+(?:["}]|\Z)|\[\s*+(?:[\[\]{",]|\Z)|\Z)')


def begins_usually(text: bytes) -> bool:
    """Whether text begins as a recording does.

    >>> [begins_usually(text) for text in (b'{"traceEvents"', b"[{", b"[INFO] x", b"WARNING")]
    [True, True, False, False]
    """
    return _USUAL.match(text) is not None


def find_recording(
    text: bytes, begin: int = 0, end: int | None = None, *, first: bool = True
) -> int:
    """Where the object begins that the first list of events is of, -1 if that is not known.

    Its keys are read from the brace to the list, so that none in a log can be taken for it.

    Args:
        text: anything.
        begin: where to look from.
        end: where the list has begun at the latest.
        first: no event may come before.
    """
    end = len(text) if end is None else end
    tried = in_vain = 0
    for _, found in zip(range(_LISTS), _LIST.finditer(text, begin, end), strict=False):
        if first and _PHASE.search(text, begin, found.start()):
            return -1
        for opening in _OBJECT.finditer(text, begin, found.start() + 1):
            tried += 1
            if tried > _BEGINNINGS or in_vain > _IN_VAIN:
                return -1
            reached, passed = _leads_to(text, opening.end(), found.start())
            if reached:
                return opening.start()
            in_vain += passed
    return -1


def _leads_to(text: bytes, at: int, place: int) -> tuple[bool, int]:
    """Whether there are just keys with values from here to a place.

    Returns:
        That, and in how much text ends of long values were looked for.
    """
    passed = 0
    for _ in range(_KEYS):
        separators = _SEPARATORS.match(text, at)
        at = separators.end() if separators else at
        key = _KEY.match(text, at, place) if at < place else None
        if key is None:
            return at == place, passed
        begin = key.end()
        value = _SMALL_VALUE.match(text, begin, place)
        if value is None and text[begin : begin + 1] not in (b"{", b"["):
            return False, passed
        if value is None:
            passed += place - begin
            length = ValueScan().feed(text[begin:place])
            if length < 0:
                return False, passed
        at = value.end() if value else begin + length
    return False, passed
