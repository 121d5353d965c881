"""Keys as users write them, in the words of Textual; which needs not be imported for that."""

from __future__ import annotations

import re
import unicodedata
from difflib import get_close_matches

_NAMED = (
    "escape", "enter", "tab", "space", "backspace", "delete", "insert", "home", "end", "pageup",
    "pagedown", "left", "right", "up", "down", *(f"f{number}" for number in range(1, 13)),
)  # fmt: skip
_SHORT = {"esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup",
    "pgdn": "pagedown", "←": "left", "→": "right", "↑": "up", "↓": "down"}  # fmt: skip
#: What Textual calls otherwise than Unicode does.
_OTHERWISE = {
    "solidus": "slash", "reverse_solidus": "backslash", "commercial_at": "at",
    "hyphen_minus": "minus", "plus_sign": "plus", "low_line": "underscore",
}  # fmt: skip
_MODIFIED = re.compile(r"((?:(?:ctrl|shift|alt)\+)+)(.+)", re.DOTALL)


def key_name(text: str) -> str:
    """The name of a key: ``[`` is ``left_square_bracket``, ``^p`` is ``ctrl+p``.

    Raises:
        ValueError: no key is called that.
    """
    if len(text) == 2 and text[0] == "^" and text[1].isalpha():
        text = f"ctrl+{text[1].lower()}"
    match = _MODIFIED.fullmatch(text)
    if match is None:
        return _base(text, text)
    modifiers = sorted(set(match[1].split("+")) - {""}, key=("alt", "ctrl", "shift").index)
    base = _base(match[2], text)
    if "shift" in modifiers and base not in _NAMED:
        raise ValueError(
            f'no key is called "{text:.40}": with shift write the character, as in "A"'
        )
    if "ctrl" in modifiers and len(base) == 1:
        base = base.lower()
    return "+".join((*modifiers, base))


def _base(word: str, whole: str) -> str:
    if len(word) == 1 and word.isprintable() and not word.isspace():
        return word if word.isalnum() else _character(word)
    low = word.lower()
    low = _SHORT.get(low, low)
    if low in _NAMED or low in _symbols():
        return low
    near = get_close_matches(low[:40], (*_NAMED, *_symbols()), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f'no key is called "{whole:.40}"{hint}')


def _character(one: str) -> str:
    if one in _SHORT:
        return _SHORT[one]
    name = unicodedata.name(one, "").lower().replace("-", "_").replace(" ", "_")
    if not name:
        raise ValueError(f"no key is called {one!r}")
    return _OTHERWISE.get(name, name)


def _symbols() -> tuple[str, ...]:
    return tuple(_character(one) for one in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
