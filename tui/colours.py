"""The colours of the themes.

Layers always carry their letter as well. Families of slices are quieter, so that the owners stand
out. In the colour-blind themes layers, families of GPU work and hues can be told apart without
seeing red or without seeing green (``tests/tui/test_colour_blind.py`` measures it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from whichlayer.analysis.layers import Layer
from whichlayer.tui.family import Family


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one theme, as ``#rrggbb``.

    ``canvas`` lies behind the timeline and is the colour of text on bars; ``surface`` lies
    behind the header and titles; ``marked`` lies behind a selection. ``hues`` stand for streams
    and names. ``flat`` colours are never mixed: the terminal has no shades between them.
    ``seconds`` are second tones of some colours, where what is mixed would pass for another.
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
    seconds: Mapping[str, str] = field(default_factory=dict)


DARK = Colours(
    name="whichlayer-dark",
    dark=True,
    canvas="#121212",
    surface="#262626",
    text="#dadada",
    dim="#a0a0a0",
    faint="#626262",
    accent="#5fafff",
    marked="#2d3239",
    cursor="#ffffff",
    warning="#ffaf5f",
    layers={
        Layer.PYTORCH: "#e69f00",
        Layer.RUNTIME: "#56b4e9",
        Layer.BOUNDARY: "#1fc09a",
        Layer.CUDA: "#e078b4",
        Layer.PRECISION: "#f0e442",
        Layer.NONE: "#626262",
        Layer.UNKNOWN: "#c6c6c6",
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
        Family.GPU_NOTE: "#808080",
        Family.OPERATOR: "#5f87af",
        Family.BACKWARD: "#8787af",
        Family.ANNOTATION: "#acacac",
        Family.LOADER: "#d7875f",
        Family.PYTHON: "#808080",
        Family.MODULE: "#87875f",
        Family.CALL: "#87afaf",
        Family.WAIT: "#d75f5f",
        Family.OVERHEAD: "#af8787",
        Family.OTHER: "#af87af",
        Family.COUNTER: "#5f8787",
    },
    hues=(
        "#5fafff",
        "#ffaf00",
        "#af5faf",
        "#afff87",
        "#ff0000",
        "#00ffaf",
        "#875fff",
        "#d7afd7",
        "#87af5f",
        "#d75f87",
    ),
    seconds={
        "#5f87d7": "#87afff",
        "#8787d7": "#afafff",
        "#5f87af": "#87afd7",
        "#87af87": "#afd7af",
        "#5faf87": "#87d7af",
        "#afaf5f": "#d7d787",
        "#af8787": "#d7afaf",
        "#5fafaf": "#00afaf",
        "#d787af": "#ffafd7",
        "#d7af87": "#ffd7af",
        "#87afaf": "#afd7d7",
        "#808080": "#949494",
        "#8787af": "#afafd7",
        "#acacac": "#c6c6c6",
        "#d7875f": "#ffaf87",
        "#87875f": "#afaf5f",
        "#d75f5f": "#ff8787",
        "#af87af": "#d7afd7",
        "#5f8787": "#87afaf",
        "#868686": "#9e9e9e",
        "#c6c6c6": "#dadada",
        "#e69f00": "#af8700",
        "#56b4e9": "#87d7ff",
        "#1fc09a": "#5fd7af",
        "#e078b4": "#ffafd7",
        "#f0e442": "#ffd700",
        "#5fafff": "#0087d7",
        "#ffaf00": "#ffaf00",
        "#af5faf": "#d787d7",
        "#afff87": "#87d75f",
        "#ff0000": "#ff0000",
        "#00ffaf": "#00d787",
        "#875fff": "#af5fff",
        "#d7afd7": "#ffd7ff",
        "#87af5f": "#5f875f",
        "#d75f87": "#ff87af",
        "#ffffff": "#d0d0d0",
    },
)

LIGHT = Colours(
    name="whichlayer-light",
    dark=False,
    canvas="#ffffff",
    surface="#e4e4e4",
    text="#262626",
    dim="#585858",
    faint="#949494",
    accent="#005faf",
    marked="#d7e3f7",
    cursor="#000000",
    warning="#af0000",
    layers={
        Layer.PYTORCH: "#af5f00",
        Layer.RUNTIME: "#0072b2",
        Layer.BOUNDARY: "#00795b",
        Layer.CUDA: "#af0087",
        Layer.PRECISION: "#5f5f00",
        Layer.NONE: "#949494",
        Layer.UNKNOWN: "#4e4e4e",
    },
    families={
        Family.MATMUL: "#005fd7",
        Family.ATTENTION: "#875faf",
        Family.CONVOLUTION: "#005f87",
        Family.REDUCTION: "#005f00",
        Family.POINTWISE: "#005f5f",
        Family.OPTIMIZER: "#5f5f00",
        Family.INDEX: "#875f5f",
        Family.COMPILED: "#8700af",
        Family.COLLECTIVE: "#87005f",
        Family.COPY: "#875f00",
        Family.KERNEL: "#5f5f87",
        Family.GPU_NOTE: "#767676",
        Family.OPERATOR: "#005faf",
        Family.BACKWARD: "#875faf",
        Family.ANNOTATION: "#4e4e4e",
        Family.LOADER: "#870000",
        Family.PYTHON: "#767676",
        Family.MODULE: "#005f5f",
        Family.CALL: "#5f5f87",
        Family.WAIT: "#af005f",
        Family.OVERHEAD: "#875f5f",
        Family.OTHER: "#303030",
        Family.COUNTER: "#5f5f87",
    },
    hues=(
        "#5f5fff",
        "#af5f00",
        "#5f005f",
        "#00875f",
        "#870000",
        "#000087",
        "#875f87",
        "#3a3a3a",
        "#5f5faf",
        "#0000d7",
    ),
    seconds={
        "#005fd7": "#5f5fd7",
        "#875faf": "#5f5faf",
        "#005f87": "#005faf",
        "#005f00": "#008700",
        "#5f5f00": "#5f5f00",
        "#875f5f": "#af5f5f",
        "#8700af": "#af00d7",
        "#87005f": "#af0087",
        "#875f00": "#af5f00",
        "#5f5f87": "#875f87",
        "#767676": "#585858",
        "#005faf": "#005fd7",
        "#4e4e4e": "#3a3a3a",
        "#005f5f": "#00875f",
        "#af005f": "#d70087",
        "#303030": "#121212",
        "#737373": "#626262",
        "#0072b2": "#5f5faf",
        "#af0087": "#d700af",
        "#5f5fff": "#875fd7",
        "#af5f00": "#875f00",
        "#5f005f": "#870087",
        "#00875f": "#00875f",
        "#870000": "#5f0000",
        "#000087": "#00005f",
        "#875f87": "#5f5f87",
        "#3a3a3a": "#4e4e4e",
        "#5f5faf": "#5f5faf",
        "#0000d7": "#0000ff",
        "#000000": "#1c1c1c",
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
    faint="#aaaaaa",
    accent="#55ffff",
    marked="#0000aa",
    cursor="#ffffff",
    warning="#ffff55",
    layers={
        Layer.PYTORCH: "#ff5555",
        Layer.RUNTIME: "#55ffff",
        Layer.BOUNDARY: "#00aa00",
        Layer.CUDA: "#ff55ff",
        Layer.PRECISION: "#ffff55",
        Layer.NONE: "#555555",
        Layer.UNKNOWN: "#aaaaaa",
    },
    families={
        Family.MATMUL: "#00aaaa",
        Family.ATTENTION: "#55ffff",
        Family.CONVOLUTION: "#ffffff",
        Family.REDUCTION: "#00aa00",
        Family.POINTWISE: "#55ff55",
        Family.OPTIMIZER: "#ffff55",
        Family.INDEX: "#ff5555",
        Family.COMPILED: "#ff55ff",
        Family.COLLECTIVE: "#ff55ff",
        Family.COPY: "#aaaaaa",
        Family.KERNEL: "#aaaaaa",
        Family.GPU_NOTE: "#aaaaaa",
        Family.OPERATOR: "#00aaaa",
        Family.BACKWARD: "#ff55ff",
        Family.ANNOTATION: "#aaaaaa",
        Family.LOADER: "#ffff55",
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
        "#55ff55",
        "#ff5555",
        "#55ffff",
        "#00aa00",
        "#ffffff",
        "#00aaaa",
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
        Layer.BOUNDARY: "#0000aa",
        Layer.CUDA: "#aa00aa",
        Layer.PRECISION: "#aa0000",
        Layer.NONE: "#aaaaaa",
        Layer.UNKNOWN: "#555555",
    },
    families={
        Family.MATMUL: "#0000aa",
        Family.ATTENTION: "#5555ff",
        Family.CONVOLUTION: "#5555ff",
        Family.REDUCTION: "#aa00aa",
        Family.POINTWISE: "#000000",
        Family.OPTIMIZER: "#aa0000",
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
        Family.MODULE: "#000000",
        Family.CALL: "#555555",
        Family.WAIT: "#aa0000",
        Family.OVERHEAD: "#aa0000",
        Family.OTHER: "#555555",
        Family.COUNTER: "#0000aa",
    },
    hues=(
        "#0000aa",
        "#aa00aa",
        "#000000",
        "#aa0000",
        "#5555ff",
        "#555555",
        "#0000aa",
        "#aa00aa",
        "#000000",
        "#aa0000",
    ),
    flat=True,
)

#: Families in the order of the colours below: what a GPU does, then what the host does. The two
#: are never in one row, so the host's may share colours with the GPU's.
_GPU_FAMILIES = (
    Family.MATMUL, Family.COMPILED, Family.COPY, Family.COLLECTIVE, Family.OPTIMIZER,
    Family.ATTENTION, Family.POINTWISE, Family.CONVOLUTION, Family.INDEX, Family.REDUCTION,
)  # fmt: skip
_HOST_FAMILIES = (
    Family.OPERATOR, Family.BACKWARD, Family.CALL, Family.LOADER, Family.WAIT,
    Family.MODULE, Family.ANNOTATION, Family.OTHER, Family.PYTHON, Family.OVERHEAD,
)  # fmt: skip


def _safe(colours: Colours, name: str, warning: str, layers: Mapping[Layer, str]) -> Colours:
    """A theme with the same ground, in which hues stand for families as well."""
    gpu = dict(zip(_GPU_FAMILIES, colours.hues, strict=True))
    host = dict(zip(_HOST_FAMILIES, colours.hues, strict=True))
    families = {**colours.families, **gpu, **host, Family.KERNEL: colours.cursor}
    layers = {**colours.layers, **layers}
    return replace(colours, name=name, warning=warning, families=families, layers=layers)


SAFE = _safe(
    DARK,
    "whichlayer-colour-blind",
    "#ffff00",
    {
        Layer.PYTORCH: "#d75f00",
        Layer.RUNTIME: "#0087ff",
        Layer.BOUNDARY: "#00ff87",
        Layer.CUDA: "#d787d7",
        Layer.PRECISION: "#ffd700",
        Layer.UNKNOWN: "#b2b2b2",
    },
)

SAFE_LIGHT = _safe(
    LIGHT,
    "whichlayer-colour-blind-light",
    "#870087",
    {
        Layer.RUNTIME: "#0000d7",
        Layer.BOUNDARY: "#005f87",
        Layer.CUDA: "#8700af",
        Layer.PRECISION: "#870000",
        Layer.UNKNOWN: "#303030",
    },
)

THEMES = {colours.name: colours for colours in (DARK, LIGHT, SAFE, SAFE_LIGHT)}
