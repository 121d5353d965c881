"""Inductor's Triton kernels, whose pointers and sizes are recorded as an operator's arguments."""

from __future__ import annotations

import math
import re

from whichlayer.analysis.kernels.calls import OpCall, Unknown
from whichlayer.analysis.kernels.work import Work, operator

#: The name under which kernels of ``kernel_backend: triton`` are looked up.
TRITON = "triton::"


@operator(TRITON)
def triton_kernel(call: OpCall) -> Work:
    """Every pointer counted once; outputs are among the arguments.

    The compiler's own count (``kernel_num_gb``) wins where it is recorded. An argument may be
    larger than what the kernel touches; one that is input and output moves twice, but which
    is not recorded.
    """
    told = _positive(call, "kernel_num_gb")
    flops = _positive(call, "kernel_flop")
    flop_count = None if flops is None else round(flops)
    if told is not None:
        return Work(round(told * 1e9), flop_count, category="compiled")
    sizes = [tensor.bytes for tensor in call.tensors() if tensor.shape]
    if not sizes:
        raise Unknown("the operator does not list its tensors")
    return Work(
        bytes=sum(sizes),
        most=sum(sizes) + max(sizes),
        flops=flop_count,
        category="compiled",
        bound=_bound(call.name),
        reason="from its recorded arguments",
    )


def _bound(name: str) -> str:
    """Embeddings, gathers and slices touch part of an argument; others all of it."""
    return "upper" if re.search(r"embedding|index|gather|slice|split", name) else ""


def _positive(call: OpCall, key: str) -> float | None:
    value = call.extra.get(key)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0 < value < 1e15 else None
