"""What proves a cause, in figures that can be read again on the timeline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from whichlayer.analysis.gaps.causes import module_load, recompile
from whichlayer.analysis.gaps.first_calls import first_call
from whichlayer.analysis.gaps.graph_breaks import graph_rows, place_of_break, region_of
from whichlayer.analysis.gaps.optimizers import optimizer_launches, optimizer_span
from whichlayer.analysis.gaps.receives import received_bytes
from whichlayer.analysis.gaps.surroundings import thread_name
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.results import Gaps
from whichlayer.analysis.text import clean, plural, size_text
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

#: At most so many operators that ran at a graph break are named.
OPERATORS = 4
_NUMBER = re.compile(r"Torch-Compiled Region: (\d+)")
#: What Dynamo itself records around compiled code.
_OF_DYNAMO = re.compile(r"TorchDynamo |Pregraph |AOTDispatcher |Torch-Compiled |CompiledFunction")
_STACKS = "only recorded stacks (with_stack=True) tell which"


def microseconds(ns: int) -> str:
    """A duration for people: µs below a millisecond, ms below a second."""
    if abs(ns) < 1_000_000:
        return f"{ns / 1e3:,.1f} µs"
    return f"{ns / 1e6:,.2f} ms" if abs(ns) < 1_000_000_000 else f"{ns / 1e9:,.3f} s"


def proof_lines(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    """What proves the cause of one piece beyond its launch and its culprit."""
    prove = _PROOFS.get(gaps.rule(index))
    return prove(trace, gaps, index, culprit) if prove is not None else []


def _graph_break(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    place = place_of_break(trace.name(culprit)) if culprit >= 0 else None
    if place is None:
        return []
    file, line, function = place
    lines = [f"the graph of {clean(function)} broke at {clean(file)}:{line}"]
    before, after = _regions_around(trace, culprit)
    if before >= 0 and after >= 0:
        names = (clean(region_of(trace, row)) for row in (before, after))
        lines[0] += ", between " + " and ".join(names)
    low = int(trace.end_ns[before]) if before >= 0 else int(gaps.start_ns[index])
    high = int(trace.start_ns[after]) if after >= 0 else int(gaps.end_ns[index])
    ran = _operators_between(trace, int(trace.lane_id[culprit]), low, high)
    return [*lines, f"left out of the graphs: {ran}"] if ran else lines


def _regions_around(trace: Trace, row: int) -> tuple[int, int]:
    """The compiled graph before the rest of a function, and the first in it; -1 for none."""
    regions = graph_rows(trace)
    regions = regions[trace.lane_id[regions] == trace.lane_id[row]]
    begin, finish = int(trace.start_ns[row]), int(trace.end_ns[row])
    ended = regions[trace.end_ns[regions] <= begin]
    before = int(ended[np.argmax(trace.end_ns[ended])]) if len(ended) else -1
    inside = regions[(trace.start_ns[regions] >= begin) & (trace.start_ns[regions] < finish)]
    return before, int(inside[0]) if len(inside) else -1


def _operators_between(trace: Trace, lane: int, low: int, high: int) -> str:
    """The commonest operators of a thread between two instants."""
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    start = trace.start_ns[first:last]
    at = slice(first + int(start.searchsorted(low)), first + int(start.searchsorted(high)))
    rows = np.arange(at.start, at.stop)[trace.kind[at] == SliceKind.CPU_OP]
    outer = [row for row in rows.tolist() if trace.start_ns[max(trace.parent[row], 0)] < low
             or trace.kind[trace.parent[row]] != SliceKind.CPU_OP]  # fmt: skip
    names = Counter(clean(trace.name(row)) for row in outer)
    names = Counter({n: c for n, c in names.items() if not _OF_DYNAMO.match(n)})
    shown = [f"{c} × {n}" if c > 1 else n for n, c in names.most_common(OPERATORS)]
    return ", ".join(shown) + (" …" if len(names) > OPERATORS else "")


def _maybe_break(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    """Dispatch between two different compiled regions: a hint, no proof."""
    launch = int(gaps.launch_row[index])
    if launch < 0:
        return []
    around = [launch, *trace.enclosing(launch)]
    regions = [row for row in around if _NUMBER.match(trace.name(row))]
    after = regions[0] if regions else -1
    if after < 0 or int(trace.start_ns[after]) <= int(gaps.start_ns[index]):
        return []
    if len(regions) > 1:
        inner, outer = (clean(trace.name(row)) for row in regions[:2])
        return [f"{inner} runs inside {outer}, as after a graph break; {_STACKS}"]
    before, _ = _regions_around(trace, after)
    names = [_NUMBER.match(trace.name(row)) if row >= 0 else None for row in (before, after)]
    if names[0] is None or names[1] is None or names[0][1] == names[1][1]:
        return []
    texts = " and ".join(clean(trace.name(row)) for row in (before, after))
    return [f"between {texts}: a graph break, or regions compiled one by one; {_STACKS}"]


def _recompile(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    if culprit < 0 or not compiles(trace, culprit):
        return []
    begun = int(trace.start_ns[culprit])
    length = microseconds(int(trace.end_ns[culprit]) - begun)
    step = next((s for s in trace.host_steps if s.start_ns <= begun < s.end_ns), None)
    when = f"in {clean(step.name)}" if step is not None else "outside of every step"
    if not trace.host_steps:
        when = "no steps are recorded, so whether it was the first compile is not known"
    return [f"the compile took {length}; {when}"]


def _optimizer(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    for row in (culprit, int(gaps.launch_row[index])):
        around = optimizer_span(trace, row) if row >= 0 else -1
        if around < 0:
            continue
        count, single = optimizer_launches(trace, around)
        length = microseconds(int(trace.end_ns[around] - trace.start_ns[around]))
        name = clean(trace.name(around))
        text = f"{name} launched {plural(count, 'kernel')} in {length}"
        return [text + (f", {single} of them for one tensor each" if single else "")]
    return []


def _bubble(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    if culprit < 0:
        return []
    length = int(trace.end_ns[culprit] - trace.start_ns[culprit])
    text = f"the receive ran for {microseconds(length)}"
    size = received_bytes(trace, culprit)
    if size is None:
        return [f"{text}; how much it received is not recorded"]
    return [f"{text} for {size_text(size)}: {size / max(length, 1):.2f} GB/s"]


def _pageable(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    launch = int(gaps.launch_row[index])
    if launch < 0 or launch not in (culprit, int(trace.launch[max(culprit, 0)])):
        return []
    blocked = microseconds(int(trace.end_ns[launch] - trace.start_ns[launch]))
    copy = int(gaps.next_row[index])
    ran = microseconds(int(trace.end_ns[copy] - trace.start_ns[copy]))
    return [f"{clean(trace.name(launch))} blocked its thread for {blocked}; the copy ran for {ran}"]


def _queued(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    """Work that was behind its own stream's earlier work, or an event that is not known."""
    row, start = int(gaps.next_row[index]), int(gaps.start_ns[index])
    if culprit >= 0 and trace.lanes[int(trace.lane_id[culprit])].kind == LaneKind.GPU_STREAM:
        return []
    lane = int(trace.lane_id[row])
    before = row - 1
    if before < trace.lane_rows[lane] or trace.end_ns[before] > trace.start_ns[row]:
        return ["what it waited for is not recorded"]
    since = microseconds(int(trace.start_ns[row] - trace.end_ns[before]))
    name = short_name(trace.name(before))
    text = f"it was queued behind {name} on its own stream, which ended {since} before"
    return [text if trace.end_ns[before] >= start - 1 else "what it waited for is not recorded"]


def _first_call(trace: Trace, gaps: Gaps, index: int, culprit: int) -> list[str]:
    """Loading that is told by its being the first of its kind, and long."""
    launch = int(gaps.launch_row[index])
    if culprit < 0 or module_load.marks(*_as_marked(trace, culprit)):
        return []
    if culprit == launch and trace.kind[int(gaps.next_row[index])] == SliceKind.KERNEL:
        usual = trace.end_ns[trace.name_id == trace.name_id[launch]]
        usual = usual - trace.start_ns[trace.name_id == trace.name_id[launch]]
        typical = microseconds(int(np.median(usual)))
        return [f"{clean(trace.name(launch))} usually takes {typical}: it loaded the kernel's code"]
    first = first_call(trace, culprit)
    if first < 0:
        return []
    part = "" if first == culprit else "a part of "
    name, who = clean(trace.name(first)), thread_name(trace, culprit)
    line = f"{part}the first call of {name} on {who} in this recording"
    return [f"{line}: it brings up the context or loads a library"]


def _as_marked(trace: Trace, row: int) -> tuple[str, SliceKind, str]:
    category = trace.strings[int(trace.category_id[row])]
    return trace.name(row), SliceKind(int(trace.kind[row])), category


def behind_line(trace: Trace, culprit: int, launch: int, end: int) -> str | None:
    """What queued work waited for on the device, where that is known."""
    if culprit < 0 or culprit == launch:
        return None
    lane = trace.lanes[int(trace.lane_id[culprit])]
    if lane.kind != LaneKind.GPU_STREAM:
        return None
    ended = microseconds(end - int(trace.end_ns[culprit]))
    told = (trace.kind == SliceKind.GPU_SYNC).any()
    how = "" if told else " (judged by the times: no synchronisation event is recorded)"
    name = short_name(trace.name(culprit))
    return f"it waited for {name} on stream {lane.stream}, which ended {ended} before{how}"


def compiles(trace: Trace, row: int) -> bool:
    """Whether a slice is a compile at work."""
    return recompile.marks(*_as_marked(trace, row))


_PROOFS: dict[str, Callable[[Trace, Gaps, int, int], list[str]]] = {
    "graph-break": _graph_break,
    "h2d-pageable": _pageable,
    "launch-bound": _maybe_break,
    "module-load": _first_call,
    "optimizer-loop": _optimizer,
    "pipeline-bubble": _bubble,
    "python-overhead": _maybe_break,
    "recompile": _recompile,
    "stream-wait": _queued,
    "unattributed": _maybe_break,
    "warm-up": _recompile,
}
