"""Steps inferred from annotations that every step has once: the program's own, or PyTorch's.

PyTorch annotates each ``Optimizer.step`` and each call of a data loader by itself. A training
step ends with the first; where nothing is trained, a step begins with the second.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.steps.model import Inferred
from whichlayer.analysis.trace.columns import Step, StepSource, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind

Int64 = NDArray[np.int64]
Rows = NDArray[np.intp]

#: A mark that comes once shows no step's length.
MIN_MARKS = 2
#: The share of the recording's launches that the program's own annotations have to hold.
MIN_LAUNCHES = 0.5
#: Optimisers that take turns: as many calls as this can make one step.
MAX_TURNS = 4
#: How far the launches of steps may differ that are alike.
ALIKE = 0.05
#: What runs before the first mark is a step if it has this share of the launches of the others.
NEARLY_WHOLE = 0.8

_OWN = re.compile(r"(?<![a-z])(?:step|iter|iteration|batch)(?![a-z])", re.IGNORECASE)
_NOT_OWN = re.compile(r"optim|sched|loader|(?<![a-z])lr(?![a-z])|load|copy|wait", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


def by_marks(trace: Trace) -> Inferred | None:
    """Steps by annotations that repeat, None where none do."""
    rows = np.flatnonzero((trace.kind == SliceKind.ANNOTATION) & ~trace.stray)
    if len(rows) < MIN_MARKS:
        return None
    work = np.flatnonzero(among(trace.kind, GPU_WORK) & (trace.launch >= 0) & ~trace.stray)
    made = np.sort(trace.start_ns[trace.launch[work]])
    return _by_own(trace, rows, made) or _by_optimizer(trace, rows, made) or _by_loader(trace, rows)


def _by_own(trace: Trace, rows: Rows, made: Int64) -> Inferred | None:
    """By an annotation of the program that has a step's name, the one that comes least often."""
    keys: dict[str, list[int]] = {}
    for name_id in np.unique(trace.name_id[rows]).tolist():
        name = trace.strings[name_id]
        if _OWN.search(name) and not _NOT_OWN.search(name):
            keys.setdefault(_DIGITS.sub("0", name), []).append(name_id)
    best: Rows | None = None
    for ids in keys.values():
        mine = _apart(trace, rows[among(trace.name_id[rows], ids)])
        if len(mine) < MIN_MARKS or (best is not None and len(mine) >= len(best)):
            continue
        inside = _counts(made, trace.start_ns[mine], trace.end_ns[mine])
        if int(inside.sum()) > MIN_LAUNCHES * len(made):
            best = mine
    if best is None:
        return None
    how = f"annotations like “{trace.name(int(best[0]))}”"
    return _steps(trace, best, trace.start_ns[best], trace.end_ns[best], how)


def _by_optimizer(trace: Trace, rows: Rows, made: Int64) -> Inferred | None:
    """From the end of one optimiser step to the end of the next."""
    marks = _apart(trace, _beginning(trace, rows, "Optimizer.step#"))
    if len(marks) < MIN_MARKS:
        return None
    ends = trace.end_ns[marks]
    lane = int(trace.lane_id[marks[0]])
    begin = np.concatenate(([trace.start_ns[trace.lane_rows[lane]]], ends[:-1]))
    counts = _counts(made, begin, ends)
    turns = _turns(counts[1:])
    chosen = np.arange(len(marks) - 1, -1, -turns)[::-1]
    first = np.concatenate(([0], chosen[:-1] + 1))
    begin, ends, marks = begin[first], ends[chosen], marks[chosen]
    totals = _counts(made, begin, ends)
    if len(totals) > 1 and totals[0] < NEARLY_WHOLE * np.median(totals[1:]):
        begin, ends, marks = begin[1:], ends[1:], marks[1:]
    if len(marks) < MIN_MARKS:
        return None
    return _steps(trace, marks, begin, ends, "the ends of optimiser steps")


def _by_loader(trace: Trace, rows: Rows) -> Inferred | None:
    """From one call of the data loader to the next; what follows the last is no whole step."""
    marks = _apart(trace, _beginning(trace, rows, "enumerate(DataLoader)#"))
    if len(marks) <= MIN_MARKS:
        return None
    begin = trace.start_ns[marks]
    return _steps(trace, marks[:-1], begin[:-1], begin[1:], "calls of the data loader")


def _turns(counts: Int64) -> int:
    """How many optimisers take turns: the least distance at which steps launch as much."""
    usual = float(np.median(counts)) if len(counts) else 0.0
    for turns in range(1, min(MAX_TURNS, len(counts) // 2) + 1):
        apart = np.abs(counts[turns:] - counts[:-turns])
        if float(np.median(apart)) <= ALIKE * usual:
            return turns
    return 1


def _beginning(trace: Trace, rows: Rows, text: str) -> Rows:
    ids = [i for i in np.unique(trace.name_id[rows]).tolist() if trace.strings[i].startswith(text)]
    return rows[among(trace.name_id[rows], ids)]


def _apart(trace: Trace, rows: Rows) -> Rows:
    """The slices of the lane with most of them, without those inside another."""
    if not len(rows):
        return rows
    lanes, counts = np.unique(trace.lane_id[rows], return_counts=True)
    rows = rows[trace.lane_id[rows] == lanes[np.argmax(counts)]]
    reach = np.maximum.accumulate(trace.end_ns[rows])
    return rows[np.concatenate(([True], trace.start_ns[rows][1:] >= reach[:-1]))]


def _counts(made: Int64, begin: Int64, end: Int64) -> Int64:
    """How many launches were made in each stretch: int64 (n,)."""
    counts = np.searchsorted(made, end, "left") - np.searchsorted(made, begin, "left")
    return counts.astype(np.int64)


def _steps(trace: Trace, rows: Rows, begin: Int64, end: Int64, how: str) -> Inferred:
    steps = tuple(
        Step(number, f"step {number}", row, low, high, int(trace.lane_id[row]), StepSource.INFERRED)
        for number, (row, low, high) in enumerate(
            zip(rows.tolist(), begin.tolist(), end.tolist(), strict=True), 1
        )
    )
    return Inferred(steps, how)
