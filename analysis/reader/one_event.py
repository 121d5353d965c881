"""Single events in text that is damaged around them."""

from __future__ import annotations

import json
import re
from typing import Final

from whichlayer.analysis.reader.events import ABSENT, DECODE_ERRORS, Event, decode_loose
from whichlayer.analysis.reader.repair import Repaired, check_encoding, versions
from whichlayer.analysis.reader.window import Window

#: An event begins with one of its usual keys.
START: Final = re.compile(
    rb'\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|id2|bp|s|tts|tdur|cname)"\s*:'
)
_NESTED: Final = re.compile(rb"[\[:]\s*+(?=" + START.pattern + rb")")

#: A list of events, which no event has inside: what stands around it was not written to its end.
LIST: Final = re.compile(rb'"traceEvents"\s*+:\s*+\[\s*+(?=\{)')
_PHASE: Final = re.compile(rb'"ph"\s*+:\s*+"[A-Za-z(),]"')

#: Text on both sides of a phase that is looked at for the event that it is of.
_AROUND: Final = 1 << 14

#: Beginnings before a phase that are tried, phases that are, and nested events in lost text, lest
#: a file take forever.
_BEGINNINGS, _PHASES, _MOST_NESTED = 8, 200, 16

#: Largest event that is read beside damaged ones.
_LARGEST_READ: Final = 1 << 23

_STEP: Final = 1 << 20
_LONGEST_PHASE: Final = 1 << 8

_WHITE_SPACE: Final = b" \t\r\n"
_VALUES: Final = json.JSONDecoder(strict=False)


def read_event(version: Repaired) -> Event | None:
    """One event from its own text."""
    try:
        check_encoding(version.text)
        (event,) = decode_loose(b"[%b]" % version.text)
    except DECODE_ERRORS:
        return None
    return event


def value_length(text: bytes) -> int:
    """How long the JSON value at the beginning of the text is, -1 if there is none."""
    try:
        # Latin-1 keeps one character per byte; only the length is wanted.
        _, end = _VALUES.raw_decode(text[:_LARGEST_READ].decode("latin-1"))
    except (ValueError, RecursionError):
        return -1
    return end


def nested_event(text: bytes, begin: int, end: int) -> int:
    """Where between two places an event stands that looks nested, as a value or first in a list.

    Within damage it is what follows a piece of another event that was not written to its end.
    Nested objects have a phase at times, but no name and time beside it.

    Returns:
        Where it begins, -1 without one.
    """
    for number, found in enumerate(_NESTED.finditer(text, begin, end)):
        if number == _MOST_NESTED:
            break
        piece = text[found.end() : min(end, found.end() + _AROUND)]
        length = value_length(piece)
        event = read_event(Repaired(piece[:length], 0)) if length > 0 else None
        if event is not None and event.ph and event.name and event.ts is not ABSENT:
            return found.end()
    return -1


def event_starts(text: bytes) -> list[int]:
    """Where events seem to begin: with a usual key, and not as a value or first in a list."""
    first = {found.end() for found in LIST.finditer(text)}
    starts: list[int] = []
    for found in START.finditer(text):
        before = found.start() - 1
        while before >= 0 and text[before] in _WHITE_SPACE:
            before -= 1
        if before < 0 or text[before] not in b":[" or found.start() in first:
            starts.append(found.start())
    return starts


def find_first_event(window: Window) -> bool:
    """Moves a window to the first event in it, wherever that stands.

    Returns:
        False where the text has none.
    """
    seen = tried = 0
    while True:
        found = _PHASE.search(window.data, seen)
        if found is None:
            if window.ended:
                return False
            seen = max(0, len(window.data) - _LONGEST_PHASE)
            passed = max(0, seen - _AROUND)
            window.drop(passed)
            seen -= passed
            window.fill(len(window.data) + _STEP)
            continue
        window.fill(found.end() + _AROUND)
        tried += 1
        start = _beginning(window.data, found.start(), surely=tried < _PHASES)
        if start >= 0:
            window.drop(start)
            return True
        seen = found.end()


def _beginning(text: bytes, phase: int, *, surely: bool) -> int:
    """Where the event begins that a phase is of, -1 if that cannot be read though it must be."""
    before = START.finditer(text, max(0, phase - _AROUND), phase + _LONGEST_PHASE)
    starts = [found.start() for found in before if found.start() < phase]
    for start in starts[: -_BEGINNINGS - 1 : -1]:
        for version in versions(text[start : phase + _AROUND]):
            length = value_length(version.text)
            if length <= phase - start:
                continue
            event = read_event(Repaired(version.text[:length], version.spots))
            if event is not None and event.ph and (event.ts is not ABSENT or event.ph == "M"):
                return start
    if surely:
        return -1
    return starts[-1] if starts else phase
