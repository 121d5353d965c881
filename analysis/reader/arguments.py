"""Reads the arguments of many events at once into columns and stored details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from whichlayer.analysis.reader.details import DETAIL_KEYS, detail_type
from whichlayer.analysis.reader.events import ABSENT, DECODE_ERRORS, Raw
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.trace.columns import Int32, Int64
from whichlayer.analysis.trace.kinds import SliceKind

_NONE = -1
_INT64 = range(-(1 << 63), 1 << 63)


class _Numbers(
    msgspec.Struct,
    gc=False,
    rename={"external_id": "External id", "old_external_id": "external id"},
):
    external_id: int = _NONE
    old_external_id: int = _NONE
    correlation: int = _NONE
    device: int = _NONE
    stream: int = _NONE


class _LooseNumbers(
    msgspec.Struct,
    gc=False,
    rename={"external_id": "External id", "old_external_id": "external id"},
):
    external_id: Any = _NONE
    old_external_id: Any = _NONE
    correlation: Any = _NONE
    device: Any = _NONE
    stream: Any = _NONE


_NUMBERS = msgspec.json.Decoder(list[_Numbers])
_LOOSE_NUMBERS = msgspec.json.Decoder(_LooseNumbers)
_ENCODE = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Arguments:
    """Columns read from the arguments of n events; -1 where nothing is recorded."""

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
        self._types = {kind: detail_type(kind) for kind in DETAIL_KEYS}
        self._decoders = {
            kind: msgspec.json.Decoder(list[self._types[kind]])  # type: ignore[name-defined]
            for kind in DETAIL_KEYS
        }

    @property
    def details(self) -> list[bytes]:
        """The distinct sets of details, by number."""
        return list(self._numbers)[1:]

    def read(self, kind: SliceKind, texts: Sequence[Raw]) -> Arguments:
        """The columns of the arguments of slices of one kind.

        Args:
            texts: the text of each one's ``args``, ``ABSENT`` where there are none.
        """
        joined = b"[%b]" % b",".join(b"{}" if text is ABSENT else text for text in texts)
        try:
            numbers: Sequence[_Numbers | _LooseNumbers] = _NUMBERS.decode(joined)
        except DECODE_ERRORS:
            numbers = [_loose_numbers(text) for text in texts]
        return Arguments(
            external_id=_column(
                [
                    one.old_external_id if one.external_id == _NONE else one.external_id
                    for one in numbers
                ]
            ),
            correlation=_column([one.correlation for one in numbers]),
            device=_column([one.device for one in numbers]),
            stream=_column([one.stream for one in numbers]),
            detail_id=self._details(kind, joined, texts),
        )

    def _details(self, kind: SliceKind, joined: bytes, texts: Sequence[Raw]) -> Int32:
        decoder = self._decoders[kind]
        try:
            found = decoder.decode(joined)
        except DECODE_ERRORS:
            found = [self._one(kind, text) for text in texts]
        numbers = self._numbers
        return np.array([numbers[_ENCODE(one)] for one in found], np.int32) - np.int32(1)

    def _one(self, kind: SliceKind, text: Raw) -> Any:
        try:
            return msgspec.json.decode(text, type=self._types[kind])
        except DECODE_ERRORS:
            return self._types[kind]()


def _loose_numbers(text: Raw) -> _LooseNumbers:
    try:
        return _LOOSE_NUMBERS.decode(text)
    except DECODE_ERRORS:
        return _LooseNumbers()


def _column(values: list[Any]) -> Int64:
    try:
        return np.array(values, np.int64)
    except (TypeError, ValueError, OverflowError):
        return np.array([as_int64(value) for value in values], np.int64)


def as_int64(value: object) -> int:
    """A JSON value as a number, -1 if it is none or does not fit."""
    if isinstance(value, str):
        digits = value.strip().removeprefix("-")
        number = int(value) if digits.isascii() and digits.isdigit() and len(digits) < 20 else _NONE
    elif isinstance(value, bool) or not isinstance(value, int | float):
        number = _NONE
    else:
        number = int(value) if isinstance(value, int) or value.is_integer() else _NONE
    return number if number in _INT64 else _NONE
