"""What every line goes through on terminals without colours, or without more than ASCII.

Filters see each line once, when it is painted; where neither is needed there are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

#: Ink and ground that differ by less, from 0 to 1, are drawn as usual.
_EVEN = 0.02

#: Characters of the screen and what stands for them. Bars are nine steps of fullness.
_ASCII: Mapping[str, str] = {
    **dict(zip("▁▂▃▄▅▆▇█", "_.:-=+*#", strict=True)),
    **dict.fromkeys("▏▎▍▌▋▊▉", "|"),
    **dict.fromkeys("│┃║╎┆┊▕▐", "|"),
    **dict.fromkeys("─━═╌┄┈▔‾⎯", "-"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬┏┓┗┛╴╵╶╷╸╹╺╻", "+"),
    **dict(zip("▲▼◀▶▸◂▴▾△▽▷◁", "^v<>><^v^v><", strict=True)),
    **dict(zip("←→↑↓↔↕⇧", "<>^v-|^", strict=True)),
    **dict.fromkeys("░▒▓", "%"),
    **dict.fromkeys("●◉◆■", "*"),
    **dict.fromkeys("○◌◇□∘", "o"),
    **dict.fromkeys("·•∙⋅", "."),
    **dict.fromkeys("–—−‐‑", "-"),
    **dict.fromkeys("×✕✖⨯", "x"),
    **dict.fromkeys("≤⩽", "<"),
    **dict.fromkeys("≥⩾", ">"),
    "…": "~",
    "µ": "u",
    "μ": "u",
    "≈": "~",
    "‹": "<",
    "±": "~",
    "÷": "/",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "⌕": "?",
    "✓": "+",
    "²": "2",
    "³": "3",
    "\u00a0": " ",
    "\u202f": " ",
    "\u2009": " ",
}
_TABLE = str.maketrans(dict(_ASCII))


def in_ascii(text: str) -> str:
    """Text in ASCII that takes as many cells.

    >>> in_ascii("12 µs · ▁▄█")
    '12 us . _-#'
    """
    if text.isascii():
        return text
    text = text.translate(_TABLE)
    if text.isascii():
        return text
    return "".join(c if c.isascii() else "?" * cell_len(c) for c in text)


class AsciiOnly(LineFilter):
    """Writes nothing but ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line in ASCII."""
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]


class AttributesOnly(LineFilter):
    """Writes no colours; what stood out by its ground is reversed, bold or underlined."""

    def __init__(self, dark: bool) -> None:
        """Tell whether the theme writes light on dark."""
        super().__init__()
        self._dark = dark

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same line without colours."""
        return [
            Segment(text, None if style is None else without_colours(style, self._dark), control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=4096)
def without_colours(style: Style, dark: bool) -> Style:
    """A style by attributes alone: dark text on a light ground of a dark theme is reversed."""
    reverse = bool(style.reverse)
    if style.color is not None and style.bgcolor is not None:
        lighter = _lightness(style.bgcolor) - _lightness(style.color)
        reverse ^= lighter > _EVEN if dark else lighter < -_EVEN
    return Style(
        bold=style.bold, dim=style.dim, italic=style.italic, underline=style.underline,
        reverse=reverse or None, strike=style.strike,
    )  # fmt: skip


def _lightness(colour: RichColor) -> float:
    red, green, blue = colour.get_truecolor()
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


def filters_for(*, colours: bool, dark: bool, only_ascii: bool) -> list[LineFilter]:
    """The filters of a terminal.

    Args:
        colours: it has colours, and the user wants them.
        dark: the theme writes light on dark.
        only_ascii: it shows nothing else.
    """
    filters: list[LineFilter] = [] if colours else [AttributesOnly(dark)]
    return [*filters, AsciiOnly()] if only_ascii else filters
