"""Styles made of a theme's colours, once per theme: nothing is mixed while painting."""

from __future__ import annotations

from functools import cache, cached_property, lru_cache

from rich.color import Color, ColorSystem
from rich.style import Style

from whichlayer.analysis.layers import Layer
from whichlayer.tui.colours import DARK, DARK_16, LIGHT_16, THEMES, Colours
from whichlayer.tui.family import Family
from whichlayer.tui.screen_settings import screen_settings, writes_unicode

#: Style codes of a timeline row; see :func:`bar_code` and :func:`glyph_code`.
BLANK, BLANK_MARKED, CURSOR, HIT, HIT_GLYPH = range(5)
_FIRST_FAMILY = 5
_PER_FAMILY = 7

#: How much darkness is mixed into every second bar of a family, so that two that touch can
#: be told apart: the first that makes a colour of its own.
_SECOND_TONES = (0.22, 0.35)

#: Colours nearer to one another pass for one another, see :func:`distance`.
_APART = 36.0

#: Share of a shade from which letters on it are drawn in 16 colours as on a strong one.
_STRONG = 0.55

#: Contrast that text needs to be read (WCAG 2.1, 1.4.3).
READABLE = 4.5

#: How much of the text's colour is mixed into that of work without an owner.
_NAMED = 0.3

#: How much of the cursor's colour is mixed into the bar that it is on.
_LIT = 0.5

#: What a search found is told by more than its colour.
_UNDERLINED = Style(underline=True)


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

    def __init__(
        self, colours: Colours, plain: bool = False, few: bool = False, letters: bool = False
    ) -> None:
        """Build the table of timeline styles.

        Args:
            colours: of the theme.
            plain: colours are not written: a selection, and the second of two bars that touch,
                are underlined.
            few: the terminal has 256 colours.
            letters: bars without a name carry the letter of their family, see ``slot_letters``.
        """
        self.colours = colours
        self.letters = letters or plain or colours.flat
        self._plain = plain
        self._few = few
        self._cache: dict[tuple[str, str, bool, bool], Style] = {}
        self._underlined: dict[tuple[str, str, bool], Style] = {}
        self._shades: dict[tuple[Layer, float], Style] = {}

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
        if layer == Layer.NONE:
            return self.faint
        colour = self.colours.layers[layer]
        if not strong:
            return self.style(colour)
        return self.style(self.colours.canvas, colour, bold=True)

    def shade(self, layer: Layer, share: float) -> Style:
        """A layer's letter on its colour mixed into the canvas by a share from 0 to 1."""
        if self.colours.flat:
            return self.layer(layer, strong=share > _STRONG)
        share = min(max(share, 0.0), 1.0)
        found = self._shades.get((layer, share))
        if found is None:
            ground = mixed(self.colours.canvas, self.colours.layers[layer], share)
            if self._few:
                from whichlayer.tui.few_colours import nearest  # no first picture has shades

                ground = nearest(ground)
            found = self._shades[layer, share] = self.style(self._ink(ground), ground)
        return found

    def _ink(self, ground: str) -> str:
        """What can be read on a ground: the canvas' colour or that of text, else black or white."""
        shown = self._shown(ground)
        inks = (self.colours.canvas, self.colours.text, "#000000", "#ffffff")
        by_contrast = sorted(inks, key=lambda ink: -contrast(self._shown(ink), shown))
        enough = [ink for ink in inks[:2] if contrast(self._shown(ink), shown) >= READABLE]
        return (enough or by_contrast)[0]

    def _shown(self, colour: str) -> str:
        """A colour as the terminal shows it."""
        if not self._few:
            return colour
        return Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex

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
        layers[Layer.NONE] = c.dim if c.flat else mixed(c.faint, c.text, _NAMED)
        return [
            *(c.families[family] for family in Family),
            *(layers[layer] for layer in Layer),
            *c.hues,
            c.families[Family.OTHER if c.flat else Family.COUNTER],
        ]

    @cached_property
    def timeline(self) -> tuple[Style, ...]:
        """The styles of a timeline's rows by code: no first picture waits for them."""
        c = self.colours
        styles = [
            self.style(c.faint),
            self.style(c.faint, c.marked),
            self.style(c.canvas, c.cursor, bold=True),
            self.style(c.canvas, c.warning, bold=True) + _UNDERLINED,
            self.style(c.warning, bold=True) + _UNDERLINED,
        ]
        slots = self.slots()
        second = self._seconds(slots)
        for first in slots:
            tones = (first, second[first])
            styles += [self.style(c.canvas, tones[i], underlined=i > 0) for i in (0, 1)]
            styles += [self.style(tone) for tone in tones]
            styles += [self.style(tone, c.marked) for tone in tones]
            lit = c.cursor if c.flat else mixed(first, c.cursor, _LIT)
            styles.append(self.style(c.canvas, lit, bold=True))
        return tuple(styles)

    def _seconds(self, firsts: list[str]) -> dict[str, str]:
        """The second tone of each colour: darker, or lighter where names could not be read on it.

        One that comes near to another colour on the terminal has none: it would pass for it.
        """
        c = self.colours
        if c.flat:
            return {first: first for first in firsts}
        found = {first: c.seconds.get(first, "") for first in dict.fromkeys(firsts)}
        ground = self._shown(c.canvas)
        taken = [self._shown(colour) for colour in (*found, *filter(None, found.values()))]
        darker, lighter = (c.canvas, c.cursor) if c.dark else (c.text, c.canvas)
        ways = [(other, share) for other in (darker, lighter) for share in _SECOND_TONES]
        for first in [first for first, second in found.items() if not second]:
            found[first] = first
            for tone in (mixed(first, other, share) for other, share in ways):
                shown = self._shown(tone)
                if contrast(shown, ground) < READABLE:
                    continue
                if self._few and any(distance(shown, one) < _APART for one in taken):
                    continue
                found[first] = tone
                taken.append(shown)
                break
        return found


def palette_for(theme: str, color_system: str | None, plain: bool = False) -> Palette:
    """The palette of a theme on a terminal with ``truecolor``, ``256`` or ``standard`` colours.

    ``plain``: no colours are written at all, see :class:`Palette`. The same one at every call:
    each part of a screen asks for it.
    """
    return _palette(theme, color_system, plain, screen_settings.letters or not writes_unicode())


@cache
def _palette(theme: str, color_system: str | None, plain: bool, letters: bool) -> Palette:
    colours = THEMES.get(theme, DARK)
    if color_system == "standard":
        colours = DARK_16 if colours.dark else LIGHT_16
    return Palette(colours, plain, few=color_system == "256", letters=letters)


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with ``share`` of another mixed in."""
    pairs = zip(_rgb(colour), _rgb(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def distance(one: str, other: str) -> float:
    """How far apart two colours are to the eye, roughly: red counts more the more there is."""
    (r, g, b), (r2, g2, b2) = _rgb(one), _rgb(other)
    red = (r + r2) / 512
    parts = ((2 + red) * (r - r2) ** 2, 4 * (g - g2) ** 2, (2.996 - red) * (b - b2) ** 2)
    return float(sum(parts) ** 0.5)


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, 1 to 21, as WCAG 2.1 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=1024)
def _luminance(colour: str) -> float:
    parts = [part / 255 for part in _rgb(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@lru_cache(maxsize=1024)
def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
