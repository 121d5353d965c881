"""Collectives for small recordings, with the arguments that PyTorch writes."""

from __future__ import annotations

from typing import Any

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def arguments(
    name: str = "allreduce",
    elements: int = 1_000_000,
    *,
    got: int | None = None,
    ranks: int = 8,
    dtype: str = "Float",
    group: str = "0",
    seq: int | None = None,
    **others: Any,
) -> dict[str, Any]:
    """What the profiler writes on the kernel of a collective."""
    known: dict[str, Any] = {
        "Collective name": name,
        "In msg nelems": elements,
        "Out msg nelems": elements if got is None else got,
        "Group size": ranks,
        "dtype": dtype,
        "In split size": "[]",
        "Out split size": "[]",
        "Process Group Name": group,
        "Process Group Description": "default_pg",
        "Process Group Ranks": str(list(range(ranks))),
    }
    if seq is not None:
        known["Seq"] = seq
    return known | others
