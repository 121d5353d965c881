"""The rows of the verdict views: figures, and the place that each can be seen at."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from whichlayer.analysis.communication.collectives import find_collectives
from whichlayer.analysis.communication.copies import direction_of, find_copies
from whichlayer.analysis.compiled.report import compile_report
from whichlayer.analysis.covered import covered_causes
from whichlayer.analysis.custom_kernel.verdicts import custom_kernels
from whichlayer.analysis.launches.view import launch_views
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.memory.usage import memory_use, why_no_memory
from whichlayer.analysis.precision_share.shares import precision_shares
from whichlayer.analysis.report.units import (
    bytes_text,
    count_text,
    rate_text,
    share_text,
    time_text,
)
from whichlayer.analysis.results import Analysis, KernelGroup, Where
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.vendor.inventory import vendor_inventory
from whichlayer.tui.sheet import SheetLine, Target

#: Rows of one kind, at most.
_MOST = 200


def no_rows(analysis: Analysis) -> list[SheetLine]:
    """Nothing beside the text."""
    return []


def custom_kernels_rows(analysis: Analysis) -> list[SheetLine]:
    """Every candidate with its answers."""
    lines = []
    for one in custom_kernels(analysis)[:_MOST]:
        chain = " → ".join(clean(name) for name in one.kernels)
        saves = f", saves {time_text(one.saving_ns)} at most" if one.saving_ns is not None else ""
        facts = f"{count_text(one.calls, 'call')}, {share_text(one.share)}"
        facts += f" of the {analysis.options.whole}{saves}"
        target = _of_names(analysis, one.kernels)
        lines.append(SheetLine(f"{one.answer.value}: {chain} ({facts})", target=target))
        if one.instead:
            lines.append(SheetLine(f"  {clean(one.instead)}", "dim"))
    return lines


def vendor_rows(analysis: Analysis) -> list[SheetLine]:
    """Every library, whatever its share."""
    lines = []
    for use in vendor_inventory(analysis).uses[:_MOST]:
        vendors = " and ".join(one.upper() for one in use.library.vendors) or "any vendor"
        instead = use.library.alternative
        by = f" by {', '.join(clean(one) for one in use.operators[:2])}" if use.operators else ""
        text = (
            f"{share_text(use.share):>7}  {use.tie.value}: {clean(use.library.name)} ({vendors}), "
            f"{use.reach.value}{by}, {count_text(use.calls, 'kernel')}, {time_text(use.time_ns)}"
            f"{f'; instead: {instead}' if instead else ''}"
        )
        lines.append(SheetLine(text, target=_of_names(analysis, use.kernels)))
    return lines


def compile_rows(analysis: Analysis) -> list[SheetLine]:
    """Regions, proven breaks and Triton kernels."""
    found, trace = compile_report(analysis), analysis.trace
    lines = []
    for region in found.regions[:_MOST]:
        text = (
            f"region {clean(region.name)}: {count_text(region.calls, 'call')}, "
            f"{time_text(region.host_ns)} each on the host, "
            f"{count_text(region.kernels, 'kernel')} in {time_text(region.kernel_ns)}"
            f"{_at(region.where)}"
        )
        lines.append(SheetLine(text, target=_first_called(trace, region.name)))
    for one in found.breaks[:_MOST]:
        place = "place not recorded" if one.file is None else f"{clean(one.file)}:{one.line}"
        operator = f", first {clean(one.operator)}" if one.operator else ""
        text = f"break {place} {clean(one.function)}: {one.times} times, {time_text(one.host_ns)}"
        lines.append(SheetLine(f"{text}{operator}", target=_of_row(trace, one.row)))
    for kernel in found.kernels[:_MOST]:
        text = (
            f"{share_text(kernel.share):>7}  {clean(kernel.name)}: "
            f"{count_text(kernel.calls, 'call')}, {time_text(kernel.time_ns)}, "
            f"{rate_text(kernel.gbps)} GB/s"
        )
        lines.append(SheetLine(text, target=_of_names(analysis, (kernel.name,))))
        if kernel.operators:
            lines.append(SheetLine(f"         fuses {clean(', '.join(kernel.operators))}", "dim"))
        if kernel.file is not None:
            here = "" if kernel.file_here else ", not on this machine"
            lines.append(SheetLine(f"         from {clean(kernel.file)}{here}", "dim"))
    return lines


def precision_rows(analysis: Analysis) -> list[SheetLine]:
    """A row for each precision, its longest kernel as the place."""
    lines = []
    for one in precision_shares(analysis).shares:
        groups = [g for g in analysis.kernels if (g.precision or "unknown") == one.precision]
        names = {*one.operators}
        mine = [group for group in groups if not names or group.operator in names]
        units = f", {share_text(one.tensor_core_ns, one.time_ns)} on matrix units"
        text = (
            f"{share_text(one.share):>7}  {clean(one.precision).upper()}: {time_text(one.time_ns)}, "
            f"{count_text(one.calls, 'kernel')}{units if one.time_ns else ''}"
        )
        most = f", most by {clean(', '.join(one.operators[:3]))}" if one.operators else ""
        lines.append(SheetLine(text + most, target=_of_groups(analysis, mine)))
    return lines


def memory_rows(analysis: Analysis) -> list[SheetLine]:
    """The peak of each device, the largest allocations, and what allocated most."""
    lines = []
    for use in memory_use(analysis):
        name = f"{use.type} {use.device}" if use.device >= 0 else use.type or "memory"
        peak = f"{clean(name)}: {bytes_text(use.peak_bytes)} allocated at most"
        lines.append(SheetLine(f"{peak}, at {time_text(use.peak_ns)}{_at(use.peak_where)}",
                               target=_instant(use.peak_ns)))  # fmt: skip
        for one in use.largest:
            text = f"  {bytes_text(one.bytes):>9}  at {time_text(one.time_ns)}{_at(one.where)}"
            lines.append(SheetLine(text, target=_instant(one.time_ns)))
        for by in use.by_operator:
            text = f"  {bytes_text(by.bytes):>9}  by {clean(by.operator)}, {by.allocations} times"
            lines.append(SheetLine(text + _at(by.where), "dim"))
    return lines


def why_no_memory_text(analysis: Analysis) -> str:
    """What to record to know about memory."""
    return clean(why_no_memory(analysis)) or f"No memory events in the {analysis.options.whole}."


def communication_rows(analysis: Analysis) -> list[SheetLine]:
    """Every group of collectives, then of copies."""
    lines = []
    for one in find_collectives(analysis)[:_MOST]:
        gpu = gpu_text(analysis.devices[one.device].number)
        bus = f", {rate_text(one.busbw_gbps[0])} GB/s on the bus" if one.busbw_gbps else ""
        text = (
            f"{gpu} {clean(one.known.kind)} {bytes_text(one.bytes)}: "
            f"{count_text(one.calls, 'call')}, {time_text(one.total_ns)}, exposed "
            f"{time_text(one.exposed_ns)}, hidden {time_text(one.hidden_ns)}{bus}"
        )
        lines.append(SheetLine(text, target=_of_names(analysis, one.kernels)))
    for copy in find_copies(analysis)[:_MOST]:
        gpu = gpu_text(analysis.devices[copy.device].number)
        memory = f", {copy.memory}" if copy.memory else ""
        text = (
            f"{gpu} {copy.direction}{memory}: {count_text(copy.calls, 'copy').replace('ys', 'ies')}, "
            f"{bytes_text(copy.bytes)}, {time_text(copy.total_ns)}, exposed "
            f"{time_text(copy.exposed_ns)}, {rate_text(copy.gbps)} GB/s"
        )
        groups = [g for g in analysis.kernels if direction_of(g.name) == copy.direction
                  and "emcpy" in g.name + g.short_name]  # fmt: skip
        lines.append(SheetLine(text, target=_of_groups(analysis, groups)))
    return lines


def step_rows(analysis: Analysis) -> list[SheetLine]:
    """Every step; enter shows it."""
    steps = analysis.steps
    if steps is None:
        return []
    over = {outlier.index: outlier.over_ns for outlier in steps.outliers}
    lines = []
    for index, row in enumerate(steps.rows):
        low = min((span[0] for span in row.spans), default=row.step.start_ns)
        high = max((span[1] for span in row.spans), default=row.step.end_ns)
        text = (
            f"step {row.step.number:<5} {time_text(row.duration_ns):>9}  busy "
            f"{time_text(row.busy_ns):>9}  idle {time_text(row.idle_ns):>9}  "
            f"{count_text(row.kernels, 'kernel'):>14}"
        )
        notes = ["warm-up"] if row.warm_up else []
        notes += [f"{time_text(over[index])} longer than usual"] if index in over else []
        text += f"  {', '.join(notes)}" if notes else ""
        layer = row.owner if row.owner is not None else Layer.NONE
        lines.append(SheetLine(text, layer=layer, target=Target(low, high)))
    return lines


def launch_rows(analysis: Analysis) -> list[SheetLine]:
    """The deepest queue and the longest delay of each device."""
    lines = []
    for view in launch_views(analysis):
        series = view.series
        if series is None or not len(series.launches):
            continue
        gpu = gpu_text(analysis.devices[view.device].number)
        for name, worst, text in (
            ("deepest queue", series.depth_most, str),
            ("longest delay", series.delay_most_ns, time_text),
        ):
            place = int(np.argmax(worst))
            low, high = int(series.edges_ns[place]), int(series.edges_ns[place + 1])
            said = f"{gpu} {name}: {text(int(worst[place]))} at {time_text(low)}"
            lines.append(SheetLine(said, target=Target(low, high, device=view.device)))
    return lines


def unjudged_rows(analysis: Analysis) -> list[SheetLine]:
    """Groups without a judgement, most time first."""
    found = [g for g in analysis.kernels if g.roof_fraction is None and g.total_ns]
    found.sort(key=lambda group: -group.total_ns)
    return [
        SheetLine(f"{share_text(group.share):>7}  {clean(group.short_name)}: {clean(group.why)}",
                  target=_of_groups(analysis, [group]))
        for group in found[:_MOST]
    ]  # fmt: skip


def covered_rows(analysis: Analysis) -> list[SheetLine]:
    """What was hidden, each with its longest stretch."""
    return [
        SheetLine(
            f"{clean(one.rule)}: {clean(one.title)}, {time_text(one.time_ns)}{_at(one.where)}",
            layer=one.layer,
            target=Target(one.start_ns, one.end_ns, one.row, one.device),
        )
        for one in covered_causes(analysis)[:_MOST]
    ]


def _at(where: Where) -> str:
    place = str(where)
    return f", {clean(place)}" if place else ""


def _instant(time_ns: int) -> Target:
    return Target(time_ns, time_ns + 1)


def _of_row(trace: Trace, row: int) -> Target | None:
    if row < 0:
        return None
    return Target(int(trace.start_ns[row]), int(trace.end_ns[row]), row)


def _of_names(analysis: Analysis, names: Iterable[str]) -> Target | None:
    """The longest call of the kernels of some names, recorded or short."""
    wanted = set(names)
    groups = [g for g in analysis.kernels if g.name in wanted or g.short_name in wanted]
    return _of_groups(analysis, groups)


def _of_groups(analysis: Analysis, groups: list[KernelGroup]) -> Target | None:
    rows = [group.rows for group in groups if len(group.rows)]
    if not rows:
        return None
    every, trace = np.concatenate(rows), analysis.trace
    return _of_row(trace, int(every[int((trace.end_ns[every] - trace.start_ns[every]).argmax())]))


def _first_called(trace: Trace, name: str) -> Target | None:
    if name not in trace.strings:
        return None
    of_name = trace.name_id == list(trace.strings).index(name)
    rows = np.flatnonzero(of_name & (trace.kind != SliceKind.GPU_ANNOTATION))
    return _of_row(trace, int(rows[0])) if len(rows) else None
