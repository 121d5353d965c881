"""Words as a shell reads them, whatever is in them."""

from __future__ import annotations

import shlex


def shell_word(word: str) -> str:
    r"""A word quoted for a shell; with control characters or bytes that are no text as ``$'…'``.

    Bash, zsh and ksh read ``$'…'``; other words are quoted for every POSIX shell.

    >>> print(shell_word("a b"), shell_word("bad\udcff.json"), shell_word("it's\n"))
    'a b' $'bad\xff.json' $'it\'s\x0a'
    """
    if all(map(_is_plain, word)):
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def _is_plain(character: str) -> bool:
    return character.isprintable() or character in "\u00a0\u202f\u2009"


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no text, as Python keeps it
        return f"\\x{code - 0xDC00:02x}"
    if character in "\\'":
        return f"\\{character}"
    if _is_plain(character):
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
