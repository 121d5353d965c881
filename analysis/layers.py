"""The layers a problem can live in: the fixed words that users see.

Everything that names an owner (gaps, kernels, findings, the budget, the screen) uses
:class:`Layer`; the texts and the letter of each are kept here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Layer(IntEnum):
    """Owner of a stretch of time; the value is its code in NumPy columns."""

    PYTORCH = 0
    RUNTIME = 1
    BOUNDARY = 2
    CUDA = 3
    PRECISION = 4
    NONE = 5
    UNKNOWN = 6

    @property
    def id(self) -> str:
        """The word used in JSON, in the configuration and on the command line."""
        return self.name.lower()

    @property
    def text(self) -> LayerText:
        """What users read about this layer."""
        return LAYER_TEXTS[self]


@dataclass(frozen=True, slots=True)
class LayerText:
    """What users read about a layer: name, one letter, what it owns, where it is fixed."""

    name: str
    letter: str
    owns: str
    fixed_in: str


LAYER_TEXTS: dict[Layer, LayerText] = {
    Layer.PYTORCH: LayerText(
        "PyTorch",
        "P",
        "autograd, module composition, optimiser step, Python in the loop, host syncs "
        "that the code asks for",
        "model and training code",
    ),
    Layer.RUNTIME: LayerText(
        "PyTorch / runtime",
        "R",
        "dataloader throughput, host-to-device copies, graph breaks and recompiles, work left "
        "uncompiled, communication left exposed",
        "DataLoader, pinned memory, torch.compile, DDP/FSDP settings",
    ),
    Layer.BOUNDARY: LayerText(
        "PyTorch ↔ CUDA boundary",
        "B",
        "operator dispatch, kernel selection, memory allocator, module loading",
        "backend flags, cuDNN/cuBLAS settings, allocator config, CUDA graphs",
    ),
    Layer.CUDA: LayerText(
        "CUDA",
        "C",
        "occupancy, shared memory, warp divergence, achieved bandwidth of a kernel",
        "custom kernel, Triton, TensorRT",
    ),
    Layer.PRECISION: LayerText(
        "Precision (both)",
        "F",
        "FP32 / TF32 / BF16 / FP16 / FP8",
        "autocast policy above, kernel support below",
    ),
    Layer.NONE: LayerText(
        "No owner",
        "·",
        "time at the roof, launch spacing, the measuring itself, warm-up, the edges of the recording",
        "nothing to fix",
    ),
    Layer.UNKNOWN: LayerText(
        "Unattributed",
        "?",
        "what the trace cannot prove",
        "what to record next time",
    ),
}

#: Layers above CUDA: gaps owned by these make up the verdict's share A.
ABOVE_CUDA = frozenset({Layer.PYTORCH, Layer.RUNTIME, Layer.BOUNDARY})


#: What "CUDA" is called on other vendors' GPUs, by ``Device.vendor``.
PLATFORM_NAMES = {"amd": "HIP/ROCm", "intel": "XPU"}


def layer_name(layer: Layer, vendor: str = "") -> str:
    """The layer's name in the words of a GPU vendor's users.

    >>> layer_name(Layer.BOUNDARY, "amd")
    'PyTorch ↔ HIP/ROCm boundary'
    """
    return layer.text.name.replace("CUDA", PLATFORM_NAMES.get(vendor, "CUDA"))


def layer_of(word: str) -> Layer:
    """The layer with this JSON id.

    Raises:
        KeyError: no layer has that id.
    """
    return Layer[word.upper()]
