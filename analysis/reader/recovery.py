"""Picks the events out of damaged text one by one, and says what is lost."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, decode_loose
from whichlayer.analysis.reader.repair import Repaired, versions
from whichlayer.analysis.reader.structure import SEPARATORS

_KEYS = rb'\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|id2|bp|s|tts|tdur|cname)"\s*:'
# An event begins with one of its usual keys, and never after a colon or an opening bracket.
_START = re.compile(rb"(?<![:\[\s])\s*(" + _KEYS + rb")")
_CLOSE = re.compile(rb'\}\s*(\])(?=\s*(?:,\s*"|\}|\Z))')
_CLOSE_NOT_LAST = re.compile(rb"\]\s*,?\s*" + _KEYS)
_PHASE = re.compile(rb'"ph"\s*:')

#: Later starts that an event may reach over, since a nested object can look like one.
_REACH = 4

_VALUES = json.JSONDecoder(strict=False)
_BRACE, _BRACKET_CLOSE = ord("{"), ord("]")


@dataclass(frozen=True, slots=True)
class Loss:
    """Events that could not be read: where the first begins, why, and how many."""

    offset: int
    reason: str
    count: int = 1


@dataclass(slots=True)
class Recovery:
    """What damaged text still gave.

    Attributes:
        events: the events, in order.
        spans: (start, end) of each in the text.
        losses: what is gone.
        repaired: how many spots were repaired.
        consumed: how much of the text is dealt with; what follows is a closing bracket, or
            an event that the end of the text cuts, or nothing.
    """

    events: list[Event] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    repaired: int = 0
    consumed: int = 0


def closes_array(text: bytes, at: int = 0) -> bool:
    """Whether the bracket at a position ends the array of events.

    A bracket in damaged text may be a flipped comma: what ends the array is not followed by
    another event.
    """
    return not _CLOSE_NOT_LAST.match(text, at)


def recover_events(text: bytes) -> Recovery:
    """Reads what can be read of damaged text that begins between two events of an array."""
    result = Recovery()
    starts = [found.start(1) for found in _START.finditer(text)]
    at = 0
    while True:
        while at < len(text) and text[at] in SEPARATORS:
            at += 1
        result.consumed = at
        if at == len(text):
            return result
        if text[at] == _BRACKET_CLOSE:
            if closes_array(text, at):
                return result
            at += 1
            continue
        later = bisect_right(starts, at)
        limits = [*starts[later : later + _REACH], len(text)][:_REACH]
        end = _take(text, at, limits, result)
        if end < 0:
            end = limits[0]
            close = _close_within(text, at, end)
            if close < 0 and end == len(text):
                return result
            end = close if close >= 0 else end
            lost = len(_PHASE.findall(text, at, end))
            if lost or text[at] == _BRACE:
                result.losses.append(Loss(at, _reason(text[at:end]), max(lost, 1)))
        at = end


def read_event(version: Repaired) -> Event | None:
    """One event from its own text."""
    try:
        (event,) = decode_loose(b"[%b]" % version.text)
    except DECODE_ERRORS:
        return None
    return event


def _take(text: bytes, at: int, limits: list[int], result: Recovery) -> int:
    """Reads the event at a position into the result and returns its end, or -1.

    An object without a phase is taken only where it is empty or nothing else is left: damage
    makes nested objects look like events.
    """
    for limit in limits:
        length = _value_length(text[at:limit])
        if length < 0:
            continue
        for version in versions(text[at : at + length]):
            event = read_event(version)
            if event is not None and (event.ph or length <= len(b"{}")):
                return _append(result, event, at, at + length, version.spots)
    for version in versions(text[at : limits[0]]):
        length = _value_length(version.text) if version.spots else -1
        rest = version.text[length:]
        if length > 0 and not rest.strip(SEPARATORS).strip(b"]"):
            event = read_event(Repaired(version.text[:length], version.spots))
            if event is not None and event.ph:
                return _append(result, event, at, limits[0] - len(rest), version.spots)
    return -1


def _append(result: Recovery, event: Event, start: int, end: int, spots: int) -> int:
    result.events.append(event)
    result.spans.append((start, end))
    result.repaired += spots
    return end


def _close_within(text: bytes, at: int, end: int) -> int:
    """Where the array's closing bracket is behind its last event, which is damaged; else -1."""
    for found in _CLOSE.finditer(text, at, end):
        if not _PHASE.search(text, found.end()):
            return found.start(1)
    return -1


def _value_length(text: bytes) -> int:
    """How long the JSON value at the beginning of the text is, -1 if there is none."""
    try:
        # Latin-1 keeps one character per byte; only the length is wanted.
        _, end = _VALUES.raw_decode(text.decode("latin-1"))
    except (ValueError, RecursionError):
        return -1
    return end


def _reason(text: bytes) -> str:
    try:
        decode_loose(b"[%b]" % text.rstrip(SEPARATORS))
    except RecursionError:
        return "it is nested too deeply"
    except DECODE_ERRORS as error:
        return str(error).split(" (byte")[0].removeprefix("JSON is malformed: ")
    return "it is no event"
