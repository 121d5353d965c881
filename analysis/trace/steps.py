"""The training or serving steps that the recording marks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from whichlayer.analysis.trace.columns import Bool, Int32, Int64, Step, UInt8
from whichlayer.analysis.trace.kinds import SliceKind

_STEP_NAME = re.compile(r"ProfilerStep#(\d{1,18})\Z")


def find_steps(
    strings: Sequence[str],
    name_id: Int32,
    kind: UInt8,
    lane_id: Int32,
    start_ns: Int64,
    end_ns: Int64,
    usable: Bool,
) -> tuple[Step, ...]:
    """The ``ProfilerStep#N`` annotations on the CPU, in order of start.

    Where several threads or ranks mark steps, those of one lane are taken: the one with the
    most, of equal ones the first.

    Args:
        strings: what ``name_id`` indexes.
        name_id: int32 (n,).
        kind: uint8 (n,).
        lane_id: int32 (n,).
        start_ns: int64 (n,), sorted within each lane.
        end_ns: int64 (n,).
        usable: bool (n,), slices that may count (no strays).
    """
    numbers: dict[int, int] = {}
    for index, text in enumerate(strings):
        found = _STEP_NAME.match(text)
        if found:
            numbers[index] = int(found[1])
    if not numbers:
        return ()
    named = np.isin(name_id, np.fromiter(numbers, np.int32, len(numbers)))
    rows = np.flatnonzero(named & (kind == SliceKind.ANNOTATION) & usable)
    by_lane: defaultdict[int, list[int]] = defaultdict(list)
    for row in rows.tolist():
        by_lane[int(lane_id[row])].append(row)
    if not by_lane:
        return ()
    best = max(by_lane, key=lambda lane: (len(by_lane[lane]), -lane))
    return tuple(
        Step(
            number=numbers[int(name_id[row])],
            name=strings[int(name_id[row])],
            row=row,
            start_ns=int(start_ns[row]),
            end_ns=int(end_ns[row]),
            lane_id=best,
        )
        for row in by_lane[best]
    )
