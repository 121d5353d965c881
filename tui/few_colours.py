"""The nearest of 256 colours, to the eye.

What writes to the terminal takes mixed colours apart by channel: two shades that differ may come
out as one. Shades that matter are chosen here instead, as CIELAB has them (CIE 1976).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from rich.color import Color, ColorSystem

Float64 = NDArray[np.float64]

_TO_XYZ = np.array([
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
])  # fmt: skip
_LEVELS = (0x00, 0x5F, 0x87, 0xAF, 0xD7, 0xFF)


@cache
def nearest(colour: str) -> str:
    """The colour to write so that 256 colours come as near to another as they can.

    >>> nearest("#5f87d7")
    '#5f87d7'
    """
    written, shown = _reachable()
    away = np.linalg.norm(shown - lab_of([colour]), axis=1)
    return written[int(away.argmin())]


@cache
def _reachable() -> tuple[list[str], Float64]:
    """What can be written, and what a terminal with 256 colours shows of it, in CIELAB."""
    cube = [f"#{r:02x}{g:02x}{b:02x}" for r in _LEVELS for g in _LEVELS for b in _LEVELS]
    greys = [f"#{level:02x}{level:02x}{level:02x}" for level in range(0, 256, 2)]
    written = {
        Color.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex: colour
        for colour in (*greys, *cube)
    }
    return list(written.values()), lab_of(list(written))


def lab_of(colours: list[str]) -> Float64:
    """CIELAB of some colours: float64 (n, 3)."""
    parts = np.array([[int(one[i : i + 2], 16) / 255 for i in (1, 3, 5)] for one in colours])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = linear @ _TO_XYZ.T / _TO_XYZ.sum(axis=1)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack(
        (116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])), axis=1
    )
