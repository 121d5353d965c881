"""Whether what was read from an entry can be used without harm.

Checksums tell damage; these checks tell an entry that was made up. After them no number in a
column leads outside of what it refers to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.cache.contents import (
    ARRAYS,
    COLUMNS,
    COUNTERS,
    FLOWS,
    INSTANTS,
    Contents,
)
from whichlayer.analysis.cache.file_layout import Damaged
from whichlayer.analysis.trace.kinds import SliceKind

Array = NDArray[Any]
Arrays = Mapping[str, Array]

#: No time that a reader gives is further away.
_FAR_NS = 3 << 61

#: Longest stretch of text that a reader holds at a time.
_LONGEST_SPAN = 1 << 32


def check(contents: Contents, arrays: Arrays) -> None:
    """Check a whole entry.

    Raises:
        Damaged: something does not add up.
    """
    for name, kind in ARRAYS.items():
        wanted = (kind, "<u4") if name == "event" else (kind,)
        if name not in arrays or arrays[name].dtype.str not in wanted:
            raise Damaged(f"{name} is missing")
    slices = len(arrays["start_ns"])
    strings = _check_pieces(arrays, "strings")
    details = _check_pieces(arrays, "details")
    lanes = len(contents.lanes)
    _check_lengths(arrays, slices)
    _check_slices(arrays, slices, strings, details)
    _check_lanes(arrays, slices, lanes)
    _check_marks(contents, arrays, lanes, strings)
    _check_events(contents, arrays)
    _check_values(contents, slices, lanes)


def _require(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise Damaged(what)


def _within(array: Array, low: int, high: int, what: str) -> None:
    """All of ``low <= array < high``."""
    if len(array):
        _require(int(array.min()) >= low and int(array.max()) < high, what)


def _check_pieces(arrays: Arrays, name: str) -> int:
    bounds, size = arrays[f"{name}.bounds"], len(arrays[name])
    _require(len(bounds) > 0 and bounds[0] == 0 and bounds[-1] == size, name)
    _require((bounds[1:] >= bounds[:-1]).all(), name)
    return len(bounds) - 1


def _check_lengths(arrays: Arrays, slices: int) -> None:
    tables = (("", (*COLUMNS, "event")), ("instants.", INSTANTS), ("counters.", COUNTERS))
    for prefix, columns in (*tables, ("flows.", FLOWS)):
        lengths = {len(arrays[prefix + name]) for name in columns}
        _require(len(lengths) == 1, f"{prefix}columns of several lengths")
    _require(slices < 1 << 31, "too many slices")
    _require(len(arrays["spans"]) % 3 == 0, "spans")


def _check_slices(arrays: Arrays, slices: int, strings: int, details: int) -> None:
    _within(arrays["name_id"], 0, strings, "name_id")
    _within(arrays["category_id"], 0, strings, "category_id")
    _within(arrays["kind"], 0, len(SliceKind), "kind")
    _within(arrays["detail_id"], -1, details, "detail_id")
    _within(arrays["depth"], 0, slices, "depth")
    _within(arrays["launch"], -1, slices, "launch")
    _within(arrays["stray"], 0, 2, "stray")
    _within(arrays["start_ns"], -_FAR_NS, _FAR_NS, "start_ns")
    _within(arrays["end_ns"], -_FAR_NS, _FAR_NS, "end_ns")
    _require((arrays["end_ns"] >= arrays["start_ns"]).all(), "end_ns")
    parent = arrays["parent"]
    _within(parent, -1, slices, "parent")
    # A parent precedes its children, so that no walk upwards goes round in circles.
    _require((parent < np.arange(slices, dtype=np.int32)).all(), "parent")


def _check_lanes(arrays: Arrays, slices: int, lanes: int) -> None:
    rows = arrays["lane_rows"]
    _require(len(rows) == lanes + 1 and rows[0] == 0 and rows[-1] == slices, "lane_rows")
    counts = np.diff(rows)
    _within(counts, 0, slices + 1, "lane_rows")
    lane = np.repeat(np.arange(lanes, dtype=np.int32), counts)
    _require(np.array_equal(arrays["lane_id"], lane), "lane_id")
    start = arrays["start_ns"]
    back = np.flatnonzero(start[1:] < start[:-1]) + 1
    _require(np.isin(back, rows).all(), "start_ns is not in order")


def _check_marks(contents: Contents, arrays: Arrays, lanes: int, strings: int) -> None:
    _within(arrays["instants.lane_id"], -1, lanes, "instants.lane_id")
    _within(arrays["instants.name_id"], 0, strings, "instants.name_id")
    _within(arrays["counters.series_id"], 0, len(contents.series), "counters.series_id")
    _within(arrays["flows.phase"], 0, 3, "flows.phase")
    _within(arrays["flows.lane_id"], -1, lanes, "flows.lane_id")
    _within(arrays["flows.category_id"], 0, strings, "flows.category_id")
    for name in ("instants", "counters", "flows"):
        _within(arrays[f"{name}.time_ns"], -_FAR_NS, _FAR_NS, f"{name}.time_ns")


def _check_events(contents: Contents, arrays: Arrays) -> None:
    """Where arguments are read: within the stretches of text, or a table that is there."""
    event = arrays["event"]
    if contents.tables is not None:
        from whichlayer.analysis.reader.nsight_arguments import KEY_BITS

        _within(event, -1 << 62, len(contents.tables) << KEY_BITS, "event")
        return
    spans = arrays["spans"].reshape(-1, 3)
    if len(spans):
        _within(spans[:, 0], 0, _FAR_NS, "spans")
        _within(spans[:, 1], 0, _LONGEST_SPAN, "spans")
        _within(spans[:, 2], 0, _LONGEST_SPAN, "spans")
    _within(event, 0, min(int(spans[:, 2].sum()), _FAR_NS), "event")


def _check_values(contents: Contents, slices: int, lanes: int) -> None:
    numbers = [contents.events, contents.origin_ns, contents.base_ns or 0, *contents.stamp]
    for lane in contents.lanes:
        numbers += (lane.device, lane.stream)
    for step in contents.steps:
        numbers += (step.number, step.start_ns, step.end_ns)
        _require(0 <= step.row < slices and 0 <= step.lane_id < lanes, "steps")
    for warning in contents.warnings:
        numbers += (warning.count, warning.byte_offset)
    _require(all(-1 << 63 <= number < 1 << 63 for number in numbers), "numbers")
