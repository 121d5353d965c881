"""Undoes the damage that recorders are known to do to JSON.

Seen in the wild: ``NaN``, ``Infinity`` and ``N/A`` as values, raw control characters and
invalid UTF-8 in names, Windows paths with single backslashes, quotes inside names. Nothing
here runs on text that decodes as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
import numpy as np

from whichlayer.analysis.reader.events import DECODE_ERRORS
from whichlayer.analysis.reader.structure import inside_strings, string_quotes

_WHITE_SPACE = b"\t\n\r"

# An escape as JSON has it, or a backslash that is none.
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
# The escapes of two surrogates that belong together, or of one alone.
_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_ONE_ESCAPE = len(b"\\ud800")
_BARE_WORD = re.compile(rb'(?<=[:\[,\s])[+-]?[A-Za-z][^\s,}\]"]*')
_WORDS = (b"true", b"false", b"null")

# What stands before a string's first quote and after its last one.
_OPENING = re.compile(rb"[{\[,:]\s*\Z")
_CLOSING = re.compile(rb"\s*(?:[,}\]:]|\Z)")
_QUOTE = re.compile(rb'(\\*)"')
_CONTEXT = 64

Edit = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Repaired:
    """Text after a repair, which need not be JSON still, and how many spots it changed."""

    text: bytes
    spots: int


def repair(text: bytes) -> Repaired:
    """Replaces bare words, stray characters and bad escapes.

    Bare words other than ``true``, ``false`` and ``null`` become null, bytes that are no
    UTF-8 the replacement character, control characters in strings escapes.
    """
    valid = _valid_utf8(text)
    quotes = string_quotes(valid)
    edits = [*_control_edits(valid, quotes), *_escape_edits(valid), *_word_edits(valid, quotes)]
    return Repaired(_edited(valid, edits), len(edits) + (valid is not text))


def escape_stray_quotes(text: bytes) -> Repaired:
    """Escapes the quotes inside the strings of one event, as far as one can tell them.

    A quote that neither follows nor precedes what surrounds strings is part of one; one that
    precedes it and is escaped ends a string whose last character is a backslash.
    """
    edits: list[Edit] = []
    for found in _QUOTE.finditer(text):
        at = found.end() - 1
        escaped = len(found[1]) % 2 == 1
        opens = _OPENING.search(text, max(0, found.start() - _CONTEXT), found.start())
        closes = _CLOSING.match(text, at + 1)
        if escaped if closes and not opens else not (escaped or opens or closes):
            edits.append((at, at, b"\\"))
    return Repaired(_edited(text, edits), len(edits))


def decode_value(text: bytes) -> object:
    """A JSON value of any type, repaired if need be; None where that does not help."""
    for version in versions(text):
        try:
            value: object = msgspec.json.decode(version.text)
        except DECODE_ERRORS:
            continue
        return value
    try:
        return json.loads(repair(text).text, strict=False)  # numbers beyond a double
    except DECODE_ERRORS:
        return None


def versions(text: bytes) -> Iterable[Repaired]:
    """The text as it is, then with ever bolder repairs."""
    yield Repaired(text, 0)
    yield repair(text)
    quoted = escape_stray_quotes(text)
    mended = repair(quoted.text)  # only now is it known what stands inside strings
    yield Repaired(mended.text, mended.spots + quoted.spots)


def _control_edits(text: bytes, quotes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Edit]:
    controls = np.flatnonzero(np.frombuffer(text, np.uint8) < 0x20)
    inside = inside_strings(quotes, controls)
    escaped = [(at, at + 1, b"\\u%04x" % text[at]) for at in controls[inside].tolist()]
    outside = controls[~inside].tolist()
    return escaped + [(at, at + 1, b" ") for at in outside if text[at] not in _WHITE_SPACE]


def _escape_edits(text: bytes) -> list[Edit]:
    edits = [
        (found.start(), found.end(), b"\\\\")
        for found in _ESCAPE.finditer(text)
        if len(found[0]) == 1
    ]
    edits += [
        (found.start(), found.end(), b"\\ufffd")
        for found in _SURROGATE.finditer(text)
        if len(found[0]) == _ONE_ESCAPE
    ]
    return edits


def _word_edits(text: bytes, quotes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Edit]:
    found = [word.span() for word in _BARE_WORD.finditer(text) if word[0] not in _WORDS]
    inside = inside_strings(quotes, np.array([start for start, _ in found], np.int64))
    return [
        (start, end, b"null")
        for (start, end), quoted in zip(found, inside.tolist(), strict=True)
        if not quoted
    ]


def _valid_utf8(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode(errors="replace").encode()
    return text


def _edited(text: bytes, edits: list[Edit]) -> bytes:
    """The text with stretches replaced; of two that overlap the first wins."""
    parts: list[bytes] = []
    done = 0
    for start, end, new in sorted(edits):
        if start >= done:
            parts += (text[done:start], new)
            done = end
    parts.append(text[done:])
    return b"".join(parts)
