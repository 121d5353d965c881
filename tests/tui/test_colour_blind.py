"""Colours seen without red, green or blue cones can still be told apart.

The simulation is that of Machado, Oliveira and Fernandes (2009) for full severity, distances are
those of CIELAB (CIE 1976; about 2.3 is the least that is noticed).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.color import Color, ColorSystem

from whichlayer.analysis.layers import Layer
from whichlayer.tui.colours import DARK, LIGHT, SAFE, SAFE_LIGHT, Colours
from whichlayer.tui.family import Family
from whichlayer.tui.palette import Palette, bar_code
from whichlayer.tui.slots import HUES

Matrix = NDArray[np.float64]

SIGHTS = {
    "usual": np.eye(3),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]),
    "tritanopia": np.array([
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ]),
}  # fmt: skip
#: The least distance of any two: who sees no blue has less room, and is one in ten thousand.
LEAST = {"usual": 20.0, "protanopia": 20.0, "deuteranopia": 20.0, "tritanopia": 16.0}
SYSTEMS = ("truecolor", "256")
_XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
])  # fmt: skip

GPU = [family for family in Family if family <= Family.KERNEL]
HOST = [family for family in Family if Family.GPU_NOTE < family < Family.COUNTER]


def lab(colour: str, sight: Matrix) -> Matrix:
    """CIELAB of a colour as it is seen."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    white = _XYZ @ np.ones(3)
    xyz = _XYZ @ np.clip(sight @ linear, 0, 1) / white
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def nearest(colours: list[str], sight: Matrix) -> float:
    """The least distance between any two."""
    pairs = combinations([lab(colour, sight) for colour in colours], 2)
    return min(float(np.linalg.norm(one - other)) for one, other in pairs)


def test_the_measure_knows_red_from_green_and_that_some_do_not() -> None:
    red_green = ["#c00000", "#6b6b00"]
    assert nearest(red_green, SIGHTS["usual"]) > 50
    assert nearest(red_green, SIGHTS["protanopia"]) < nearest(red_green, SIGHTS["usual"]) / 2


def seen(colours: Colours, system: str) -> tuple[Palette, Callable[[str], str]]:
    """The palette, and what a terminal shows of a colour."""
    few = system == "256"

    def shown(colour: str) -> str:
        if not few:
            return colour
        return Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex

    return Palette(colours, few=few), shown


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", [SAFE, SAFE_LIGHT], ids=lambda one: one.name)
def test_the_colour_blind_tell_owners_and_families_apart(
    colours: Colours, sight: str, system: str
) -> None:
    _, shown = seen(colours, system)
    for group in (
        [colours.layers[layer] for layer in Layer],
        [colours.families[family] for family in GPU],
        [colours.families[family] for family in HOST],
    ):
        assert nearest([shown(colour) for colour in group], SIGHTS[sight]) >= LEAST[sight]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", [SAFE, SAFE_LIGHT], ids=lambda one: one.name)
def test_no_tone_of_a_family_passes_for_another_family(
    colours: Colours, sight: str, system: str
) -> None:
    palette, shown = seen(colours, system)
    for families in (GPU, HOST):
        tones = {
            family: [shown(colour_of(palette, bar_code(family, tone))) for tone in (0, 1)]
            for family in families
        }
        for one, other in combinations(families, 2):
            for pair in product(tones[one], tones[other]):
                assert nearest(list(pair), SIGHTS[sight]) >= 7, (one, other)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("share", [0.6, 0.8, 1.0])
@pytest.mark.parametrize("colours", [SAFE, SAFE_LIGHT], ids=lambda one: one.name)
def test_owners_differ_in_the_heatmap_where_most_of_a_cell_is_idle(
    colours: Colours, share: float, sight: str, system: str
) -> None:
    palette, shown = seen(colours, system)
    owners = [layer for layer in Layer if layer != Layer.NONE]
    grounds = [palette.shade(layer, share).bgcolor for layer in owners]
    told = [shown(ground.get_truecolor().hex) for ground in grounds if ground is not None]
    assert len(told) == len(owners)
    assert nearest(told, SIGHTS[sight]) >= (8 if share < 1 else 20)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("colours", [DARK, LIGHT, SAFE, SAFE_LIGHT], ids=lambda one: one.name)
def test_everyone_else_tells_owners_families_and_shades_apart(
    colours: Colours, system: str
) -> None:
    palette, shown = seen(colours, system)
    sight = SIGHTS["usual"]
    assert nearest([shown(colours.layers[layer]) for layer in Layer], sight) >= 15
    for families in (GPU, HOST):
        assert nearest([shown(colours.families[family]) for family in families], sight) >= 10
    owners = [layer for layer in Layer if layer != Layer.NONE]
    for share in (0.4, 0.6, 0.8, 1.0):
        grounds = [palette.shade(layer, share).bgcolor for layer in owners]
        told = [shown(ground.get_truecolor().hex) for ground in grounds if ground is not None]
        assert nearest(told, sight) >= 13


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", [DARK, LIGHT, SAFE, SAFE_LIGHT], ids=lambda one: one.name)
def test_everyone_tells_the_hues_of_streams_and_names_apart(
    colours: Colours, sight: str, system: str
) -> None:
    assert len(colours.hues) == HUES
    _, shown = seen(colours, system)
    assert nearest([shown(hue) for hue in colours.hues], SIGHTS[sight]) >= LEAST[sight]


def colour_of(palette: Palette, code: int) -> str:
    ground = palette.timeline[code].bgcolor
    assert ground is not None
    return str(ground.get_truecolor().hex)
