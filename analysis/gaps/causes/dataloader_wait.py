"""The device waited because the loop was waiting for its next batch.

The launching thread was inside the loader call: an ``enumerate(DataLoader)#…`` annotation,
or frames of ``torch/utils/data``. A loader call that the queue covered costs nothing and
is never this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE = Rule(
    id="dataloader-wait",
    layer=Layer.RUNTIME,
    title="waiting for the data loader",
    fix="give the loader more workers, or make a sample cheaper to prepare",
    thresholds={"note": 0.05, "major": 0.20},
    source="PyTorch annotates the loader call; TensorBoard plugin's 5 % rule",
)

_ANNOTATION = re.compile(r"^enumerate\(DataLoader\)#")
_FRAME = re.compile(
    r"torch/utils/data/dataloader\.py\(\d+\): "
    r"(__next__|_next_data|_try_get_data|_get_data|__iter__|_next_index)"
    r"|torch/utils/data/_utils/(fetch|collate|pin_memory)\.py"
    r"|^enumerate\(DataPipe\)#"
)
_SINGLE = "num_workers=0 loads in the training process: DataLoader(num_workers=4 or more)"
_MULTI = (
    "the workers do not keep up: cheaper samples, more workers, prefetch_factor, "
    "persistent_workers=True, pin_memory=True"
)


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a slice of this name is the loader call."""
    if kind == SliceKind.PYTHON:
        return _FRAME.search(name.replace("\\", "/")) is not None
    return kind in (SliceKind.ANNOTATION, SliceKind.CPU_OP) and bool(_ANNOTATION.match(name))


def fix_for(culprit: str, around: Sequence[str]) -> str:
    """The fix, by the kind of loader that was waited for."""
    if "SingleProcess" in culprit:
        return _SINGLE
    return _MULTI if "MultiProcessing" in culprit else RULE.fix
