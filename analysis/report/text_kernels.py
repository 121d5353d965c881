"""The kernels that take the most time, as a table: one row per name, its shapes together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.flag_notes import FlagNotes
from whichlayer.analysis.report.json_tables import judged_calls
from whichlayer.analysis.report.text_layout import COLUMNS, Column, table, wrap
from whichlayer.analysis.report.text_unjudged import unjudged_lines
from whichlayer.analysis.report.units import NOT_NEEDED, UNKNOWN, rate_text, share_text, time_text
from whichlayer.analysis.results import Analysis, KernelGroup

_SHOWN = 10
_FIGURES = (
    Column("calls", 6),
    Column("time", 8),
    Column("share", 7),
    Column("GB/s", 6),
    Column("TFLOP/s", 7),
    Column("of roof", 7),
    Column("lost", 10),
)

HEADINGS = ("kernel", *(column.heading for column in _FIGURES), "")
"""What the columns of :func:`kernel_rows` are called."""

_OTHERS = "its cost is the gap it leaves"
"""How ``why`` ends for transfers and collectives, which are no kernel's work to judge."""

_FLAG_SHARE = 0.1
"""A flag of less than this share of a name's time does not speak for its row."""


@dataclass(slots=True)
class _Kernel:
    """The groups of one name; rates are means over the time of those that have one."""

    name: str
    groups: list[KernelGroup] = field(default_factory=list)
    judged: list[KernelGroup] = field(default_factory=list)

    @property
    def total_ns(self) -> int:
        return sum(group.total_ns for group in self.groups)

    def of_roof(self) -> float | None:
        """The share that goes with what is lost: doubtful figures only where there are no others."""
        return _mean(self.judged or self.groups, lambda group: group.roof_fraction)

    def lost(self) -> str:
        """What is lost and who owns most of it; nothing lost has no owner."""
        lost = sum(group.lost_ns for group in self.groups)
        if not self.judged:
            return UNKNOWN
        if not lost:
            return time_text(lost)
        owner: Layer = max(self.groups, key=lambda group: group.lost_ns).layer
        return f"{time_text(lost)} {owner.text.letter}"

    def flags(self) -> list[str]:
        """The flags that hold for much of its time."""
        time: Counter[str] = Counter()
        for group in self.groups:
            for flag in (*group.flags, *([group.why] if group.why.endswith(_OTHERS) else ())):
                time[flag] += group.total_ns
        return [flag for flag, ns in time.items() if ns >= _FLAG_SHARE * self.total_ns]


def _mean(
    groups: Sequence[KernelGroup], figure: Callable[[KernelGroup], float | None]
) -> float | None:
    known = [
        (value, group.total_ns)
        for group in groups
        if (value := figure(group)) is not None and math.isfinite(value)
    ]
    weight = sum(ns for _, ns in known)
    return sum(value * ns for value, ns in known) / weight if weight else None


def kernel_lines(analysis: Analysis) -> list[str]:
    """The kernels with the most time in the window; empty where none ran."""
    about, rows, notes = kernel_rows(analysis)
    if not rows:
        return []
    return [
        f"KERNELS  {about}",
        *table(_columns(max(len(row[-1]) for row in rows)), rows, indent="  "),
        *(line for mark, text in notes for line in wrap(text, f"  {mark}  ")),
        *unjudged_lines(analysis),
    ]


def kernel_rows(
    analysis: Analysis, limit: int = _SHOWN
) -> tuple[str, list[tuple[str, ...]], list[tuple[str, str]]]:
    """The kernels with the most time in the window.

    Returns:
        What the table shows, its rows as :data:`HEADINGS` names their columns, and the footnotes
        that their last column refers to.
    """
    kernels = _by_name(analysis)
    shown = kernels[:limit]
    of = f"{len(shown)} of {len(kernels)} by time" if len(kernels) > len(shown) else "by time"
    notes = FlagNotes()
    rows = [_row(one, notes) for one in shown]
    needless = any(one.of_roof() == 0 for one in shown)
    mark = f"; {NOT_NEEDED} need not run" if needless else ""
    about = f"{of}; of roof: a well-made kernel's time over its own{mark}"
    return about, rows, notes.used()


def _columns(marks: int) -> tuple[Column, ...]:
    """The name gets what the figures and the footnotes' letters leave."""
    fixed = (*_FIGURES, Column("", marks, right=False))
    taken = sum(2 + column.width for column in fixed)
    return (Column("", COLUMNS - 2 - taken, right=False), *fixed)


def _by_name(analysis: Analysis) -> Sequence[_Kernel]:
    kernels: dict[str, _Kernel] = {}
    for group, judged in zip(analysis.kernels, judged_calls(analysis), strict=True):
        name = group.short_name or group.name
        kernel = kernels.setdefault(name, _Kernel(name))
        kernel.groups.append(group)
        if judged:
            kernel.judged.append(group)
    return sorted(kernels.values(), key=lambda kernel: -kernel.total_ns)


def _row(kernel: _Kernel, notes: FlagNotes) -> tuple[str, ...]:
    return (
        kernel.name,
        str(sum(group.calls for group in kernel.groups)),
        time_text(kernel.total_ns),
        share_text(sum(group.share for group in kernel.groups)),
        rate_text(_mean(kernel.groups, lambda group: group.gbps)),
        rate_text(_mean(kernel.groups, lambda group: group.tflops)),
        NOT_NEEDED if kernel.of_roof() == 0 else share_text(kernel.of_roof()),
        kernel.lost(),
        "".join(notes.mark(flag) for flag in kernel.flags()),
    )
