"""Regular expressions for JSON values of a limited depth: what is looked for at the speed of C."""

from __future__ import annotations

import re
from functools import cache

#: A string, whatever stands in it.
STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'

#: What is no string, list or object: numbers, words, and whatever damage makes of them.
WORD = rb'[^,\]}\s"\[{][^,\]}\s]*+'

_STRICT_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*+)*+"'
_NUMBER = rb"-?\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+"
_STRICT_SCALAR = b"|".join((_STRICT_STRING, _NUMBER, b"true", b"false", b"null"))

#: How deep lists and objects in events are, where ordinary ones are three.
_EVENT_DEPTH = 4


def container(depth: int) -> bytes:
    """The source of a pattern for a list or object, told by its brackets and strings alone."""
    inner = b'[^\\[\\]{}"]++|' + STRING + (b"|" + container(depth - 1) if depth > 1 else b"")
    return rb"(?:\[(?:" + inner + rb")*+\]|\{(?:" + inner + rb")*+\})"


#: Entries of an array of events that are none: of few characters, and possibly by the million.
NO_EVENT = rb"(?:\{\s*+\}|\[[^\[\]{}\"]*+\]|" + _STRICT_SCALAR + rb")"


@cache
def no_events() -> re.Pattern[bytes]:
    """Entries without any event between them, each with the comma behind it."""
    return re.compile(rb"(?:" + NO_EVENT + rb"\s*+,\s*+)++")


@cache
def one_no_event() -> re.Pattern[bytes]:
    """One of :func:`no_events`."""
    return re.compile(NO_EVENT + rb"\s*+,\s*+")


@cache
def sound_event() -> re.Pattern[bytes]:
    """An object that begins with a string key and is JSON to the end."""
    return re.compile(_strict_object(_EVENT_DEPTH), re.DOTALL)


def _strict_value(depth: int) -> bytes:
    if depth < 1:
        return b"(?:" + _STRICT_SCALAR + b")"
    each = _strict_value(depth - 1) + rb"\s*+(?:,\s*+(?!\])|(?=\]))"
    several = rb"\[\s*+(?:" + each + rb")*+\]"
    return b"(?:" + b"|".join((_STRICT_SCALAR, several, _strict_object(depth))) + b")"


def _strict_object(depth: int) -> bytes:
    pair = (
        _STRICT_STRING + rb"\s*+:\s*+" + _strict_value(depth - 1) + rb"\s*+(?:,\s*+(?!\})|(?=\}))"
    )
    return rb"\{\s*+(?:" + pair + rb")*+\}"
