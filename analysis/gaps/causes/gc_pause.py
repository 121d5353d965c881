"""Python's garbage collector ran on the launching thread and launched nothing.

Told only where the collection itself is recorded: torch 2.9 and later write a slice
"Python GC" among the Python frames, with stacks and ``record_python_gc_info`` both on. Elsewhere
a collection looks like any long stretch of Python. One that the queue covered costs nothing.
"""

from __future__ import annotations

import re

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE = Rule(
    id="gc-pause",
    layer=Layer.PYTORCH,
    title="Python's garbage collector",
    fix="gc.collect(); gc.freeze() once before the loop, then gc.disable(), or collect between "
    "steps where the device is busy",
    thresholds={"note": 0.05},
    source='slices "Python GC" of PyTorch 2.9 and later; NVTX ranges of the same name',
    example='made: a slice "Python GC" of 4.8 ms on the launching thread between two kernels, '
    "nothing queued: the device is idle for 4.8 ms",
)

_COLLECTION = re.compile(
    r"^(python[ _])?gc(\.collect)?\b(?!\.py)|\bgarbage[ _-]?collect"
    r"|^<built-in (function collect|method collect of module)\b",
    re.IGNORECASE,
)
_HOST = (SliceKind.PYTHON, SliceKind.ANNOTATION, SliceKind.CPU_OP)


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a slice is a garbage collection."""
    return kind in _HOST and _COLLECTION.search(name) is not None
