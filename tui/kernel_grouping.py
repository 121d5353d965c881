"""The rows of the kernel table by what they have in common: name, operator, module, family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.kernels.modules import modules_of
from whichlayer.analysis.kernels.names import family
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.units import share_text
from whichlayer.analysis.results import Analysis, KernelGroup
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.summary import Ranked, activity_times, rank_kernels

Int64 = NDArray[np.int64]
Labels = tuple[Int64, tuple[str, ...]]


class Grouping(Enum):
    """What makes kernels one row of the table; the value is what the heading calls a row."""

    SHAPE = "kernel"
    NAME = "kernel (any shape)"
    OPERATOR = "operator"
    MODULE = "module"
    FAMILY = "family"

    @property
    def following(self) -> Grouping:
        """The next one."""
        every = list(Grouping)
        return every[(every.index(self) + 1) % len(every)]


_NO_OPERATOR = "(no operator)"
_NO_MODULE = "(no module recorded)"

_BY_GROUP: dict[Grouping, Callable[[KernelGroup], str]] = {
    Grouping.NAME: lambda group: group.short_name or group.name,
    Grouping.OPERATOR: lambda group: group.operator or _NO_OPERATOR,
    Grouping.FAMILY: lambda group: family(group.name),
}


def grouped(
    analysis: Analysis,
    span: tuple[int, int] | None,
    grouping: Grouping,
    mask: NDArray[np.bool_] | None = None,
) -> list[Ranked]:
    """The rows of a span by a grouping, most time first; of the window without a span.

    With a mask, by row of the trace, of the calls alone that it lets through.
    """
    if grouping is Grouping.SHAPE:
        return rank_kernels(analysis, span, mask)
    label, names = _labels(analysis, grouping)
    time, touched = activity_times(analysis, span, mask)
    inside = np.flatnonzero(touched & (analysis.activities.group >= 0))
    if not len(inside):
        return []
    group = analysis.activities.group[inside].astype(np.int64)
    pair = label[inside] * len(analysis.kernels) + group
    pairs, where, calls = np.unique(pair, return_inverse=True, return_counts=True)
    sums = np.zeros(len(pairs), np.int64)
    np.add.at(sums, where, time[inside])
    low, high = span or (analysis.window.start_ns, analysis.window.end_ns)
    whole = max((high - low) * max(len(analysis.devices), 1), 1)
    parts: dict[int, list[tuple[KernelGroup, int, int]]] = {}
    for index, ns, count in zip(pairs.tolist(), sums.tolist(), calls.tolist(), strict=True):
        one, of = divmod(index, len(analysis.kernels))
        parts.setdefault(one, []).append((analysis.kernels[of], ns, count))
    order = np.argsort(label[inside], kind="stable")
    bounds = np.searchsorted(label[inside][order], list(parts), "left").tolist()
    ends = np.searchsorted(label[inside][order], list(parts), "right").tolist()
    rows = analysis.activities.row[inside][order]
    found = []
    for at, (one, members) in enumerate(parts.items()):
        made = _together(names[one], members, rows[bounds[at] : ends[at]])
        ns = sum(part[1] for part in members)
        found.append(Ranked(at, made, made.calls, ns, ns / whole))
    return sorted(found, key=lambda row: (-row.time_ns, row.group.name))


def _labels(analysis: Analysis, grouping: Grouping) -> Labels:
    """The label of each activity (int64 (n,)) and their names."""
    if grouping is Grouping.MODULE:
        return _modules(analysis)
    say = _BY_GROUP[grouping]
    names: dict[str, int] = {}
    table = [names.setdefault(say(group), len(names)) for group in analysis.kernels]
    of_group = np.array([*table, 0], np.int64)
    return of_group[analysis.activities.group], tuple(names)


_KNOWN: WeakKeyDictionary[Trace, Labels] = WeakKeyDictionary()


def _modules(analysis: Analysis) -> Labels:
    """Worked out once: it looks at every launch."""
    trace, activities = analysis.trace, analysis.activities
    found = _KNOWN.get(trace)
    if found is None or len(found[0]) != len(activities.row):
        index, names = modules_of(trace, trace.launch[activities.row], activities.op_row)
        found = _KNOWN[trace] = (index.astype(np.int64) + 1, (_NO_MODULE, *names))
    return found


def has_modules(analysis: Analysis) -> bool:
    """Whether any kernel's module is known."""
    return len(_modules(analysis)[1]) > 1


def _together(
    name: str, members: list[tuple[KernelGroup, int, int]], rows: NDArray[np.int32]
) -> KernelGroup:
    """One row of several groups: times are sums, rates means over the time of what has any."""
    members = sorted(members, key=lambda part: -part[1])
    most, ns, _ = members[0]
    calls = sum(part[2] for part in members)
    if len(members) == 1:
        return replace(most, short_name=name, calls=calls, rows=np.sort(rows))
    total = sum(part[1] for part in members)
    lost = {layer: 0 for layer in Layer}
    for group, time, _ in members:
        if group.total_ns > 0:
            lost[group.layer] += group.lost_ns * time // group.total_ns
    owner = max(lost, key=lambda layer: lost[layer])
    if not lost[owner]:
        owner = most.layer
    return replace(
        most,
        name=name,
        short_name=name,
        operator=_same(members, lambda group: group.operator),
        shapes=_same(members, lambda group: group.shapes),
        calls=calls,
        total_ns=total,
        bytes=None,
        flops=None,
        attainable_gbps=None,
        fits_cache=None,
        gbps=_mean(members, lambda group: group.gbps),
        tflops=_mean(members, lambda group: group.tflops),
        bandwidth_fraction=_mean(members, lambda group: group.bandwidth_fraction),
        flops_fraction=_mean(members, lambda group: group.flops_fraction),
        roof_fraction=_mean(members, lambda group: group.roof_fraction),
        bound=_same(members, lambda group: group.bound) or "unknown",
        precision=_same(members, lambda group: group.precision or "") or None,
        tensor_cores=None,
        occupancy=None,
        lost_ns=sum(lost.values()),
        layer=owner,
        rule=_same(members, lambda group: group.rule),
        why=f"{len(members)} groups of kernels; {share_text(ns, total)} of the time: "
        f"{most.short_name} {most.shapes}: {most.why}",
        flags=(),
        rows=np.sort(rows),
    )


def _same(members: list[tuple[KernelGroup, int, int]], say: Callable[[KernelGroup], str]) -> str:
    """What all of them say, or nothing."""
    said = {say(group) for group, _, _ in members}
    return said.pop() if len(said) == 1 else ""


def _mean(
    members: list[tuple[KernelGroup, int, int]], figure: Callable[[KernelGroup], float | None]
) -> float | None:
    known = [(figure(group), ns) for group, ns, _ in members]
    weight = sum(ns for value, ns in known if value is not None)
    if not weight:
        return None
    return sum(value * ns for value, ns in known if value is not None) / weight
