"""Tells the family of slices: the few classes by which the timeline colours them.

A family is told from a slice's kind and name alone. It is for the eye; nothing is concluded
from it.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.family import Family

UInt8 = NDArray[np.uint8]

#: The family of each word of ``whichlayer.analysis.kernels.names.family``.
_OF_WORD = {
    "communication": Family.COLLECTIVE,
    "compiled": Family.COMPILED,
    "copy": Family.COPY,
    "layout": Family.COPY,
    "fill": Family.COPY,
    "attention": Family.ATTENTION,
    "optimizer": Family.OPTIMIZER,
    "norm": Family.REDUCTION,
    "softmax": Family.REDUCTION,
    "pooling": Family.REDUCTION,
    "reduction": Family.REDUCTION,
    "convolution": Family.CONVOLUTION,
    "matmul": Family.MATMUL,
    "index": Family.INDEX,
    "sort": Family.INDEX,
    "pointwise": Family.POINTWISE,
}

_WAIT = re.compile(r"synchronize|EventQuery|StreamWait|memcpy(?!.*Async)|WithStream", re.IGNORECASE)
_LOADER = re.compile(r"dataloader|_next_data|_try_get_data", re.IGNORECASE)
_MODULE = "nn.Module"
_BACKWARD = re.compile(r"backward|autograd::", re.IGNORECASE)

_BY_KIND = {
    SliceKind.CPU_OP: Family.OPERATOR,
    SliceKind.ANNOTATION: Family.ANNOTATION,
    SliceKind.PYTHON: Family.PYTHON,
    SliceKind.RUNTIME: Family.CALL,
    SliceKind.MEMCPY: Family.COPY,
    SliceKind.MEMSET: Family.COPY,
    SliceKind.GPU_ANNOTATION: Family.GPU_NOTE,
    SliceKind.GPU_SYNC: Family.GPU_NOTE,
    SliceKind.OVERHEAD: Family.OVERHEAD,
}

#: Of the slices of these kinds the name tells more.
_NAMED_KINDS = (
    SliceKind.KERNEL,
    SliceKind.RUNTIME,
    SliceKind.CPU_OP,
    SliceKind.ANNOTATION,
    SliceKind.PYTHON,
)

#: The family of a slice of each kind without regard to its name.
_PLAIN = np.array([_BY_KIND.get(kind, Family.OTHER) for kind in SliceKind], dtype=np.uint8)


def family_of(kind: SliceKind, name: str) -> Family:
    """The family of a slice.

    >>> family_of(SliceKind.KERNEL, "ampere_sgemm_128x64_tn").name
    'MATMUL'
    """
    if kind == SliceKind.PYTHON:
        return Family.MODULE if name.startswith(_MODULE) else Family.PYTHON
    if kind == SliceKind.KERNEL:
        return _OF_WORD.get(family(name), Family.KERNEL)
    if kind == SliceKind.RUNTIME and _WAIT.search(name):
        return Family.WAIT
    if kind in (SliceKind.CPU_OP, SliceKind.ANNOTATION) and _LOADER.search(name):
        return Family.LOADER
    if kind == SliceKind.CPU_OP and _BACKWARD.search(name):
        return Family.BACKWARD
    return _BY_KIND.get(kind, Family.OTHER)


def _families(kind: SliceKind, names: list[str]) -> list[Family]:
    """The families of slices of one kind; Python frames have by far the most names."""
    if kind != SliceKind.PYTHON:
        return [family_of(kind, name) for name in names]
    frame, module = Family.PYTHON, Family.MODULE
    return [module if name.startswith(_MODULE) else frame for name in names]


def families_of(trace: Trace) -> UInt8:
    """The family of every slice: uint8 (n,), one look per distinct kind and name."""
    width = len(SliceKind)
    small = len(trace.strings) * width < 1 << 31
    key = trace.name_id * (np.int32 if small else np.int64)(width) + trace.kind
    seen = np.zeros(len(trace.strings) * width, dtype=np.bool_)
    seen[key] = True
    codes = np.tile(_PLAIN, len(trace.strings))
    for kind in _NAMED_KINDS:
        names = np.flatnonzero(seen[kind::width])
        texts = [trace.strings[name] for name in names.tolist()]
        codes[kind::width][names] = _families(kind, texts)
    return np.asarray(codes[key], dtype=np.uint8)
