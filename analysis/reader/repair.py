"""Undoes the damage that recorders are known to do to JSON.

Seen in the wild: ``NaN``, ``Infinity`` and ``N/A`` as values, raw control characters and
invalid UTF-8 in names, Windows paths with single backslashes, quotes inside names, commas too
many or too few. Nothing here runs on text that decodes as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import msgspec
import numpy as np

from whichlayer.analysis.reader.events import DECODE_ERRORS
from whichlayer.analysis.reader.structure import inside_strings, string_quotes
from whichlayer.analysis.trace.columns import Int64, UInt8

# A backslash that begins no escape of JSON, behind any number of such escapes.
_BAD_ESCAPE = re.compile(
    rb"""(?<!\\)((?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})"""
)
# The escapes of two surrogates that belong together, or of one alone.
_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_ONE_ESCAPE = len(b"\\ud800")
_BARE_WORD = re.compile(rb'(?!(?:true|false|null)[\s,}\]])[+-]?[A-Za-z][^\s,}\]"]*')
_FIRST_PRINTABLE, _QUOTE_CODE = 0x20, 0x22
#: Control characters that are no white space of JSON, by code.
_STRANGE = ~np.isin(np.arange(_FIRST_PRINTABLE), list(b"\t\n\r"))
_ESCAPES = tuple(b"\\u%04x" % code for code in range(0x20))
_TO_SPACES = bytes.maketrans(
    bytes(range(0x20)), bytes(code if code in b"\t\n\r" else 0x20 for code in range(0x20))
)

_CODES = np.arange(256, dtype=np.uint8)
_SPACES = np.isin(_CODES, list(b" \t\n\r\x0b\x0c")).astype(np.uint8)
_BEGINS_WORD = np.isin(_CODES, list(b"+-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
_BEFORE_WORD = np.isin(_CODES, list(b":[, \t\n\r\x0b\x0c"))
_OPENERS, _CLOSERS = list(b"[{"), list(b",}]")
_BRACE, _BRACE_CLOSE, _COMMA = b"{},"
_REPLACEMENT = "\ufffd"

# What stands before a string's first quote and after its last one.
_OPENING = re.compile(rb"[{\[,:]\s*\Z")
_CLOSING = re.compile(rb"\s*(?:[,}\]:]|\Z)")
_QUOTE = re.compile(rb'(\\*)"')
_CONTEXT = 64

# Quotes that touch nothing of what surrounds strings.
_SURELY_INSIDE = re.compile(rb'(?<![{\[,:\s\\])"(?![\s,}\]:])')

#: So many spots in one text are not repaired: it would take too long for what it gives.
_MOST = (1 << 16) + 1

Edit = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Repaired:
    """Text after a repair, which need not be JSON still, and how many spots it changed."""

    text: bytes
    spots: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded value, and how many spots of its text were repaired."""

    value: Any
    spots: int


def repair(text: bytes) -> Repaired:
    """Replaces bare words, stray characters, bad escapes and commas that are no separators.

    Bare words other than ``true``, ``false`` and ``null`` become null, bytes that are no
    UTF-8 the replacement character, control characters in strings escapes.
    """
    valid, spots = _valid_utf8(text)
    if b"\\" in valid:
        valid, bad = _BAD_ESCAPE.subn(rb"\1\\\\", valid)
        valid, lone = _without_lone_surrogates(valid)
        spots += bad + lone
    outside = _Outside(valid)
    found = islice(
        chain(_controls(valid, outside), _words(valid, outside), _commas(outside)), _MOST
    )
    edits = list(found)
    if not edits or len(edits) == _MOST:
        return Repaired(valid, spots)
    return Repaired(_edited(valid, edits), spots + len(edits))


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


def escape_sure_quotes(text: bytes) -> Repaired:
    """As :func:`escape_stray_quotes`, but only those quotes that are beyond doubt; much faster."""
    return Repaired(*_SURELY_INSIDE.subn(rb'\\"', text))


def decode_value(text: bytes) -> object:
    """A JSON value of any type, repaired if need be; None where that does not help."""
    try:
        return msgspec.json.decode(text)
    except DECODE_ERRORS:
        found = decode_repaired(text)
    return found.value if found else None


def decode_repaired(text: bytes) -> Decoded | None:
    """As :func:`decode_value`, with what was repaired; None where that does not help."""
    for version in versions(text):
        try:
            return Decoded(msgspec.json.decode(version.text), version.spots)
        except DECODE_ERRORS:
            continue
    mended = repair(text)
    try:
        # Numbers beyond a double. Of bytes a mark of their order would be passed over in silence.
        return Decoded(json.loads(mended.text.decode(), strict=False), mended.spots)
    except DECODE_ERRORS:
        return None


def versions(text: bytes) -> Iterable[Repaired]:
    """The text as it is, then with ever bolder repairs."""
    yield Repaired(text, 0)
    yield repair(text)
    for quoted in (escape_sure_quotes(text), escape_stray_quotes(text)):
        mended = repair(quoted.text)  # only now is it known what stands inside strings
        yield Repaired(mended.text, mended.spots + quoted.spots)


def check_encoding(text: bytes) -> None:
    """Checks what decoders pass over in arguments that they leave as they are.

    Raises:
        UnicodeDecodeError: the text is not UTF-8.
    """
    if not text.isascii():
        text.decode()


def first_difference(before: bytes, after: bytes) -> int:
    """Where a repair changed the first byte."""
    length = min(len(before), len(after))
    old, new = (np.frombuffer(text, np.uint8, length) for text in (before, after))
    different = np.flatnonzero(old != new)
    return int(different[0]) if len(different) else length


class _Outside:
    """What of a text stands outside of strings; quotes count as neither.

    Attributes:
        characters: uint8 (n,), of the whole text.
        quotes: int64 (m,), those that open and close strings.
        at: int64 (k,), where characters stand outside that are no white space.
        of: uint8 (k,), these characters.
    """

    def __init__(self, text: bytes) -> None:
        self.characters = np.frombuffer(text, np.uint8)
        self.quotes = string_quotes(text)
        opened = np.zeros(len(text), np.uint8)
        opened[self.quotes] = 1
        inside = np.bitwise_xor.accumulate(opened)
        self.at = np.flatnonzero((inside | _SPACES[self.characters]) == 0)
        self.of: UInt8 = self.characters[self.at]

    def before(self, at: Int64) -> UInt8:
        """The character right before each place, a comma at the beginning."""
        found = self.characters[np.maximum(at - 1, 0)]
        found[at == 0] = _COMMA
        return found

    def next_of(self, row: Int64) -> UInt8:
        """The character behind each of those outside, or the quote behind it; 0 at the end."""
        behind = np.append(self.of[1:], 0)[row]
        # A string in between begins before the next of them, or after the last.
        ahead = np.searchsorted(self.quotes, self.at[row])
        quote = np.append(self.quotes, len(self.characters))[ahead]
        following = np.append(self.at[1:], len(self.characters))[row]
        behind[quote < following] = _QUOTE_CODE
        return behind


def _controls(text: bytes, outside: _Outside) -> Iterator[Edit]:
    """Runs of control characters in strings, and outside of them such as are no white space."""
    at = np.flatnonzero(outside.characters < _FIRST_PRINTABLE)
    if not len(at):
        return
    first = np.flatnonzero(np.diff(at, prepend=-2) != 1)
    behind = np.append(first[1:], len(at)) - 1
    quoted = inside_strings(outside.quotes, at[first])
    strange = np.logical_or.reduceat(_STRANGE[outside.characters[at]], first)
    for row in np.flatnonzero(quoted | strange).tolist():
        start, end = int(at[first[row]]), int(at[behind[row]]) + 1
        run = text[start:end]
        if quoted[row]:
            yield start, end, b"".join([_ESCAPES[code] for code in run])
        else:
            yield start, end, run.translate(_TO_SPACES)


def _words(text: bytes, outside: _Outside) -> Iterator[Edit]:
    """Bare words, other than those of JSON."""
    begins = np.flatnonzero(_BEGINS_WORD[outside.of])
    at = outside.at[begins]
    done = 0
    for place in at[_BEFORE_WORD[outside.before(at)]].tolist():
        found = _BARE_WORD.match(text, place) if place >= done else None
        if found:
            done = found.end()
            yield place, done, b"null"


def _commas(outside: _Outside) -> Iterator[Edit]:
    """Commas that are one too many, and where one is missing."""
    rows = np.flatnonzero(outside.of == _COMMA)
    opened = np.isin(outside.before(outside.at[rows]), _OPENERS) & (outside.at[rows] > 0)
    stray = rows[np.isin(outside.next_of(rows), _CLOSERS) | opened]
    for place in outside.at[stray].tolist():
        yield place, place + 1, b" "
    rows = np.flatnonzero(outside.of == _BRACE_CLOSE)
    missing = rows[outside.next_of(rows) == _BRACE]
    for place in outside.at[missing].tolist():
        yield place, place + 1, b"},"


def _without_lone_surrogates(text: bytes) -> tuple[bytes, int]:
    edits = [
        (*found.span(), b"\\ufffd")
        for found in _SURROGATE.finditer(text)
        if len(found[0]) == _ONE_ESCAPE
    ]
    return _edited(text, edits), len(edits)


def _valid_utf8(text: bytes) -> tuple[bytes, int]:
    """The text with its invalid stretches replaced, and how many there were."""
    try:
        text.decode()
    except UnicodeDecodeError:
        decoded = text.decode(errors="replace")
        before = text.count(_REPLACEMENT.encode())
        return decoded.encode(), decoded.count(_REPLACEMENT) - before
    return text, 0


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
