"""Styles made of a theme's colours, once per theme: nothing is mixed while painting."""

from __future__ import annotations

from functools import cache

from rich.color import Color
from rich.style import Style

from whichlayer.analysis.layers import Layer
from whichlayer.tui.colours import DARK, DARK_16, LIGHT_16, THEMES, Colours
from whichlayer.tui.family import Family

#: Style codes of a timeline row; see :func:`bar_code` and :func:`glyph_code`.
BLANK, BLANK_MARKED, CURSOR, HIT, HIT_GLYPH = range(5)
_FIRST_FAMILY = 5
_PER_FAMILY = 7

#: How much darkness is mixed into every second bar of a family, so that two that touch can
#: be told apart.
_SECOND_TONE = 0.22

#: Share of a shade from which dark text stands out better on it.
_STRONG = 0.55

#: How much of the text's colour is mixed into that of work without an owner.
_READABLE = 0.2

#: How much of the cursor's colour is mixed into the bar that it is on.
_LIT = 0.5


def bar_code(family: int, tone: int) -> int:
    """Style code of a bar's body: text in canvas colour on the family's colour."""
    return _FIRST_FAMILY + _PER_FAMILY * family + tone


def glyph_code(family: int, tone: int, marked: bool) -> int:
    """Style code of a part-full cell: the family's colour on the canvas or the selection."""
    return _FIRST_FAMILY + _PER_FAMILY * family + 2 + tone + 2 * marked


def lit_code(family: int) -> int:
    """Style code of the bar under the cursor."""
    return _FIRST_FAMILY + _PER_FAMILY * family + 6


class Palette:
    """Rich styles of one theme, each made once."""

    def __init__(self, colours: Colours, plain: bool = False) -> None:
        """Build the table of timeline styles.

        Args:
            colours: of the theme.
            plain: colours are not written: a selection, and the second of two bars that touch,
                are underlined.
        """
        self.colours = colours
        self._plain = plain
        self._cache: dict[tuple[str, str, bool, bool], Style] = {}
        self._underlined: dict[tuple[str, str, bool], Style] = {}
        self.timeline = self._timeline_styles()

    def style(self, fg: str, bg: str = "", bold: bool = False, underlined: bool = False) -> Style:
        """Text in one colour on another (the canvas where none is given)."""
        underlined = self._plain and (underlined or bg == self.colours.marked)
        key = (fg, bg or self.colours.canvas, bold, underlined)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = Style(
                color=Color.parse(key[0]), bgcolor=Color.parse(key[1]), bold=bold or None,
                underline=underlined or None,
            )  # fmt: skip
        return found

    def layer(self, layer: Layer, strong: bool) -> Style:
        """A layer's letter: on its own colour where it is strong, else in it."""
        colour = self.colours.layers[layer]
        if layer == Layer.NONE or not strong:
            return self.style(colour)
        return self.style(self.colours.canvas, colour, bold=True)

    def shade(self, layer: Layer, share: float) -> Style:
        """A layer's letter on its colour mixed into the canvas by a share from 0 to 1."""
        if self.colours.flat:
            return self.layer(layer, strong=share > _STRONG)
        share = min(max(share, 0.0), 1.0)
        ground = mixed(self.colours.canvas, self.colours.layers[layer], share)
        ink = self.colours.canvas if share > _STRONG else self.colours.text
        return self.style(ink, ground)

    @property
    def text(self) -> Style:
        """Plain text."""
        return self.style(self.colours.text)

    @property
    def dim(self) -> Style:
        """Text that may be overlooked."""
        return self.style(self.colours.dim)

    @property
    def faint(self) -> Style:
        """Lines and ticks."""
        return self.style(self.colours.faint)

    @property
    def strong(self) -> Style:
        """Text that matters most."""
        return self.style(self.colours.text, bold=True)

    def underlined(self, style: Style) -> Style:
        """The same, underlined: of the chain of the cursor's slice."""
        key = (style.color.name if style.color else "", str(style.bgcolor), bool(style.bold))
        found = self._underlined.get(key)
        if found is None:
            found = self._underlined[key] = style + Style(underline=True, bold=True)
        return found

    def joined(self, marked: bool) -> Style:
        """The line between a launch and its GPU work."""
        return self.style(self.colours.accent, self.colours.marked if marked else "")

    @property
    def accent(self) -> Style:
        """What the cursor or the focus is on."""
        return self.style(self.colours.accent, bold=True)

    @property
    def chosen(self) -> Style:
        """The chosen row of a focused list."""
        return self.style(self.colours.canvas, self.colours.accent, bold=True)

    @property
    def marked(self) -> Style:
        """The chosen row of a list without focus."""
        return self.style(self.colours.text, self.colours.marked)

    def slots(self) -> list[str]:
        """The colour of every code of ``slots``."""
        c = self.colours
        layers = dict(c.layers)
        # Names are written on it: the colour of what is overlooked would be too dark for them.
        layers[Layer.NONE] = c.dim if c.flat else mixed(c.faint, c.text, _READABLE)
        return [
            *(c.families[family] for family in Family),
            *(layers[layer] for layer in Layer),
            *c.hues,
            c.families[Family.OTHER if c.flat else Family.COUNTER],
        ]

    def _timeline_styles(self) -> tuple[Style, ...]:
        c = self.colours
        styles = [
            self.style(c.faint),
            self.style(c.faint, c.marked),
            self.style(c.canvas, c.cursor, bold=True),
            self.style(c.canvas, c.warning, bold=True, underlined=True),
            self.style(c.warning, bold=True, underlined=True),
        ]
        for first in self.slots():
            second = first if c.flat else mixed(first, _darkness(c), _SECOND_TONE)
            tones = (first, second)
            styles += [self.style(c.canvas, tones[i], underlined=i > 0) for i in (0, 1)]
            styles += [self.style(tone) for tone in tones]
            styles += [self.style(tone, c.marked) for tone in tones]
            lit = c.cursor if c.flat else mixed(first, c.cursor, _LIT)
            styles.append(self.style(c.canvas, lit, bold=True))
        return tuple(styles)


@cache
def palette_for(theme: str, color_system: str | None, plain: bool = False) -> Palette:
    """The palette of a theme on a terminal with ``truecolor``, ``256`` or ``standard`` colours.

    ``plain``: no colours are written at all, see :class:`Palette`. The same one at every call:
    each part of a screen asks for it.
    """
    colours = THEMES.get(theme, DARK)
    if color_system == "standard":
        colours = DARK_16 if colours.dark else LIGHT_16
    return Palette(colours, plain)


def _darkness(colours: Colours) -> str:
    return colours.canvas if colours.dark else colours.text


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with ``share`` of another mixed in."""
    pairs = zip(_rgb(colour), _rgb(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
