"""Picks the events out of damaged text one by one, and says what is lost."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from whichlayer.analysis.reader.events import DECODE_ERRORS, Event, decode_loose
from whichlayer.analysis.reader.repair import escape_stray_quotes, repair
from whichlayer.analysis.reader.structure import SEPARATORS

# An event begins with one of its usual keys, and never after a colon or an opening bracket.
_START = re.compile(
    rb'(?<![:\[\s])\s*(\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args|id|id2|bp|s|tts|tdur|cname)"\s*:)'
)
_ARRAY_END = re.compile(rb'\]\s*(?:,\s*"|\}|\Z)')

#: Later starts that an event may reach over, since a nested object can look like one.
_REACH = 4

_VALUES = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Loss:
    """An event that could not be read: where it begins, and why."""

    offset: int
    reason: str


@dataclass(slots=True)
class Recovery:
    """What damaged text still gave.

    Attributes:
        events: the events, in order.
        spans: (start, end) of each in the text.
        losses: what is gone.
        repaired: how many events were read after a repair.
        consumed: how much of the text is dealt with.
        closed: the array ends at ``consumed``, at its closing bracket.
    """

    events: list[Event] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    repaired: int = 0
    consumed: int = 0
    closed: bool = False


def recover_events(text: bytes, more: bool) -> Recovery:
    """Reads what can be read of text that begins between two events of an array.

    Args:
        text: damaged text.
        more: text follows; an event that the end cuts is then left for later.
    """
    result = Recovery()
    starts = [found.start(1) for found in _START.finditer(text)]
    at = 0
    while True:
        while at < len(text) and text[at] in SEPARATORS:
            at += 1
        result.consumed = at
        if at == len(text):
            return result
        if text[at] == ord("]") and _ARRAY_END.match(text, at):
            result.closed = not more or at + 1 < len(text)
            return result
        later = bisect_right(starts, at)
        limits = (starts[later : later + _REACH] + [len(text)])[:_REACH]
        end = _take(text, at, limits, result)
        if end < 0:
            if more and limits[0] == len(text):
                return result
            if text[at] == ord("{"):
                result.losses.append(Loss(at, _reason(text[at : limits[0]])))
            end = limits[0]
        at = end


def read_event(text: bytes) -> Event | None:
    """One event from its own text, repaired if need be."""
    for version in (text, repair(text), escape_stray_quotes(repair(text))):
        try:
            (event,) = decode_loose(b"[" + version + b"]")
        except (*DECODE_ERRORS, ValueError):
            continue
        return event
    return None


def _take(text: bytes, at: int, limits: list[int], result: Recovery) -> int:
    """Reads the event at a position into the result and returns its end, or -1."""
    for limit in limits:
        piece = text[at:limit]
        length = _value_length(piece)
        if length > 0:
            event = read_event(piece[:length])
            if event is not None and (event.ph or length <= 2 or limit is limits[-1]):
                _append(result, event, at, at + length)
                return at + length
    piece = text[at : limits[0]]
    for mended in (repair(piece), escape_stray_quotes(repair(piece))):
        length = _value_length(mended)
        rest = mended[length:]
        if length > 0 and not rest.strip(SEPARATORS).strip(b"]"):
            event = read_event(mended[:length])
            if event is not None and event.ph:
                _append(result, event, at, limits[0] - len(rest))
                result.repaired += 1
                return limits[0] - len(rest)
    return -1


def _append(result: Recovery, event: Event, start: int, end: int) -> None:
    result.events.append(event)
    result.spans.append((start, end))


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
        decode_loose(b"[" + text.rstrip(SEPARATORS) + b"]")
    except RecursionError:
        return "it is nested too deeply"
    except DECODE_ERRORS as error:
        return str(error).split(" (byte")[0].removeprefix("JSON is malformed: ")
    return "it is not an event"
