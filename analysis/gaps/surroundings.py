"""What surrounded a wait: the calls it was made in, and what other threads did meanwhile."""

from __future__ import annotations

import re
from collections import Counter

from whichlayer.analysis.gaps.host import is_poll
from whichlayer.analysis.gaps.waits import wait_of
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

#: As many names of a chain are shown, the outermost and the innermost ones.
LINKS = 6
#: A name in a chain has at most this many characters.
NAME_LENGTH = 44
#: So many instants of a wait are looked at to tell what another thread did.
INSTANTS = 16
#: At most so many other threads are named.
THREADS = 2
_FRAME = re.compile(r"^.*[/\\]?[^/\\]+\.py\(\d+\): (?P<function>.+)$", re.DOTALL)
_OPTIMIZER = re.compile(
    r"(^|/)optim/\w+\.py\(\d+\): (?P<function>step|zero_grad|_single_tensor\w*)$"
)
_STEP = re.compile(r"^ProfilerStep#\d+$")
#: Plain numbers: comparing members of an enumeration is slow, and stacks are deep.
_PYTHON = int(SliceKind.PYTHON)
_SHOWN = (int(SliceKind.ANNOTATION), int(SliceKind.CPU_OP), int(SliceKind.RUNTIME))


def thread_name(trace: Trace, row: int) -> str:
    """The thread of a slice for people."""
    lane = trace.lanes[int(trace.lane_id[row])]
    return clean(lane.name or str(lane.tid))


def chain_line(trace: Trace, row: int) -> str | None:
    """The annotations, operators and calls around a slice, outermost first; None for one alone."""
    names: list[str] = []
    chain = [*reversed(trace.enclosing(row)), row]
    for up, kind in zip(chain, trace.kind[chain].tolist(), strict=True):
        name = _link(trace.name(up), kind, up == row)
        if name and (not names or names[-1] != name):
            names.append(name)
    if len(names) < 2:
        return None
    if len(names) > LINKS:
        names = [*names[:2], "…", *names[-(LINKS - 3) :]]
    return f"inside {' > '.join(names)}, on {thread_name(trace, row)}"


def _link(name: str, kind: int, last: bool) -> str:
    """A slice's name in a chain, empty where it says nothing."""
    if kind == _PYTHON:
        optimizer = _OPTIMIZER.search(name.replace("\\", "/")) if "optim" in name else None
        if optimizer is None and not last:
            return ""
        found = optimizer or _FRAME.match(name)
        name = found["function"] if found else name
    elif kind not in _SHOWN or (not last and _STEP.match(name)):
        return ""
    name = clean(name)
    return name if len(name) <= NAME_LENGTH else name[: NAME_LENGTH - 1] + "…"


def meanwhile_lines(trace: Trace, lane: int, start: int, end: int) -> list[str]:
    """What other threads of the process did for most of a wait of one thread.

    A thread that waits for a lock or for Python's interpreter lock is recorded as idle, or
    inside of whatever it had begun.
    """
    lines: list[str] = []
    for other, place in enumerate(trace.lanes):
        if other == lane or place.kind != LaneKind.CPU_THREAD:
            continue
        if place.pid != trace.lanes[lane].pid or len(lines) >= THREADS:
            continue
        row = mostly_ran(trace, other, start, end)
        if row < 0:
            continue
        name = clean(trace.name(row))
        line = f"meanwhile {thread_name(trace, row)} ran {name}"
        if trace.kind[row] == SliceKind.PYTHON:
            line += ": Python, which one thread runs at a time (interpreter lock)"
        lines.append(line)
    return lines


def mostly_ran(trace: Trace, lane: int, start: int, end: int) -> int:
    """What a thread ran at most of the instants of a stretch, -1 where it idled or waited."""
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    begins = trace.start_ns[first:last]
    seen: Counter[int] = Counter()
    examples: dict[int, int] = {}
    for i in range(INSTANTS):
        instant = start + (2 * i + 1) * (end - start) // (2 * INSTANTS)
        row = first + int(begins.searchsorted(instant, "right")) - 1
        while row >= first and trace.end_ns[row] <= instant:
            row = int(trace.parent[row])
        if row < first or not _works(trace, row):
            continue
        name = int(trace.name_id[row])
        seen[name] += 1
        examples.setdefault(name, row)
    if 2 * sum(seen.values()) <= INSTANTS:
        return -1
    return examples[seen.most_common(1)[0][0]]


def _works(trace: Trace, row: int) -> bool:
    """Whether a slice is work and neither a wait for a lock nor a look at the device."""
    name = trace.name(row)
    if trace.kind[row] == SliceKind.PYTHON:
        return wait_of(name) is None
    return trace.kind[row] in (SliceKind.CPU_OP, SliceKind.RUNTIME) and not is_poll(name)
