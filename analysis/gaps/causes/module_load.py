"""The host was loading or compiling device code instead of launching.

Kernels are loaded lazily at their first launch; in steady state none should be. A launch
call that lasts far longer than this recording's others with nothing queued before it is
this as well, and so is what Triton does to compile and to try out a kernel of the program's own
(what torch.compile generates is ``recompile``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule
from whichlayer.analysis.trace.kinds import SliceKind

RULE = Rule(
    id="module-load",
    layer=Layer.BOUNDARY,
    title="loading device code",
    fix="warm up before measuring; where the first request matters, run each shape once before "
    "it, or load eagerly (CUDA_MODULE_LOADING=EAGER), and keep compile caches",
    thresholds={"note": 0.05},
    source="module calls of the CUDA and HIP driver, overhead events of CUPTI",
    example="a first convolution on an A100: cudaLaunchKernel takes 1.337 s where it usually "
    "takes 8.6 µs, for it loads the kernel's code; 74 % of the window",
)

_CALL = re.compile(
    r"^(cu|hip)(Module(Load|Unload|GetFunction)|Library(Load|Unload|GetKernel))"
    r"|^nvrtc|^hiprtc|^cudaFuncGetAttributes$|^cuLink"
)
_OVERHEAD = re.compile(
    r"Lazy Function Loading|Runtime Triggered Module Loading|Driver Compiler", re.IGNORECASE
)
#: Triton's compiler and autotuner at work, not the look-ups of every launch.
_TRITON = re.compile(
    r"triton/(compiler/compiler\.py\(\d+\): compile|runtime/jit\.py\(\d+\): _do_compile"
    r"|runtime/autotuner\.py\(\d+\): (_bench|benchmark)|testing\.py\(\d+\): do_bench\w*)$"
)


def fix_for(culprit: str, around: Sequence[str]) -> str:
    """The fix, in the words of the device's runtime."""
    if culprit.startswith(("hip", "ur", "pi", "ze")):
        return RULE.fix.replace("load eagerly (CUDA_MODULE_LOADING=EAGER)", "load it beforehand")
    return RULE.fix


def marks(name: str, kind: SliceKind, category: str) -> bool:
    """Whether a slice of this name loads or compiles device code."""
    if kind == SliceKind.OVERHEAD:
        return _OVERHEAD.search(name) is not None
    if kind == SliceKind.PYTHON:
        return _TRITON.search(name.replace("\\", "/")) is not None
    return kind == SliceKind.RUNTIME and _CALL.match(name) is not None
