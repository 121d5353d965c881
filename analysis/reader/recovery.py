"""Picks the events out of damaged text one by one, and says what is lost."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, decode_loose
from whichlayer.analysis.reader.repair import Repaired, versions
from whichlayer.analysis.reader.structure import SEPARATORS

# An event begins with one of its usual keys.
_START = re.compile(rb'\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|id2|bp|s|tts|tdur|cname)"\s*:')
_CLOSE = re.compile(rb'\}\s*(\])(?=\s*(?:,\s*"|\}|\Z))')
_PHASE = re.compile(rb'"ph"\s*:')

#: Later starts that an event may reach over, since a nested object can look like one.
_REACH = 4

#: Failures after which the rest of a text is read without repairs, lest a file that is no trace
#: take forever.
_TRIES = 500

#: Events are rarely longer than this.
_USUAL = 1 << 12

#: Largest damaged event that is repaired, and largest event that is read beside damaged ones.
_LARGEST_REPAIR, _LARGEST_READ = 1 << 20, 1 << 23

_VALUES = json.JSONDecoder(strict=False)
_WHITE_SPACE = b" \t\r\n"
_BRACKETS = b"[]"
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


def closes_array(text: bytes, at: int) -> bool:
    """Whether the bracket at a position ends the array of events.

    A bracket may be a flipped comma, or be left over: no event follows the one that ends it.
    """
    return not _PHASE.search(text, at)


def recover_events(text: bytes) -> Recovery:
    """Reads what can be read of damaged text that begins between two events of an array."""
    result = Recovery()
    tries = _TRIES
    starts = _event_starts(text)
    at = 0
    while True:
        while at < len(text) and text[at] in SEPARATORS:
            at += 1
        result.consumed = at
        if at == len(text):
            return result
        if text[at] in _BRACKETS:
            if text[at] == _BRACKET_CLOSE and closes_array(text, at):
                return result
            at += 1
            continue
        later = bisect_right(starts, at)
        reach = _REACH if tries > 0 else 1
        limits = [*starts[later : later + reach], len(text)][:reach]
        end = _take(text, at, limits, result)
        if end < 0 and tries > 0:
            end = _take_repaired(text, at, limits[0], result)
        if end < 0:
            tries -= 1
            end = _skip(text, at, limits[0], result, tries > 0)
        if end < 0:
            return result
        at = end


def _event_starts(text: bytes) -> list[int]:
    """Where events seem to begin: with a usual key, and not as a value or first in a list."""
    starts: list[int] = []
    for found in _START.finditer(text):
        before = found.start() - 1
        while before >= 0 and text[before] in _WHITE_SPACE:
            before -= 1
        if before < 0 or text[before] not in b":[":
            starts.append(found.start())
    return starts


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
    if text[at] != _BRACE:
        return -1
    if limits[0] - at > _USUAL:
        limits = [at + _USUAL, *limits]
    for limit in limits:
        length = _value_length(text[at:limit])
        if length < 0:
            continue
        for version in versions(text[at : at + length]):
            event = read_event(version)
            if event is not None and (event.ph or length <= len(b"{}")):
                return _append(result, event, at, at + length, version.spots)
    return -1


def _take_repaired(text: bytes, at: int, limit: int, result: Recovery) -> int:
    """As :func:`_take`, for an event that is not JSON until it is repaired."""
    if text[at] != _BRACE or limit - at > _LARGEST_REPAIR:
        return -1
    piece = text[at:limit].rstrip(SEPARATORS)
    for version in versions(piece):
        length = _value_length(version.text) if version.spots else -1
        rest = version.text[length:]
        if length > 0 and not rest.strip(SEPARATORS).strip(b"]"):
            event = read_event(Repaired(version.text[:length], version.spots))
            if event is not None and event.ph:
                return _append(result, event, at, at + len(piece) - len(rest), version.spots)
    return -1


def _skip(text: bytes, at: int, limit: int, result: Recovery, explain: bool) -> int:
    """Where to go on behind what cannot be read; -1 if that is not in this text."""
    close = _close_within(text, at, limit)
    if close < 0 and limit == len(text):
        return -1
    end = close if close >= 0 else limit
    lost = len(_PHASE.findall(text, at, end))
    if lost or text[at] == _BRACE:
        reason = _reason(text[at:end]) if explain or not result.losses else ""
        result.losses.append(Loss(at, reason, max(lost, 1)))
    return end


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
        _, end = _VALUES.raw_decode(text[:_LARGEST_READ].decode("latin-1"))
    except (ValueError, RecursionError):
        return -1
    return end


def _reason(text: bytes) -> str:
    try:
        decode_loose(b"[%b]" % text[:_LARGEST_REPAIR].rstrip(SEPARATORS))
    except RecursionError:
        return "it is nested too deeply"
    except DECODE_ERRORS as error:
        return str(error).split(" (byte")[0].removeprefix("JSON is malformed: ")
    return "it is no event"
