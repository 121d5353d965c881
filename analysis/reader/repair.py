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

# A backslash that begins no escape of JSON, behind any number of such escapes.
_BAD_ESCAPE = re.compile(
    rb"""(?<!\\)((?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})"""
)
# The escapes of two surrogates that belong together, or of one alone.
_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_ONE_ESCAPE = len(b"\\ud800")
_BARE_WORD = re.compile(
    rb'(?:(?<=[:\[,\s])|\A)(?!(?:true|false|null)[\s,}\]])[+-]?[A-Za-z][^\s,}\]"]*'
)
_CONTROLS = re.compile(rb"[\x00-\x1f]+")
_ESCAPES = tuple(b"\\u%04x" % code for code in range(0x20))
_TO_SPACES = bytes.maketrans(
    bytes(range(0x20)), bytes(code if code in b"\t\n\r" else 0x20 for code in range(0x20))
)
# Commas that are one too many, and where one is missing.
_STRAY_COMMAS = re.compile(rb",(?=\s*+[,}\]])|(?<=[\[{]),")
_MISSING_COMMA = re.compile(rb"\}(?=\s*+\{)")
_REPLACEMENT = "\ufffd"

# What stands before a string's first quote and after its last one.
_OPENING = re.compile(rb"[{\[,:]\s*\Z")
_CLOSING = re.compile(rb"\s*(?:[,}\]:]|\Z)")
_QUOTE = re.compile(rb'(\\*)"')
_CONTEXT = 64

# Quotes that touch nothing of what surrounds strings.
_SURELY_INSIDE = re.compile(rb'(?<![{\[,:\s\\])"(?![\s,}\]:])')

#: More spots than this in one text are not repaired: it would take too long for what it gives.
_MOST_EDITS = 1 << 16

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
    found = list(
        islice(chain(_control_runs(valid), _words(valid), _commas(valid)), _MOST_EDITS + 1)
    )
    if not found or len(found) > _MOST_EDITS:
        return Repaired(valid, spots)
    inside = inside_strings(string_quotes(valid), np.array([one[0] for one in found], np.int64))
    edits: list[Edit] = []
    for (start, end, new), quoted in zip(found, inside.tolist(), strict=True):
        run = valid[start:end]
        if new is not None:
            if not quoted:
                edits.append((start, end, new))
        elif quoted:
            edits.append((start, end, b"".join([_ESCAPES[code] for code in run])))
        elif run.strip(b"\t\n\r"):
            edits.append((start, end, run.translate(_TO_SPACES)))
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


def _control_runs(text: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    return ((*found.span(), None) for found in _CONTROLS.finditer(text))


def _words(text: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    return ((*found.span(), b"null") for found in _BARE_WORD.finditer(text))


def _commas(text: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    for found in _STRAY_COMMAS.finditer(text):
        yield (*found.span(), b" ")
    for found in _MISSING_COMMA.finditer(text):
        yield (*found.span(), b"},")


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
