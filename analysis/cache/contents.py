"""A trace as a header and arrays, and back.

Of the arguments that are read from the trace when someone looks, the entry holds where they
stand. Reading an entry gives the same trace, column by column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.cache.later_arguments import LaterArguments
from whichlayer.analysis.cache.texts import StoredBytes, StoredTexts, encoded, joined
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.trace.columns import Counters, Flows, Instants, Lane, Step, Trace

Array = NDArray[Any]

#: The arrays of an entry and their types; ``event`` may be narrower.
COLUMNS: Final = {
    "start_ns": "<i8", "end_ns": "<i8", "name_id": "<i4", "category_id": "<i4", "kind": "|u1",
    "lane_id": "<i4", "correlation": "<i8", "external_id": "<i8", "detail_id": "<i4",
    "parent": "<i4", "depth": "<i4", "launch": "<i4", "stray": "|u1",
}  # fmt: skip
INSTANTS: Final = {
    "time_ns": "<i8", "lane_id": "<i4", "name_id": "<i4", "value": "<f8", "size": "<f8",
    "reserved": "<f8", "allocator": "<i8",
}  # fmt: skip
COUNTERS: Final = {"series_id": "<i4", "time_ns": "<i8", "value": "<f8"}
FLOWS: Final = {
    "id": "<i8", "phase": "|u1", "time_ns": "<i8", "lane_id": "<i4", "category_id": "<i4",
}  # fmt: skip
OTHERS: Final = {
    "lane_rows": "<i8", "strings": "|u1", "strings.bounds": "<i8", "details": "|u1",
    "details.bounds": "<i8", "spans": "<i8", "event": "<i8",
}  # fmt: skip
ARRAYS: Final = {
    **COLUMNS,
    **{f"instants.{name}": kind for name, kind in INSTANTS.items()},
    **{f"counters.{name}": kind for name, kind in COUNTERS.items()},
    **{f"flows.{name}": kind for name, kind in FLOWS.items()},
    **OTHERS,
}

#: The fields of a trace that come back.
_STORED: Final = frozenset(
    {*COLUMNS, "path", "producer", "header", "origin_ns", "base_ns", "strings", "lanes",
     "lane_rows", "steps", "instants", "counters", "flows", "events", "warnings"}
)  # fmt: skip

_NARROW: Final = "<u4"


class Contents(msgspec.Struct, frozen=True):
    """Everything of a trace that is no array.

    Attributes:
        stamp: size and time of change of the file when it was read.
        tables: what the numbers of events refer to in an Nsight export; None for other traces.
        other attributes: as in :class:`Trace`.
    """

    producer: str
    header: dict[str, Any]
    origin_ns: int
    base_ns: int | None
    events: int
    lanes: tuple[Lane, ...]
    steps: tuple[Step, ...]
    series: tuple[tuple[str, str, str], ...]
    warnings: tuple[TraceWarning, ...]
    stamp: tuple[int, int]
    tables: tuple[str, ...] | None


class NotStorable(Exception):
    """A trace that an entry cannot hold."""


def pack(trace: Trace) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a trace's entry.

    Raises:
        NotStorable: it holds what cannot be stored.
    """
    places = _places(trace._full_args)
    if any(_is_new(trace, one) for one in fields(trace)):
        raise NotStorable("it says something that an entry has no place for")
    if not _is_plain(trace.header):
        raise NotStorable("its header holds more than JSON does")
    contents = Contents(
        trace.producer, dict(trace.header), trace.origin_ns, trace.base_ns, trace.events,
        trace.lanes, trace.steps, trace.counters.series, trace.warnings, places.stamp,
        places.tables,
    )  # fmt: skip
    arrays = {name: getattr(trace, name) for name in COLUMNS}
    for prefix, table, columns in _tables(trace):
        arrays |= {f"{prefix}.{name}": getattr(table, name) for name in columns}
    arrays["lane_rows"] = trace.lane_rows
    arrays["strings"], arrays["strings.bounds"] = joined(encoded(trace.strings))
    arrays["details"], arrays["details.bounds"] = joined(trace._details)
    arrays["spans"] = np.array(places.spans, np.int64).reshape(-1)
    arrays["event"] = places.event
    stored = {name: _typed(name, array) for name, array in arrays.items()}
    return msgspec.to_builtins(contents), stored


def unpack(path: str, contents: Contents, arrays: Mapping[str, Array]) -> Trace:
    """The trace of an entry whose arrays have been checked.

    Args:
        path: the trace as the user named it.
        contents: its header.
        arrays: its arrays.
    """
    columns: dict[str, Any] = {name: arrays[name] for name in COLUMNS}
    columns["stray"] = columns["stray"].view(np.bool_)
    strings = StoredBytes(arrays["strings"], arrays["strings.bounds"])
    return Trace(
        path=path,
        producer=contents.producer,
        header=contents.header,
        origin_ns=contents.origin_ns,
        base_ns=contents.base_ns,
        strings=StoredTexts(strings),
        **columns,
        lanes=contents.lanes,
        lane_rows=arrays["lane_rows"],
        steps=contents.steps,
        instants=Instants(**{name: arrays[f"instants.{name}"] for name in INSTANTS}),
        counters=Counters(
            contents.series, **{name: arrays[f"counters.{name}"] for name in COUNTERS}
        ),
        flows=Flows(**{name: arrays[f"flows.{name}"] for name in FLOWS}),
        events=contents.events,
        warnings=contents.warnings,
        _details=StoredBytes(arrays["details"], arrays["details.bounds"]),
        _full_args=LaterArguments(
            path, contents.stamp, arrays["event"], arrays["spans"], contents.tables
        ),
    )


class _Places(NamedTuple):
    """Where arguments stand, in the words of :class:`LaterArguments`."""

    event: Array
    stamp: tuple[int, int]
    spans: list[tuple[int, int, int]]
    tables: tuple[str, ...] | None


def _places(arguments: object) -> _Places:
    from whichlayer.analysis.reader.full_args import RowArguments
    from whichlayer.analysis.reader.nsight_arguments import RowRecords

    if isinstance(arguments, RowArguments):
        text = arguments.source
        spans = [(span.offset, span.length, span.events) for span in text.spans]
        return _Places(arguments.event, text.stamp, spans, None)
    if isinstance(arguments, RowRecords):
        export = arguments.source
        return _Places(arguments.event, export.stamp, [], tuple(export.tables))
    raise NotStorable("its arguments are read in an unknown way")


def _tables(trace: Trace) -> tuple[tuple[str, object, Mapping[str, str]], ...]:
    return (
        ("instants", trace.instants, INSTANTS),
        ("counters", trace.counters, COUNTERS),
        ("flows", trace.flows, FLOWS),
    )


def _typed(name: str, array: Array) -> Array:
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    if name == "event" and _fits(array):
        return array.astype(_NARROW)
    if array.dtype.str != ARRAYS[name] or array.ndim != 1:
        raise NotStorable(f"{name} is of an unexpected type")
    return array


def _fits(array: Array) -> bool:
    if not len(array):
        return True
    return int(array.min()) >= 0 and int(array.max()) < 1 << 32


def _is_new(trace: Trace, told: Field[Any]) -> bool:
    """Whether a field that is not stored is anything but empty: a part of a trace, say."""
    stored = told.name in _STORED or told.name.startswith("_") or not told.compare
    return not stored and getattr(trace, told.name) is not told.default


def _is_plain(value: object) -> bool:
    """Whether JSON gives back exactly this value."""
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(held) for key, held in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)
