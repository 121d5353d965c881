"""The kernels that take the most time, as a table: one row per name, its shapes together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.json_tables import judged_calls
from whichlayer.analysis.report.text_layout import Column, table
from whichlayer.analysis.report.units import UNKNOWN, rate_text, share_text, time_text
from whichlayer.analysis.results import Analysis, KernelGroup

_SHOWN = 10
_COLUMNS = (
    Column("", 33, right=False),
    Column("calls", 6),
    Column("time", 8),
    Column("share", 7),
    Column("GB/s", 6),
    Column("TFLOP/s", 7),
    Column("% roof", 6),
    Column("lost", 10),
)


@dataclass(slots=True)
class _Kernel:
    """The groups of one name; rates are means over the time of those that have one."""

    name: str
    groups: list[KernelGroup] = field(default_factory=list)
    judged: int = 0

    @property
    def total_ns(self) -> int:
        return sum(group.total_ns for group in self.groups)

    def mean(self, figure: Callable[[KernelGroup], float | None]) -> float | None:
        known = [
            (value, group.total_ns)
            for group in self.groups
            if (value := figure(group)) is not None and math.isfinite(value)
        ]
        weight = sum(ns for _, ns in known)
        return sum(value * ns for value, ns in known) / weight if weight else None

    def owner(self) -> Layer:
        return max(self.groups, key=lambda group: group.lost_ns).layer


def kernel_lines(analysis: Analysis) -> list[str]:
    """The kernels with the most time in the window; empty where none ran."""
    kernels = _by_name(analysis)
    if not kernels:
        return []
    shown = kernels[:_SHOWN]
    of = f"{len(shown)} of {len(kernels)} by time" if len(kernels) > len(shown) else "by time"
    return [f"KERNELS  {of}", *table(_COLUMNS, [_row(one) for one in shown], indent="  ")]


def _by_name(analysis: Analysis) -> Sequence[_Kernel]:
    kernels: dict[str, _Kernel] = {}
    for group, judged in zip(analysis.kernels, judged_calls(analysis), strict=True):
        name = group.short_name or group.name
        kernel = kernels.setdefault(name, _Kernel(name))
        kernel.groups.append(group)
        kernel.judged += judged
    return sorted(kernels.values(), key=lambda kernel: -kernel.total_ns)


def _row(kernel: _Kernel) -> tuple[str, ...]:
    lost = sum(group.lost_ns for group in kernel.groups)
    roof = kernel.mean(lambda group: group.roof_fraction)
    return (
        kernel.name,
        str(sum(group.calls for group in kernel.groups)),
        time_text(kernel.total_ns),
        share_text(sum(group.share for group in kernel.groups)),
        rate_text(kernel.mean(lambda group: group.gbps)),
        rate_text(kernel.mean(lambda group: group.tflops)),
        UNKNOWN if roof is None else f"{100 * roof:.0f}",
        f"{time_text(lost)} {kernel.owner().text.letter}" if kernel.judged else UNKNOWN,
    )
