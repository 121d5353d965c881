"""Optimizers that update parameters on the CPU (offload): told by their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

#: DeepSpeed's, ColossalAI's and torchao's, as steps, operators and frames are called.
_ON_CPU: Final = re.compile(
    r"CPU(Adam|Adagrad|Lion|Lamb|SGD)|cpu_(adam|adagrad|lion)|HybridAdam|CPUOffloadOptimizer"
    r"|cpu_offload_optimizer",
    re.IGNORECASE,
)
OFFLOAD_FIX: Final = (
    "the optimizer updates on the CPU (offload): keep its state on the device where it fits "
    "(sharded, 8-bit or fused), offload a part of it only, or overlap it with the next step "
    "(delayed update); more gradient accumulation runs it less often"
)


def runs_on_cpu(names: Iterable[str]) -> bool:
    """Whether any of these slices is of an optimizer that works in host memory."""
    return any(_ON_CPU.search(name) for name in names)
