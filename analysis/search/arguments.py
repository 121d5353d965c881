"""Looking into the arguments of slices: shapes, which are in memory, and all, which are not.

All arguments are read from the file again, in one pass from front to back, and decoded only
where its text holds what is looked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.operators import operator_rows
from whichlayer.analysis.trace.columns import Int32, Trace
from whichlayer.analysis.trace.kinds import GPU_WORK

Bool = NDArray[np.bool_]

#: Called with the share that is done; raises to end the search.
Report = Callable[[float], None]

#: Whether a text holds what is looked for, for each of several.
Match = Callable[[list[str]], Bool]

_SHAPES = ("Input Dims", "Input dims", "Input type", "Output dims", "Output type")
_TIMES = re.compile(r"(?<=\d)\s*[x×]\s*(?=\d)")
_BLANKS = re.compile(r"\s+")

#: So many texts are matched at a time; a search can be ended in between.
_AT_ONCE = 4096

#: Where a file cannot be read in passing it is read anew for so many parts.
_PARTS = 8


def shape_pattern(text: str) -> str:
    """What is typed of a shape, as shapes are written here.

    >>> shape_pattern("64 x 128"), shape_pattern("[8, 8]")
    ('64,128', '[8,8]')
    """
    return _BLANKS.sub("", _TIMES.sub(",", text))


def rows_with_shape(trace: Trace, rows: Int32, match: Match, report: Report) -> Bool:
    """Which slices have a shape or a type among their inputs; kernels have their operator's.

    Args:
        trace: the recording.
        rows: int32 (n,), the slices.
        match: tells of texts such as ``[[8,8],[8]] float,float``.
        report: told how far this is.

    Returns:
        bool (n,).
    """
    speaking = rows.copy()
    on_gpu = np.flatnonzero(np.isin(trace.kind[rows], GPU_WORK))
    if len(on_gpu):
        work = rows[on_gpu]
        speaking[on_gpu] = operator_rows(trace, work, trace.launch[work])
    detail = np.where(speaking >= 0, trace.detail_id[speaking], -1)
    found = _details_with(trace, detail, _shape_text, match, report)
    return np.asarray(found[detail] & (detail >= 0))


def rows_with_argument(
    trace: Trace, rows: Int32, match: Match, needle: str, report: Report
) -> Bool:
    """Which slices have an argument, by its name or value, as the file holds it.

    Args:
        trace: the recording.
        rows: int32 (n,), the slices.
        match: tells of texts with a line ``name: value`` for each argument.
        needle: what every match holds in lower case, else empty.
        report: told how far this is.

    Returns:
        bool (n,).

    Raises:
        TraceError: the file is gone or has changed since it was loaded.
    """
    result = np.zeros(len(rows), np.bool_)
    for share, places, arguments in _read(trace, rows, needle):
        report(share)
        for first in range(0, len(places), _AT_ONCE):
            texts = [_argument_text(one) for one in arguments[first : first + _AT_ONCE]]
            if texts:
                result[places[first : first + _AT_ONCE]] = match(texts)
                report(share)
    return result


def _read(
    trace: Trace, rows: Int32, needle: str
) -> Iterator[tuple[float, NDArray[np.intp], Sequence[Mapping[str, Any]]]]:
    """(share that is done, places among the rows, their arguments)."""
    walk = getattr(trace._full_args, "walk", None)
    if walk is not None:
        yield from walk(rows, _as_in_files(needle))
        return
    places = np.arange(len(rows), dtype=np.intp)
    for index, part in enumerate(np.array_split(places, _PARTS if len(rows) > _AT_ONCE else 1)):
        if len(part):
            yield index / _PARTS, part, trace.args_of(rows[part])


def _as_in_files(needle: str) -> bytes:
    """The needle where JSON writes it as it is, else nothing."""
    plain = needle.isascii() and needle.isprintable() and not set(needle) & set('"\\/:')
    return needle.lower().encode() if plain else b""


def _details_with(
    trace: Trace,
    detail: NDArray[np.int32],
    say: Callable[[Mapping[str, Any]], str],
    match: Match,
    report: Report,
) -> Bool:
    """Which sets of arguments match, by their number; one more that never does."""
    from whichlayer.analysis.reader.details import decode_detail

    wanted = np.unique(detail[detail >= 0])
    found = np.zeros(int(wanted[-1]) + 2 if len(wanted) else 1, np.bool_)
    for first in range(0, len(wanted), _AT_ONCE):
        report(first / len(wanted))
        part = wanted[first : first + _AT_ONCE]
        # Not by Trace.detail_by_id, which would keep all that was decoded.
        texts = [say(decode_detail(trace._details[one])) for one in part.tolist()]
        found[part] = match(texts)
    return found


def _shape_text(detail: Mapping[str, Any]) -> str:
    parts = [detail[key] for key in _SHAPES if key in detail]
    return " ".join(_BLANKS.sub("", _value_text(part)) for part in parts)


def _argument_text(arguments: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}: {_value_text(value)}" for name, value in arguments.items())


def _value_text(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)
