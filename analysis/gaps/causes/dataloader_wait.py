"""The device waited because the loop was waiting for its next batch.

The launching thread was inside the loader call: an ``enumerate(DataLoader)#…`` annotation,
or frames of ``torch/utils/data``; or in a sample or a collate function without any loader:
``__getitem__`` where its class, file or folder is called a dataset, and functions, classes and
files called collate. A loader call that the queue covered costs nothing and is never this.
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
    example="sample dataloader_bound: "
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ lasts 41.10 ms, the "
    "device is idle for 41.12 ms before the next batch is copied; 57 % of the window",
)

_ANNOTATION = re.compile(r"^enumerate\(DataLoader\)#")
_FRAME = re.compile(
    r"torch/utils/data/dataloader\.py\(\d+\): "
    r"(__next__|_next_data|_try_get_data|_get_data|__iter__|_next_index)"
    r"|torch/utils/data/_utils/(fetch|collate|pin_memory)\.py"
    r"|^enumerate\(DataPipe\)#"
)
#: ``__getitem__`` of anything else may be any list, tensor or table.
_SAMPLE = re.compile(
    r"((^|/)[^/(]*dataset[^/(]*\(\d+\): (\w+\.)*|(^|/)datasets?/[^/(]+\(\d+\): (\w+\.)*"
    r"|\(\d+\): (\w+\.)*\w*dataset\w*\.)__getitems?__$",
    re.IGNORECASE,
)
_COLLATE = re.compile(
    r"(^|/)[^/(]*collat(e|or|ion)[^/(]*\(\d+\): |\(\d+\): (\w+\.)*\w*collat(e|or)\w*(\.\w+)*$",
    re.IGNORECASE,
)
_LOADER = re.compile(r"torch/utils/data/(dataloader|_utils)|DataLoader")
_OWN_LOOP = (
    "the training loop prepares samples itself: load them in worker processes, "
    "DataLoader(num_workers=4 or more, pin_memory=True)"
)
_SINGLE = "num_workers=0 loads in the training process: DataLoader(num_workers=4 or more)"
_MULTI = (
    "the workers do not keep up: cheaper samples, more workers, prefetch_factor, "
    "persistent_workers=True, pin_memory=True"
)


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a slice of this name is the loader call."""
    if kind == SliceKind.PYTHON:
        name = name.replace("\\", "/")
        return any(frame.search(name) for frame in (_FRAME, _SAMPLE, _COLLATE))
    return kind in (SliceKind.ANNOTATION, SliceKind.CPU_OP) and bool(_ANNOTATION.match(name))


def fix_for(culprit: str, around: Sequence[str]) -> str:
    """The fix, by the kind of loader that was waited for."""
    names = [name.replace("\\", "/") for name in (culprit, *around)]
    if any("SingleProcess" in name for name in names):
        return _SINGLE
    if any("MultiProcessing" in name for name in names):
        return _MULTI
    return RULE.fix if any(_LOADER.search(name) for name in names) else _OWN_LOOP
