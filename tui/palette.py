"""Colours of the screen, and the styles made of them once per theme.

Layers use the Okabe-Ito set, which the colour-blind can tell apart, and always carry their
letter as well. Families of slices are quieter, so that the owners stand out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.color import Color
from rich.style import Style

from whichlayer.analysis.layers import Layer
from whichlayer.tui.families import Family


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one theme, as ``#rrggbb``.

    ``canvas`` lies behind the timeline and is the colour of text on bars; ``surface`` lies
    behind the header and titles; ``marked`` lies behind a selection. ``flat`` colours are
    never mixed: the terminal has no shades between them.
    """

    name: str
    dark: bool
    canvas: str
    surface: str
    text: str
    dim: str
    faint: str
    accent: str
    marked: str
    cursor: str
    warning: str
    layers: Mapping[Layer, str]
    families: Mapping[Family, str]
    flat: bool = False


DARK = Colours(
    name="whichlayer-dark",
    dark=True,
    canvas="#121212",
    surface="#262626",
    text="#dadada",
    dim="#949494",
    faint="#585858",
    accent="#5fafff",
    marked="#303a4e",
    cursor="#ffffff",
    warning="#ffaf5f",
    layers={
        Layer.PYTORCH: "#e69f00",
        Layer.RUNTIME: "#56b4e9",
        Layer.BOUNDARY: "#1fc09a",
        Layer.CUDA: "#e078b4",
        Layer.PRECISION: "#f0e442",
        Layer.NONE: "#585858",
        Layer.UNKNOWN: "#b2b2b2",
    },
    families={
        Family.MATMUL: "#5f87d7",
        Family.ATTENTION: "#8787d7",
        Family.CONVOLUTION: "#5f87af",
        Family.REDUCTION: "#87af87",
        Family.POINTWISE: "#5faf87",
        Family.OPTIMIZER: "#afaf5f",
        Family.INDEX: "#af8787",
        Family.COMPILED: "#5fafaf",
        Family.COLLECTIVE: "#d787af",
        Family.COPY: "#d7af87",
        Family.KERNEL: "#87afaf",
        Family.GPU_NOTE: "#6c6c6c",
        Family.OPERATOR: "#5f87af",
        Family.BACKWARD: "#8787af",
        Family.ANNOTATION: "#878787",
        Family.LOADER: "#d7875f",
        Family.PYTHON: "#767676",
        Family.MODULE: "#87875f",
        Family.CALL: "#8a9ba8",
        Family.WAIT: "#d75f5f",
        Family.OVERHEAD: "#875f5f",
        Family.OTHER: "#808080",
    },
)

LIGHT = Colours(
    name="whichlayer-light",
    dark=False,
    canvas="#ffffff",
    surface="#e4e4e4",
    text="#262626",
    dim="#626262",
    faint="#b2b2b2",
    accent="#005faf",
    marked="#d7e3f7",
    cursor="#000000",
    warning="#af5f00",
    layers={
        Layer.PYTORCH: "#b36b00",
        Layer.RUNTIME: "#0072b2",
        Layer.BOUNDARY: "#00795b",
        Layer.CUDA: "#b0437f",
        Layer.PRECISION: "#857a00",
        Layer.NONE: "#b2b2b2",
        Layer.UNKNOWN: "#626262",
    },
    families={
        Family.MATMUL: "#3a5fb0",
        Family.ATTENTION: "#6a5fb5",
        Family.CONVOLUTION: "#3f6d94",
        Family.REDUCTION: "#4c7d4c",
        Family.POINTWISE: "#2f7d5f",
        Family.OPTIMIZER: "#77773a",
        Family.INDEX: "#8a5f5f",
        Family.COMPILED: "#2f7f86",
        Family.COLLECTIVE: "#a3507a",
        Family.COPY: "#94673a",
        Family.KERNEL: "#4d7a86",
        Family.GPU_NOTE: "#8a8a8a",
        Family.OPERATOR: "#3f6d94",
        Family.BACKWARD: "#5f5f9c",
        Family.ANNOTATION: "#767676",
        Family.LOADER: "#b0552f",
        Family.PYTHON: "#8a8a8a",
        Family.MODULE: "#6f6f3f",
        Family.CALL: "#5f707d",
        Family.WAIT: "#af3a3a",
        Family.OVERHEAD: "#875f5f",
        Family.OTHER: "#808080",
    },
)

#: For terminals with 16 colours: the colours that Rich takes those to be, so that each stays
#: what it is here.
DARK_16 = Colours(
    name="whichlayer-dark",
    dark=True,
    canvas="#000000",
    surface="#000000",
    text="#ffffff",
    dim="#aaaaaa",
    faint="#555555",
    accent="#55ffff",
    marked="#0000aa",
    cursor="#ffffff",
    warning="#ffff55",
    layers={
        Layer.PYTORCH: "#aa5500",
        Layer.RUNTIME: "#5555ff",
        Layer.BOUNDARY: "#00aa00",
        Layer.CUDA: "#ff55ff",
        Layer.PRECISION: "#ffff55",
        Layer.NONE: "#555555",
        Layer.UNKNOWN: "#aaaaaa",
    },
    families={
        Family.MATMUL: "#00aaaa",
        Family.ATTENTION: "#55ffff",
        Family.CONVOLUTION: "#5555ff",
        Family.REDUCTION: "#00aa00",
        Family.POINTWISE: "#55ff55",
        Family.OPTIMIZER: "#aa5500",
        Family.INDEX: "#ff5555",
        Family.COMPILED: "#55ffff",
        Family.COLLECTIVE: "#ff55ff",
        Family.COPY: "#ffff55",
        Family.KERNEL: "#aaaaaa",
        Family.GPU_NOTE: "#aaaaaa",
        Family.OPERATOR: "#00aaaa",
        Family.BACKWARD: "#5555ff",
        Family.ANNOTATION: "#aaaaaa",
        Family.LOADER: "#aa5500",
        Family.PYTHON: "#aaaaaa",
        Family.MODULE: "#00aa00",
        Family.CALL: "#55ffff",
        Family.WAIT: "#ff5555",
        Family.OVERHEAD: "#aa0000",
        Family.OTHER: "#aaaaaa",
    },
    flat=True,
)

THEMES = {colours.name: colours for colours in (DARK, LIGHT)}

#: Style codes of a timeline row; see :func:`bar_code` and :func:`glyph_code`.
BLANK, BLANK_MARKED, CURSOR = range(3)
_FIRST_FAMILY = 3
_PER_FAMILY = 7

#: How much darkness is mixed into every second bar of a family, so that two that touch can
#: be told apart.
_SECOND_TONE = 0.22

#: Share of a shade from which dark text stands out better on it.
_STRONG = 0.55

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

    def __init__(self, colours: Colours) -> None:
        """Build the table of timeline styles."""
        self.colours = colours
        self._cache: dict[tuple[str, str, bool], Style] = {}
        self.timeline = self._timeline_styles()

    def style(self, fg: str, bg: str = "", bold: bool = False) -> Style:
        """Text in one colour on another (the canvas where none is given)."""
        key = (fg, bg or self.colours.canvas, bold)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = Style(
                color=Color.parse(key[0]), bgcolor=Color.parse(key[1]), bold=bold or None
            )
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

    def _timeline_styles(self) -> tuple[Style, ...]:
        c = self.colours
        styles = [
            self.style(c.faint),
            self.style(c.faint, c.marked),
            self.style(c.canvas, c.cursor, bold=True),
        ]
        for family in Family:
            first = c.families[family]
            second = first if c.flat else mixed(first, _darkness(c), _SECOND_TONE)
            tones = (first, second)
            styles += [self.style(c.canvas, tone) for tone in tones]
            styles += [self.style(tone) for tone in tones]
            styles += [self.style(tone, c.marked) for tone in tones]
            lit = c.cursor if c.flat else mixed(first, c.cursor, _LIT)
            styles.append(self.style(c.canvas, lit, bold=True))
        return tuple(styles)


def palette_for(theme: str, color_system: str | None) -> Palette:
    """The palette of a theme on a terminal with ``truecolor``, ``256`` or ``standard`` colours."""
    colours = THEMES.get(theme, DARK)
    if colours.dark and color_system == "standard":
        colours = DARK_16
    return Palette(colours)


def _darkness(colours: Colours) -> str:
    return colours.canvas if colours.dark else colours.text


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with ``share`` of another mixed in."""
    pairs = zip(_rgb(colour), _rgb(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
