"""Reads the arguments of many events at once into columns and stored details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from whichlayer.analysis.reader.events import ABSENT, DECODE_ERRORS, Raw
from whichlayer.analysis.reader.intern import Intern
from whichlayer.analysis.reader.layouts import (
    MISSING,
    Layout,
    complete_layout,
    familiar_layout,
    learn_layout,
    loose_type,
)
from whichlayer.analysis.reader.recurring import Renumbered
from whichlayer.analysis.trace.columns import Int32, Int64
from whichlayer.analysis.trace.kinds import SliceKind

if TYPE_CHECKING:
    from whichlayer.analysis.reader.complete import Framed

_NONE = -1
_INT64 = range(-(1 << 63), 1 << 63)

#: Stands for the number of details that are not known yet.
_NEW = -2

#: Details of one event that are kept, in bytes; larger ones are read from the file alone.
_LARGEST = 1 << 20

#: So many events show most of the keys that their kind has.
_FEW = 64

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
        # The same by what a layout takes from the arguments, which is had sooner.
        self._known: dict[Layout, dict[bytes, int]] = {}
        self._framed: dict[SliceKind, Renumbered[bytes]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_numbers": self._numbers, "_known": {}, "_framed": {}}

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

    def read(self, kind: SliceKind, texts: Sequence[Raw]) -> Arguments:
        """The columns of the arguments of slices of one kind.

        Args:
            kind: one with ``DETAIL_KEYS``.
            texts: the text of each one's ``args``, ``ABSENT`` where there are none.
        """
        return self.columns(*_decoded(kind, texts))

    def columns(self, layout: Layout, found: Sequence[Any]) -> Arguments:
        """The columns of arguments that have been decoded.

        Args:
            layout: how.
            found: one object for each slice.
        """
        none = np.full(len(found), _NONE, np.int32)
        return Arguments(
            external_id=_external_ids(layout, found),
            correlation=_column(layout, found, "correlation"),
            device=_column(layout, found, "device"),
            stream=_column(layout, found, "stream"),
            detail_id=self._detail_ids(layout, found) if layout.details else none,
        )

    def framed(self, one: Framed) -> Arguments:
        """The columns of arguments of which most recurs."""
        known = self._framed.get(one.kind)
        if known is None or known.texts is not one.details:
            known = self._framed[one.kind] = Renumbered(one.details, self._of_details)
        none = np.full(len(one.at), _NONE, np.int64)
        return Arguments(
            external_id=one.external_id,
            correlation=one.correlation,
            device=none,
            stream=none,
            detail_id=known.of(one.number)[0],
        )

    def _of_details(self, details: list[bytes]) -> list[list[int]]:
        return [[self._numbers[one] - 1 for one in details]]

    def _detail_ids(self, layout: Layout, found: Sequence[Any]) -> Int32:
        known = self._known.setdefault(layout, {})
        keys = list(map(_ENCODE, map(layout.values, found)))
        ids = np.fromiter(map(known.get, keys, repeat(_NEW)), np.int32, len(keys))
        for row in np.flatnonzero(ids == _NEW).tolist():
            key = keys[row]
            if len(key) > _LARGEST:
                ids[row] = _NONE
                continue
            if key not in known:
                known[key] = self._numbers[_ENCODE(layout.detail(found[row]))] - 1
            ids[row] = known[key]
        return ids


def detail_of(kind: SliceKind, text: Raw) -> bytes:
    """The details in arguments, as they are stored."""
    layout, found = _decoded(kind, [text])
    return _ENCODE(layout.detail(found[0]))


def _decoded(kind: SliceKind, texts: Sequence[Raw]) -> tuple[Layout, list[Any]]:
    """One object for each text; the first try takes no absent one, which is no JSON."""
    found = _decoded_together(kind, texts)
    if found is None:
        present = [b"{}" if text is ABSENT else text for text in texts]
        found = _decoded_together(kind, present)
    return found or (complete_layout(kind), [_read_loosely(kind, text) for text in texts])


def _decoded_together(
    kind: SliceKind, texts: Sequence[Raw | bytes]
) -> tuple[Layout, list[Any]] | None:
    """The same if all are ordinary; the layout learns from a few before it does from all."""
    text = _joined(texts)
    layout = familiar_layout(kind)
    try:
        for lesson in (_FEW, len(texts)):
            try:
                return layout, layout.decode(text)
            except msgspec.ValidationError:
                layout = learn_layout(kind, _joined(texts[:lesson]))
        return layout, layout.decode(text)
    except DECODE_ERRORS:
        return None


def _joined(texts: Sequence[Raw | bytes]) -> bytes:
    return b"[%b]" % b",".join(texts)


def _read_loosely(kind: SliceKind, text: Raw) -> Any:
    try:
        found = msgspec.json.decode(text, type=loose_type(kind))
    except DECODE_ERRORS:
        return loose_type(kind)()
    for name in complete_layout(kind).numbers:
        value = getattr(found, name)
        if value != MISSING:
            number = as_int64(value)
            setattr(found, name, MISSING if number == _NONE else number)
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


def _external_ids(layout: Layout, found: Sequence[Any]) -> Int64:
    if "old_external_id" not in layout.numbers:
        return _column(layout, found, "external_id")
    if "external_id" not in layout.numbers:
        return _column(layout, found, "old_external_id")
    return _as_column(
        [one.old_external_id if one.external_id == MISSING else one.external_id for one in found]
    )


def _column(layout: Layout, found: Sequence[Any], name: str) -> Int64:
    if name not in layout.numbers:
        return np.full(len(found), _NONE, np.int64)
    return _as_column(list(map(attrgetter(name), found)))


def _as_column(values: list[Any]) -> Int64:
    try:
        column = np.fromiter(values, np.int64, len(values))
    except OverflowError:
        column = np.array([as_int64(value) for value in values], np.int64)
    column[column == MISSING] = _NONE
    return column
