"""The lanes of a large trace as they lie in its entry of the cache.

Which family a slice is of, and in which row it is drawn, takes as long to work out as all the rest
of a large trace's first timeline. It is written beside the columns, and taken from there as long
as the modules that decide it are what they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.family import Family
from whichlayer.tui.lanes import FOLDED_ROWS, ShownLane

Array = NDArray[Any]
UInt8 = NDArray[np.uint8]

#: What decides families, lanes, their rows and their titles.
_MODULES: Final = (
    "tui/families.py", "tui/family.py", "tui/kept_lanes.py", "tui/lane_depths.py",
    "tui/lane_titles.py", "tui/lanes.py", "analysis/kernels/names.py", "analysis/text.py",
)  # fmt: skip

#: The arrays of an entry, and their types.
_TYPES: Final = {
    "families": "|u1", "order": "<i4", "rows": "<i8", "lanes": "|u1", "extent": "<i8",
    "version": "|u1",
}  # fmt: skip


class _Lane(msgspec.Struct, array_like=True, frozen=True):
    """A lane of the screen: of which lane of the trace, under which name, in how many rows."""

    index: int
    title: str
    group: str
    rows: int
    first_row: int


@dataclass(frozen=True, slots=True)
class KeptLanes:
    """What an entry holds.

    Attributes:
        families: of every slice, uint8 (n,).
        lanes: those of slices, in the order of the screen.
        low_ns, high_ns: the stretch that their slices take.
    """

    families: UInt8
    lanes: tuple[ShownLane, ...]
    low_ns: int
    high_ns: int


def for_entry(
    trace: Trace, families: UInt8, lanes: Sequence[ShownLane], low_ns: int, high_ns: int
) -> dict[str, Array]:
    """What is written beside the columns of a trace; empty where the source is not at hand.

    Args:
        trace: the trace.
        families: of its slices.
        lanes: all that hold slices, in the order of the screen, with their final titles.
        low_ns: where the first slice begins.
        high_ns: where the last one ends.
    """
    if not version():
        return {}
    place = {id(lane): index for index, lane in enumerate(trace.lanes)}
    sorted_rows = [lane.rows_in_order() for lane in lanes]
    told = [
        _Lane(place[id(lane.lane)], lane.title, lane.group, len(bounds) - 1, lane.first_row)
        for lane, (_, bounds) in zip(lanes, sorted_rows, strict=True)
    ]
    orders = [slices for slices, _ in sorted_rows]
    counts = [np.diff(bounds) for _, bounds in sorted_rows]
    return {
        "families": families,
        "order": np.concatenate([np.zeros(0, np.int32), *orders]),
        "rows": np.concatenate([np.zeros(0, np.int64), *counts]),
        "lanes": np.frombuffer(msgspec.json.encode(told), np.uint8),
        "extent": np.array([low_ns, high_ns], np.int64),
        "version": np.frombuffer(version().encode(), np.uint8),
    }


def kept_lanes(trace: Trace, beside: Mapping[str, Array]) -> KeptLanes | None:
    """What an entry holds beside its columns, None where it cannot be used.

    An entry may have been made up: nothing in it leads outside of the trace.

    Args:
        trace: of the entry.
        beside: its arrays.
    """
    if any(name not in beside or beside[name].dtype.str != kind for name, kind in _TYPES.items()):
        return None
    if beside["version"].tobytes().decode("ascii", "replace") != version() or not version():
        return None
    try:
        told = msgspec.json.decode(beside["lanes"].tobytes(), type=list[_Lane])
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        return None
    families, order, counts = beside["families"], beside["order"], beside["rows"]
    if not _adds_up(trace, told, families, order, counts) or len(beside["extent"]) != 2:
        return None
    lanes, at, row = [], 0, 0
    for one in told:
        own = counts[row : row + one.rows]
        bounds = np.concatenate(([0], np.cumsum(own)))
        slices = order[at : at + int(bounds[-1])]
        lanes.append(
            ShownLane.of_rows(
                trace, trace.lanes[one.index], one.title, one.group, families, slices, bounds,
                one.first_row,
            )
        )  # fmt: skip
        at, row = at + len(slices), row + one.rows
    low, high = beside["extent"].tolist()
    return KeptLanes(families, tuple(lanes), low, high)


def _adds_up(trace: Trace, told: list[_Lane], families: UInt8, order: Array, counts: Array) -> bool:
    if len(families) != len(trace) or sum(one.rows for one in told) != len(counts):
        return False
    if len(counts) and (int(counts.min()) < 0 or int(counts.max()) > len(order)):
        return False
    if int(counts.sum()) != len(order):
        return False
    if any(not _is_possible(trace, one) for one in told):
        return False
    if len(families) and int(families.max()) >= len(Family):
        return False
    return not len(order) or (int(order.min()) >= 0 and int(order.max()) < len(trace))


def _is_possible(trace: Trace, one: _Lane) -> bool:
    return (
        0 <= one.index < len(trace.lanes)
        and one.group in FOLDED_ROWS
        and one.rows > 0
        and 0 <= one.first_row < one.rows
    )


@cache
def version() -> str:
    """A digest of what decides the lanes, empty where its source is not at hand."""
    root = Path(__file__).resolve().parent.parent
    digest = blake2b(digest_size=16)
    try:
        for module in _MODULES:
            source = (root / module).read_bytes()
            digest.update(f"{module} {len(source)}\n".encode())
            digest.update(source)
    except OSError:
        return ""
    return digest.hexdigest()
