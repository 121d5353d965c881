"""Which copies change nothing, which only the type, and which the model asks for."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.dtypes import DTYPE_ENUM, FLOATS
from whichlayer.analysis.kernels.inside import inside_slices
from whichlayer.analysis.kernels.work import Work
from whichlayer.analysis.trace.columns import Trace

#: Operators, without ``aten::``; a copy on the device itself has none.
_COPIES: Final = frozenset({
    "copy_", "clone", "contiguous", "_to_copy", "cat", "_cat", "stack", "concat", "concatenate", "",
})  # fmt: skip
#: What copies tensors for reasons of its own: CUDA graphs of compiled code their inputs, buckets
#: of gradients and shards of parameters. No view in the model would save those.
_COPIES_ITSELF: Final = (
    "Torch-Compiled Region", "CompiledFunction", "## Call CompiledFxGraph", "Call CompiledFxGraph",
    "CompiledFxGraph", "torch::distributed::reducer", "FullyShardedDataParallel", "FSDP", "fsdp::",
)  # fmt: skip


def copy_kind(call: OpCall, work: Work) -> str:
    """``cast`` for a copy between floating-point types, ``copy`` for one that changes nothing.

    Copies that also reorder, and casts to or from integers and truth values, are neither.
    """
    if work.category != "copy" or call.name.removeprefix("aten::") not in _COPIES:
        return ""
    if not work.casts:
        return "copy"
    types = {tensor.dtype for tensor in call.tensors()}
    if call.name == "aten::_to_copy":
        types.add(DTYPE_ENUM.get(int(call.number(1) or -1), ""))
    return "cast" if types <= set(FLOATS) else ""


def asked_for(trace: Trace, operator: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether the model asks for a copy: bool (n,).

    Args:
        trace: the recording.
        operator: int32 (n,), the operators that launched copies, -1 where unknown.
    """
    known = operator >= 0
    asked = np.ones(len(operator), np.bool_)
    asked[known] = ~inside_slices(trace, operator[known], _COPIES_ITSELF)
    return asked
