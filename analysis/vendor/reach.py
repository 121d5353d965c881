"""How a program reaches a library: through PyTorch's operators, a compiler, or directly."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Reach(StrEnum):
    """What stands between a program and the kernels that it runs."""

    OPERATOR = "operator"  # one of PyTorch's own: another backend has its own kernels
    COMPILER = "compiler"  # written by torch.compile for the device at hand
    DIRECT = "direct"  # an extension or custom operator that the program itself calls
    UNKNOWN = "unknown"  # no operator is recorded around the launch


#: Operators that PyTorch itself brings; extensions have namespaces of their own.
_PYTORCH: Final = re.compile(
    r"^(?:aten|c10d|c10d_functional|_c10d_functional|symm_mem|quantized|mkldnn|nccl|prims|inductor"
    r"|profiler|torch::(?:autograd::(?!CppNode)|distributed)|autograd::engine)\b"
    r"|^record_param_comms|^(?:\w+)Backward\d*$|^CompiledFunction|^## Call CompiledFxGraph"
    r"|^Call CompiledFxGraph|^Torch-Compiled Region"
)
_CUSTOM: Final = re.compile(r"^torch::autograd::CppNode|^[A-Za-z_]\w*::")


def reach_of(operator: str, kernel: str) -> Reach:
    """How a kernel is reached, by the innermost operator around its launch.

    A name that is no namespace of PyTorch's is an extension's; a plain word (an
    ``autograd.Function`` in Python) may be either, and is unknown.

    >>> reach_of("aten::mm", "nvjet_tst"), reach_of("vllm::moe_forward", "fmhaSm100a")
    (<Reach.OPERATOR: 'operator'>, <Reach.DIRECT: 'direct'>)
    """
    if kernel.startswith("triton_") or operator.startswith("triton_"):
        return Reach.COMPILER
    if not operator:
        return Reach.UNKNOWN
    if _PYTORCH.match(operator):
        return Reach.OPERATOR
    return Reach.DIRECT if _CUSTOM.match(operator) else Reach.UNKNOWN
