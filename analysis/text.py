"""Makes recorded text safe to show: one line, nothing that a terminal would obey.

Names in traces are anybody's: they hold newlines, escape codes, characters that reverse the
reading order. Everything that is printed goes through :func:`clean`.
"""

from __future__ import annotations

import re

_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    r"""The text on one line with every unprintable character spelled out.

    White space becomes single spaces; control, format and private characters and lone
    surrogates become ``\x1b``, ``\u202e`` and so on. Markup is left as it is.

    >>> clean("a\n\x1b[31mb")
    'a \\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _spelled(one) for one in _SPACES.sub(" ", text))


def plural(count: int, noun: str) -> str:
    """``1 event``, ``2 events``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def times_text(count: int) -> str:
    """``once``, ``2 times``, ``1,200 times``."""
    return "once" if count == 1 else f"{count:,} times"


def size_text(size: int) -> str:
    """A size in bytes to the byte: ``1 byte``, ``77,070,336 bytes``."""
    return "1 byte" if size == 1 else f"{size:,} bytes"


def gpu_text(number: int) -> str:
    """A GPU as people read it: with its number as recorded, where there is one.

    >>> gpu_text(2), gpu_text(-1)
    ('GPU2', 'GPU')
    """
    return f"GPU{number}" if number >= 0 else "GPU"


def source_text(path: str) -> str:
    """Where a trace comes from, cleaned: its path, but for what comes through a pipe.

    >>> source_text("-"), source_text("runs/step.json")
    ('standard input', 'runs/step.json')
    """
    return "standard input" if path == "-" else clean(path)


def _spelled(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
