from __future__ import annotations

import pytest
from rich._palettes import STANDARD_PALETTE

from whichlayer.analysis.layers import Layer
from whichlayer.tui.colours import DARK, DARK_16, LIGHT, LIGHT_16, THEMES, Colours
from whichlayer.tui.family import Family
from whichlayer.tui.palette import (
    BLANK,
    BLANK_MARKED,
    CURSOR,
    HIT,
    HIT_GLYPH,
    Palette,
    bar_code,
    contrast,
    glyph_code,
    lit_code,
    mixed,
    palette_for,
)
from whichlayer.tui.slots import SLOTS

#: The sixteen colours as Rich takes them to be.
ANSI = [tuple(STANDARD_PALETTE[number]) for number in range(16)]
EVERY = [DARK, LIGHT, DARK_16, LIGHT_16]


@pytest.mark.parametrize("colours", EVERY)
def test_every_layer_and_family_has_a_colour(colours: Colours) -> None:
    assert set(colours.layers) == set(Layer)
    assert set(colours.families) == set(Family)


@pytest.mark.parametrize("colours", [DARK, LIGHT, LIGHT_16])
def test_text_on_bars_and_letters_on_layers_can_be_read(colours: Colours) -> None:
    for colour in (*colours.families.values(), *colours.layers.values()):
        if colour != colours.layers[Layer.NONE]:
            assert contrast(colour, colours.canvas) >= 3
    assert contrast(colours.text, colours.canvas) >= 7
    assert contrast(colours.dim, colours.canvas) >= 4.5


@pytest.mark.parametrize("colours", EVERY)
def test_layers_differ_in_letter_and_in_colour(colours: Colours) -> None:
    assert len(set(colours.layers.values())) == len(Layer)
    assert len({layer.text.letter for layer in Layer}) == len(Layer)


def test_style_codes_are_distinct_and_have_styles() -> None:
    palette = Palette(DARK)
    codes = {BLANK, BLANK_MARKED, CURSOR, HIT, HIT_GLYPH}
    for family in range(SLOTS):
        for tone in (0, 1):
            codes |= {bar_code(family, tone), glyph_code(family, tone, False)}
            codes.add(glyph_code(family, tone, True))
        codes.add(lit_code(family))
    assert codes == set(range(len(palette.timeline)))


@pytest.mark.parametrize(("name", "colours"), [(DARK.name, DARK_16), (LIGHT.name, LIGHT_16)])
def test_sixteen_colours_are_used_unmixed(name: str, colours: Colours) -> None:
    palette = palette_for(name, "standard")
    assert palette.colours is colours
    ansi = {"#" + "".join(f"{part:02x}" for part in colour) for colour in ANSI}
    for style in (*palette.timeline, *(palette.shade(layer, 0.5) for layer in Layer), palette.dim,
                  palette.text, palette.faint, palette.accent, palette.marked):  # fmt: skip
        for colour in (style.color, style.bgcolor):
            assert colour is not None and colour.name in ansi


@pytest.mark.parametrize("name", THEMES)
def test_text_can_be_read_in_sixteen_colours(name: str) -> None:
    palette = palette_for(name, "standard")
    styles = [palette.text, palette.dim, palette.accent, palette.chosen, palette.marked]
    styles += [palette.layer(layer, strong=True) for layer in Layer if layer != Layer.NONE]
    styles += [palette.timeline[bar_code(slot, 0)] for slot in range(SLOTS)]
    for style in styles:
        assert style.color is not None and style.bgcolor is not None
        assert contrast(style.color.name, style.bgcolor.name) >= 3


@pytest.mark.parametrize("name", [*THEMES, "textual-dark"])
def test_every_theme_has_a_palette(name: str) -> None:
    colours = palette_for(name, "256").colours
    assert colours is THEMES.get(name, DARK)


def test_styles_are_made_once() -> None:
    palette = Palette(DARK)
    assert palette.style("#ffffff") is palette.style("#ffffff")


def test_mixing_goes_from_one_colour_to_the_other() -> None:
    assert mixed("#000000", "#ffffff", 0) == "#000000"
    assert mixed("#000000", "#ffffff", 1) == "#ffffff"
    assert mixed("#102030", "#304050", 0.5) == "#203040"
