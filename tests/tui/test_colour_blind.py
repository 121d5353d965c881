"""Colours seen without red cones, or without green ones, can still be told apart.

The simulation is that of Machado, Oliveira and Fernandes (2009) for full severity, distances are
those of CIELAB (CIE 1976; about 2.3 is the least that is noticed).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tui.test_palette import contrast
from whichlayer.analysis.layers import Layer
from whichlayer.tui.colours import DARK, LIGHT, SAFE, SAFE_LIGHT, THEMES, Colours
from whichlayer.tui.family import Family
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
}  # fmt: skip
_XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
])  # fmt: skip

GPU = [family for family in Family if family <= Family.KERNEL]


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


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", [SAFE, SAFE_LIGHT], ids=lambda one: one.name)
def test_the_colour_blind_tell_layers_and_families_of_gpu_work_apart(
    colours: Colours, sight: str
) -> None:
    assert nearest([colours.layers[layer] for layer in Layer], SIGHTS[sight]) >= 20
    assert nearest([colours.families[family] for family in GPU], SIGHTS[sight]) >= 20


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("colours", [DARK, LIGHT, SAFE, SAFE_LIGHT], ids=lambda one: one.name)
def test_everyone_tells_the_hues_of_streams_and_names_apart(colours: Colours, sight: str) -> None:
    assert len(colours.hues) == HUES
    assert nearest(list(colours.hues), SIGHTS[sight]) >= 20


@pytest.mark.parametrize("colours", THEMES.values(), ids=lambda one: one.name)
def test_hues_and_layers_stand_out_from_the_canvas(colours: Colours) -> None:
    owners = [colours.layers[layer] for layer in Layer if layer != Layer.NONE]
    for colour in (*colours.hues, *owners):
        assert contrast(colour, colours.canvas) >= 3.5
