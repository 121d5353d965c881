"""The colours of the themes.

Layers always carry their letter as well. Families of slices are quieter, so that the owners stand
out. In the colour-blind themes layers, families of GPU work and hues can be told apart without
seeing red or without seeing green (``tests/tui/test_colour_blind.py`` measures it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from whichlayer.analysis.layers import Layer
from whichlayer.tui.family import Family


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one theme, as ``#rrggbb``.

    ``canvas`` lies behind the timeline and is the colour of text on bars; ``surface`` lies
    behind the header and titles; ``marked`` lies behind a selection. ``hues`` stand for streams
    and names. ``flat`` colours are never mixed: the terminal has no shades between them.
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
    hues: tuple[str, ...]
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
        Family.COUNTER: "#566f7f",
    },
    hues=(
        "#87d7ff",
        "#875fff",
        "#0087af",
        "#ffd787",
        "#afd7af",
        "#00ff00",
        "#5faf00",
        "#00afff",
        "#5f875f",
        "#5fafaf",
    ),
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
        Family.COUNTER: "#6f8795",
    },
    hues=(
        "#0000ff",
        "#5f00af",
        "#878700",
        "#005f00",
        "#87005f",
        "#870087",
        "#5f5fff",
        "#5f87d7",
        "#ff005f",
        "#ff0087",
    ),
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
        Family.OVERHEAD: "#ff5555",
        Family.OTHER: "#aaaaaa",
        Family.COUNTER: "#55ffff",
    },
    hues=(
        "#00aaaa",
        "#ff55ff",
        "#ffff55",
        "#5555ff",
        "#00aa00",
        "#ff5555",
        "#55ffff",
        "#aa5500",
        "#55ff55",
        "#aaaaaa",
    ),
    flat=True,
)

#: The light theme of such a terminal: what can be read on white. No brown, which most of them
#: show as a yellow, and no cyan.
LIGHT_16 = Colours(
    name="whichlayer-light",
    dark=False,
    canvas="#ffffff",
    surface="#ffffff",
    text="#000000",
    dim="#555555",
    faint="#555555",
    accent="#0000aa",
    marked="#55ffff",
    cursor="#000000",
    warning="#aa0000",
    layers={
        Layer.PYTORCH: "#000000",
        Layer.RUNTIME: "#5555ff",
        Layer.BOUNDARY: "#00aa00",
        Layer.CUDA: "#aa00aa",
        Layer.PRECISION: "#aa0000",
        Layer.NONE: "#aaaaaa",
        Layer.UNKNOWN: "#555555",
    },
    families={
        Family.MATMUL: "#0000aa",
        Family.ATTENTION: "#5555ff",
        Family.CONVOLUTION: "#5555ff",
        Family.REDUCTION: "#00aa00",
        Family.POINTWISE: "#00aa00",
        Family.OPTIMIZER: "#000000",
        Family.INDEX: "#aa0000",
        Family.COMPILED: "#5555ff",
        Family.COLLECTIVE: "#aa00aa",
        Family.COPY: "#aa0000",
        Family.KERNEL: "#555555",
        Family.GPU_NOTE: "#555555",
        Family.OPERATOR: "#0000aa",
        Family.BACKWARD: "#5555ff",
        Family.ANNOTATION: "#555555",
        Family.LOADER: "#aa00aa",
        Family.PYTHON: "#555555",
        Family.MODULE: "#00aa00",
        Family.CALL: "#555555",
        Family.WAIT: "#aa0000",
        Family.OVERHEAD: "#aa0000",
        Family.OTHER: "#555555",
        Family.COUNTER: "#0000aa",
    },
    hues=(
        "#0000aa",
        "#aa00aa",
        "#00aa00",
        "#aa0000",
        "#000000",
        "#5555ff",
        "#555555",
        "#0000aa",
        "#aa00aa",
        "#00aa00",
    ),
    flat=True,
)

#: Families in the order of the colours below: what a GPU does, then what the host does. The two
#: are never in one row, so the host's may share colours with the GPU's.
_GPU_FAMILIES = (
    Family.MATMUL, Family.COMPILED, Family.COPY, Family.COLLECTIVE, Family.OPTIMIZER,
    Family.ATTENTION, Family.POINTWISE, Family.CONVOLUTION, Family.INDEX, Family.REDUCTION,
)  # fmt: skip
_HOST_FAMILIES = {Family.OPERATOR: 0, Family.BACKWARD: 1, Family.LOADER: 3, Family.WAIT: 5}


def _safe(colours: Colours, name: str, layers: Mapping[Layer, str]) -> Colours:
    """A theme with the same ground, in which hues stand for families as well."""
    gpu = dict(zip(_GPU_FAMILIES, colours.hues, strict=True))
    host = {family: colours.hues[hue] for family, hue in _HOST_FAMILIES.items()}
    families = {**colours.families, **gpu, **host, Family.KERNEL: colours.cursor}
    return replace(colours, name=name, families=families, layers={**colours.layers, **layers})


SAFE = _safe(
    DARK,
    "whichlayer-colour-blind",
    {
        Layer.PYTORCH: "#d75f00",
        Layer.RUNTIME: "#0087ff",
        Layer.BOUNDARY: "#00ff87",
        Layer.CUDA: "#d7afff",
        Layer.PRECISION: "#ffd700",
    },
)

SAFE_LIGHT = _safe(
    LIGHT,
    "whichlayer-colour-blind-light",
    {
        Layer.PYTORCH: "#d75f00",
        Layer.RUNTIME: "#0087ff",
        Layer.BOUNDARY: "#00875f",
        Layer.CUDA: "#5f0087",
        Layer.PRECISION: "#870000",
        Layer.UNKNOWN: "#5f87af",
    },
)

THEMES = {colours.name: colours for colours in (DARK, LIGHT, SAFE, SAFE_LIGHT)}
