"""The Triton kernels that torch.compile wrote, with what they fuse and their source file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.compiled.fused import family_of, fused_operators
from whichlayer.analysis.results import Analysis, KernelGroup


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """Calls of one generated kernel with one set of shapes.

    Attributes:
        name: as recorded.
        family: ``pointwise``, ``reduction`` …
        operators: those that its name says it fuses.
        calls, time_ns, share: in the window.
        gbps, bandwidth_fraction: achieved, None unknown.
        file: of the generated source, or None.
        file_here: whether that file exists on this machine; None where none is recorded.
        grid: as recorded, or empty.
        num_warps, num_stages: as recorded, or None.
        num_gb, flop: the compiler's own count of one call, or None.
        settings: the block sizes as recorded, or empty.
    """

    name: str
    family: str
    operators: tuple[str, ...]
    calls: int
    time_ns: int
    share: float
    gbps: float | None
    bandwidth_fraction: float | None
    file: str | None
    file_here: bool | None
    grid: str
    num_warps: int | None
    num_stages: int | None
    num_gb: float | None
    flop: float | None
    settings: str


def triton_kernels(analysis: Analysis) -> tuple[TritonKernel, ...]:
    """Every kernel of Inductor's in the window, most time first."""
    groups = [group for group in analysis.kernels if family_of(group.name)]
    if not groups:
        return ()
    operator = dict.fromkeys(np.concatenate([group.rows[:1] for group in groups]).tolist(), -1)
    activities = analysis.activities
    chosen = np.flatnonzero(among(activities.row, list(operator)))
    for row, op in zip(
        activities.row[chosen].tolist(), activities.op_row[chosen].tolist(), strict=True
    ):
        operator[row] = op
    return tuple(_kernel(analysis, group, operator[int(group.rows[0])]) for group in groups)


def _kernel(analysis: Analysis, group: KernelGroup, operator: int) -> TritonKernel:
    trace = analysis.trace
    told: Mapping[str, Any] = trace.detail(operator) if operator >= 0 else {}
    launched = trace.detail(int(group.rows[0])) if len(group.rows) else {}
    file = told.get("kernel_file")
    file = file if isinstance(file, str) and file and "\0" not in file else None
    grid = launched.get("grid") or told.get("grid")
    settings = told.get("kernel_kwargs")
    return TritonKernel(
        name=group.name,
        family=family_of(group.name),
        operators=fused_operators(group.name),
        calls=group.calls,
        time_ns=group.total_ns,
        share=group.share,
        gbps=group.gbps,
        bandwidth_fraction=group.bandwidth_fraction,
        file=file,
        file_here=os.path.isfile(file) if file is not None else None,
        grid=str(grid)[:80] if isinstance(grid, str | list) else "",
        num_warps=_whole(told.get("num_warps")),
        num_stages=_whole(told.get("num_stages")),
        num_gb=_positive(told.get("kernel_num_gb")),
        flop=_positive(told.get("kernel_flop")),
        settings=settings[:200] if isinstance(settings, str) else "",
    )


def _whole(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 31 else None


def _positive(value: object) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < 1e18 else None
