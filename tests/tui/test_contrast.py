"""Everything that is written can be read: contrasts as WCAG 2.1 asks for them (1.4.3, 1.4.11)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color, ColorSystem
from rich.style import Style
from textual.color import Color as TextualColor

from whichlayer.analysis.layers import Layer
from whichlayer.tui.colours import THEMES
from whichlayer.tui.few_colours import nearest
from whichlayer.tui.palette import (
    BLANK_MARKED,
    CURSOR,
    HIT,
    HIT_GLYPH,
    Palette,
    bar_code,
    contrast,
    glyph_code,
    lit_code,
    palette_for,
)
from whichlayer.tui.slots import SLOTS
from whichlayer.tui.themes import theme_of

#: Least contrast of text, and of lines, ticks and parts of pictures.
TEXT, GRAPHICAL = 4.5, 3.0

#: Shares that the heatmap mixes its colours by.
SHADES = (0.4, 0.6, 0.8, 1.0)
SYSTEMS = ("truecolor", "256", "standard")
COLOURS = st.from_regex(r"#[0-9a-f]{6}", fullmatch=True)


def shown(colour: Color, system: str) -> str:
    """What the terminal shows: sixteen colours are what Rich takes them to be."""
    if system == "256":
        colour = colour.downgrade(ColorSystem.EIGHT_BIT)
    return colour.get_truecolor().hex


def contrast_of(style: Style, system: str) -> float:
    assert style.color is not None and style.bgcolor is not None
    return contrast(shown(style.color, system), shown(style.bgcolor, system))


def texts(palette: Palette) -> Iterator[tuple[str, Style]]:
    """Every style that words or letters are written in."""
    colours = palette.colours
    for name in ("text", "dim", "strong", "accent", "chosen", "marked"):
        yield name, getattr(palette, name)
    grounds = {"canvas": colours.canvas, "surface": colours.surface, "marked": colours.marked}
    for ink in ("text", "dim", "accent", "warning"):
        for ground, colour in grounds.items():
            yield f"{ink} on {ground}", palette.style(getattr(colours, ink), colour)
    tags = {"accent": colours.accent, "warning": colours.warning, "cursor": colours.cursor,
            "dim": colours.dim, "healthy": colours.layers[Layer.BOUNDARY]}  # fmt: skip
    for tag, colour in tags.items():
        yield f"tag on {tag}", palette.style(colours.canvas, colour, bold=True)
    for code in (CURSOR, HIT, HIT_GLYPH):
        yield f"mark {code}", palette.timeline[code]
    for slot in range(SLOTS):
        yield f"lit bar {slot}", palette.timeline[lit_code(slot)]
        for tone in (0, 1):
            yield f"bar {slot} {tone}", palette.timeline[bar_code(slot, tone)]
    for layer in Layer:
        if layer != Layer.NONE:
            for strong in (False, True):
                yield f"letter {layer.name} {strong}", palette.layer(layer, strong)
        for share in SHADES:
            if layer != Layer.NONE or not colours.flat:
                yield f"shade {layer.name} {share}", palette.shade(layer, share)


def pictures(palette: Palette) -> Iterator[tuple[str, Style]]:
    """Every style that lines, ticks, ends of bars and dots are drawn in."""
    yield "faint", palette.faint
    yield "no owner", palette.layer(Layer.NONE, strong=True)
    yield "joined", palette.joined(marked=False)
    yield "joined on a selection", palette.joined(marked=True)
    for slot in range(SLOTS):
        for tone in (0, 1):
            for marked in (False, True):
                style = palette.timeline[glyph_code(slot, tone, marked)]
                yield f"glyph {slot} {tone} {marked}", style


def too_weak(styles: Iterator[tuple[str, Style]], system: str, least: float) -> dict[str, float]:
    found = {name: contrast_of(style, system) for name, style in styles}
    assert len(found) > 3
    return {name: round(value, 2) for name, value in found.items() if value < least}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("theme", THEMES)
def test_every_word_and_letter_stands_out_from_its_ground(theme: str, system: str) -> None:
    assert not too_weak(texts(palette_for(theme, system)), system, TEXT)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("theme", THEMES)
def test_every_line_and_every_end_of_a_bar_stands_out(theme: str, system: str) -> None:
    assert not too_weak(pictures(palette_for(theme, system)), system, GRAPHICAL)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("theme", THEMES)
def test_a_selection_and_the_lit_bar_are_seen(theme: str, system: str) -> None:
    palette = palette_for(theme, system)
    marked = palette.timeline[BLANK_MARKED].bgcolor
    assert marked is not None
    assert shown(marked, system) != shown(Color.parse(palette.colours.canvas), system)
    for slot in range(SLOTS):
        grounds = [palette.timeline[code].bgcolor for code in (bar_code(slot, 0), lit_code(slot))]
        one, other = (shown(ground, system) for ground in grounds if ground is not None)
        style = palette.timeline[lit_code(slot)]
        assert one != other or style.bold


@pytest.mark.parametrize("theme", THEMES)
def test_titles_of_panels_and_sheets_can_be_read(theme: str) -> None:
    drawn = theme_of(THEMES[theme]).to_color_system().generate()
    canvas = TextualColor.parse(drawn["background"])
    chosen = TextualColor.parse(drawn["primary"])
    for name, ground, least in (
        ("text-muted", canvas, TEXT),
        ("primary", canvas, TEXT),
        ("surface-lighten-2", canvas, GRAPHICAL),
        ("background", chosen, TEXT),
    ):
        colour = TextualColor.parse(drawn[name]).hex
        for system in SYSTEMS[:2]:
            one, other = (shown(Color.parse(part[:7]), system) for part in (colour, ground.hex))
            assert contrast(one, other) >= least, name


@pytest.mark.parametrize("theme", THEMES)
def test_no_second_tone_is_the_colour_of_another_family(theme: str) -> None:
    for system in SYSTEMS[:2]:
        palette = palette_for(theme, system)
        for rows in (range(12), range(12, 22)):
            tones: dict[str, int] = {}
            for slot in rows:
                for tone in (0, 1):
                    ground = palette.timeline[bar_code(slot, tone)].bgcolor
                    assert ground is not None
                    colour = shown(ground, system)
                    families = {
                        palette.colours.families[family]
                        for family in palette.colours.families
                        if family in (slot, tones.get(colour, slot))
                    }
                    assert len(families) == 1, (colour, slot, tones[colour])
                    tones[colour] = slot


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)
    assert contrast("#ff0000", "#ff0000") == 1


@given(COLOURS)
def test_the_nearest_colour_is_one_that_a_terminal_shows_and_is_its_own_nearest(
    colour: str,
) -> None:
    written = nearest(colour)
    assert nearest(shown(Color.parse(written), "256")) == written


@pytest.mark.parametrize("colour", ["#5f87d7", "#000000", "#ffffff", "#00875f", "#303030"])
def test_a_colour_that_the_terminal_has_is_kept(colour: str) -> None:
    assert shown(Color.parse(nearest(colour)), "256") == colour
