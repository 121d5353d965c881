"""Undoes the damage that recorders are known to do to JSON.

Seen in the wild: ``NaN``, ``Infinity`` and ``N/A`` as values, raw control characters and
invalid UTF-8 in names, Windows paths with single backslashes, quotes inside names. Nothing
here runs on text that decodes as it is.
"""

from __future__ import annotations

import re

import numpy as np

from whichlayer.analysis.reader.structure import inside_strings, string_quotes

_WHITE_SPACE = b"\t\n\r"

# An escape as JSON has it, or a backslash that is none.
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_BARE_WORD = re.compile(rb'(?<=[:\[,\s])(?:[+-]?[A-Za-z]|[+-](?!\d)|[+](?=\d))[^\s,}\]"]*')
_WORDS = (b"true", b"false", b"null")

# A quote that neither follows nor precedes what surrounds strings is part of one.
_OPENING = re.compile(rb"[{\[,:]\s*\Z")
_CLOSING = re.compile(rb"\s*(?:[,}\]:]|\Z)")
_CONTEXT = 64


def repair(text: bytes) -> bytes:
    """The text with bare words, stray characters and bad escapes replaced.

    Bare words other than ``true``, ``false`` and ``null`` become null, bytes that are no
    UTF-8 the replacement character, control characters escapes. The result need not be JSON.
    """
    text = _valid_utf8(text)
    edits: list[tuple[int, int, bytes]] = []
    quotes = string_quotes(text)
    characters = np.frombuffer(text, np.uint8)
    controls = np.flatnonzero(characters < 0x20)
    for at, inside in zip(
        controls.tolist(), inside_strings(quotes, controls).tolist(), strict=True
    ):
        if inside:
            edits.append((at, at + 1, b"\\u%04x" % text[at]))
        elif text[at] not in _WHITE_SPACE:
            edits.append((at, at + 1, b" "))
    for found in _ESCAPE.finditer(text):
        if len(found.group()) == 1:
            edits.append((found.start(), found.end(), b"\\\\"))
    for found in _SURROGATE.finditer(text):
        if len(found.group()) == len(b"\\ud800"):
            edits.append((found.start(), found.end(), b"\\ufffd"))
    words = [found.span() for found in _BARE_WORD.finditer(text)]
    outside = ~inside_strings(quotes, np.array([start for start, _ in words], np.int64))
    for (start, end), bare in zip(words, outside.tolist(), strict=True):
        if bare and text[start:end] not in _WORDS:
            edits.append((start, end, b"null"))
    return _edited(text, edits)


def escape_stray_quotes(text: bytes) -> bytes:
    """The text of one event with the quotes inside its strings escaped, as far as one can tell."""
    edits: list[tuple[int, int, bytes]] = []
    for found in re.finditer(rb'\\*"', text):
        at = found.end() - 1
        opens = _OPENING.search(text[max(0, found.start() - _CONTEXT) : found.start()])
        closes = _CLOSING.match(text, at + 1)
        if opens or closes:
            if closes and not opens and len(found.group()) % 2 == 0:
                edits.append((at, at, b"\\"))
        elif len(found.group()) % 2 == 1:
            edits.append((at, at, b"\\"))
    return _edited(text, edits)


def _valid_utf8(text: bytes) -> bytes:
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode(errors="replace").encode()
    return text


def _edited(text: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """The text with stretches replaced; of two that overlap the first wins."""
    parts: list[bytes] = []
    done = 0
    for start, end, new in sorted(edits):
        if start >= done:
            parts += (text[done:start], new)
            done = end
    parts.append(text[done:])
    return b"".join(parts)
