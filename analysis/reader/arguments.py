"""Reads the arguments of many events at once into columns and stored details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np

from whichlayer.analysis.reader.details import DETAIL_KEYS
from whichlayer.analysis.reader.events import ABSENT, DECODE_ERRORS, Raw
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.trace.columns import Int32, Int64
from whichlayer.analysis.trace.kinds import SliceKind

_NONE = -1
_INT64 = range(-(1 << 63), 1 << 63)

#: Stands for a number that is not recorded; no file holds it.
_MISSING = -(1 << 63)

#: Numbers that differ from event to event: columns of their own, and never part of the details.
_JOINS = {
    "external_id": "External id",
    "old_external_id": "external id",
    "correlation": "correlation",
}

#: Numbers that are columns and details.
_PLACES = ("device", "stream")

_ENCODE = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Arguments:
    """Columns read from the arguments of n events; -1 where nothing is recorded.

    ``device`` and ``stream`` are read for kinds on a GPU only.
    """

    external_id: Int64
    correlation: Int64
    device: Int64
    stream: Int64
    detail_id: Int32


class ArgumentReader:
    """Reads arguments and stores each distinct set of details once."""

    def __init__(self) -> None:
        # Number 0 is "no details", which the column writes as -1.
        self._numbers: Intern[bytes] = Intern({b"{}": 0})

    @property
    def details(self) -> list[bytes]:
        """The distinct sets of details, by number."""
        return list(self._numbers)[1:]

    def take(self, other: ArgumentReader) -> Int32:
        """Adds the details of another reader, and tells which number each has here.

        Returns:
            The number here by the number there; the last element is -1, so that none stays none.
        """
        return np.append(self._numbers.take(other.details), 0).astype(np.int32) - 1

    def read(self, kind: SliceKind, texts: Sequence[Raw], bare: bool = False) -> Arguments:
        """The columns of the arguments of slices of one kind.

        Args:
            kind: one with ``DETAIL_KEYS``.
            texts: the text of each one's ``args``, ``ABSENT`` where there are none.
            bare: read no details.
        """
        found = self._decoded(kind, texts, bare)
        external = [one.external_id for one in found]
        if _MISSING in external:
            external = [
                one.old_external_id if one.external_id == _MISSING else one.external_id
                for one in found
            ]
        correlation = [one.correlation for one in found]
        placed = _PLACES[0] in DETAIL_KEYS[kind]
        device = _column([one.device for one in found]) if placed else _nothing(len(found))
        stream = _column([one.stream for one in found]) if placed else _nothing(len(found))
        if bare:
            none = np.full(len(found), _NONE, np.int32)
            return Arguments(_column(external), _column(correlation), device, stream, none)
        numbers = self._numbers
        for one in found:
            one.external_id = one.old_external_id = one.correlation = _MISSING
        detail_id = np.fromiter([numbers[_ENCODE(one)] for one in found], np.int32, len(found))
        detail_id -= 1
        return Arguments(_column(external), _column(correlation), device, stream, detail_id)

    def _decoded(self, kind: SliceKind, texts: Sequence[Raw], bare: bool) -> list[Any]:
        """One struct for each text; the first try takes no absent one, which is no JSON."""
        decode = _strict(kind, bare).decode
        try:
            return decode(b"[%b]" % b",".join(texts))
        except DECODE_ERRORS:
            present = [b"{}" if text is ABSENT else text for text in texts]
        try:
            return decode(b"[%b]" % b",".join(present))
        except DECODE_ERRORS:
            return [self._read_loosely(kind, text) for text in texts]

    def _read_loosely(self, kind: SliceKind, text: Raw) -> Any:
        try:
            found = msgspec.json.decode(text, type=_loose(kind))
        except DECODE_ERRORS:
            return _loose(kind)()
        for name in (*_JOINS, *_PLACES):
            value = getattr(found, name, _MISSING)
            if value != _MISSING:
                number = as_int64(value)
                setattr(found, name, _MISSING if number == _NONE else number)
        return found


def as_int64(value: object) -> int:
    """A JSON value as a number, -1 if it is none or does not fit."""
    number = _NONE
    if isinstance(value, str):
        digits = value.strip().removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) < 20:
            number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    return number if number in _INT64 else _NONE


@cache
def _strict(kind: SliceKind, bare: bool) -> msgspec.json.Decoder[list[Any]]:
    return msgspec.json.Decoder(list[_arguments_type(kind, int, bare)])  # type: ignore[misc]


@cache
def _loose(kind: SliceKind) -> type[Any]:
    return _arguments_type(kind, Any)


def _arguments_type(kind: SliceKind, number: Any, bare: bool = False) -> type[msgspec.Struct]:
    """A struct of the arguments of a kind; encoded without the joins it is their details.

    A ``bare`` one has no details beside.
    """
    places = [key for key in _PLACES if _PLACES[0] in DETAIL_KEYS[kind]]
    texts = [key for key in DETAIL_KEYS[kind] if key not in places and not bare]
    names = [f"text{index}" for index in range(len(texts))]
    return msgspec.defstruct(
        f"{kind.name.title()}Arguments",
        [
            *((name, number, _MISSING) for name in (*_JOINS, *places)),
            *((name, Raw, ABSENT) for name in names),
        ],
        rename=_JOINS | dict(zip(names, texts, strict=True)),
        omit_defaults=True,
        gc=False,
    )


def _nothing(count: int) -> Int64:
    return np.full(count, _NONE, np.int64)


def _column(values: list[Any]) -> Int64:
    try:
        column = np.array(values, np.int64)
    except OverflowError:
        column = np.array([as_int64(value) for value in values], np.int64)
    column[column == _MISSING] = _NONE
    return column
