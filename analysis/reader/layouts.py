"""Decoders of arguments, each made for the keys that are in use.

A decoder spends time on every key that might come. Some forty are known of an operator and a
file uses five of them, so the decoder of a kind knows the keys seen so far and refuses any
other; then it is made anew. What is learned so holds for all files that a process reads: it
decides how fast arguments are read, never what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Literal

import msgspec

from whichlayer.analysis.reader.details import DETAIL_KEYS
from whichlayer.analysis.reader.events import ABSENT, DECODE_ERRORS, Raw
from whichlayer.analysis.trace.kinds import SliceKind

#: Stands for a number that is not recorded; no file holds it.
MISSING: Final = -(1 << 63)

#: Numbers that differ from event to event: columns of their own, and never part of the details.
JOINS: Final = {
    "External id": "external_id",
    "external id": "old_external_id",
    "correlation": "correlation",
}

#: Numbers that are columns and details, of kinds on a GPU.
_PLACES = {"device": "device", "stream": "stream"}

#: More keys than recorders use: a kind with so many is read by the decoder of all its events.
_MOST_KEYS = 64

_KEYS = msgspec.json.Decoder(list[dict[str, Raw]])


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """How the arguments of one kind are decoded.

    Attributes:
        type: of the objects made of them: numbers, ``MISSING`` where there are none, and text,
            ``ABSENT`` where there is none.
        decode: makes a list of such objects of the text of a list.
        decode_apart: the same of a list in which zeros stand between them.
        numbers: attributes that are numbers.
        details: attributes that are details, and their keys.
        values: takes the details from an object.
    """

    type: type[Any]
    decode: Callable[[bytes], list[Any]]
    decode_apart: Callable[[bytes], list[Any]]
    numbers: Collection[str]
    details: Mapping[str, str]
    values: Callable[[Any], object]

    def detail(self, arguments: Any) -> dict[str, Any]:
        """The details of one object, by key."""
        values = ((key, getattr(arguments, name)) for name, key in self.details.items())
        return {key: value for key, value in values if value is not ABSENT and value != MISSING}


@dataclass(slots=True)
class _Learned:
    """The keys of a kind seen so far, in the order of the text, and their layout."""

    keys: dict[str, None]
    layout: Layout


_learned: dict[SliceKind, _Learned] = {}


def familiar_layout(kind: SliceKind) -> Layout:
    """The layout of all keys seen so far; its decoder refuses others."""
    if kind not in _learned:
        _learned[kind] = _Learned({}, _layout(kind, (), int, closed=True))
    return _learned[kind].layout


def learn_layout(kind: SliceKind, text: bytes) -> Layout:
    """The familiar layout once the keys in some text, a list of arguments, have been added.

    Raises:
        ValueError, RecursionError: the text is not JSON, nested too deeply, or no such list.
    """
    known = _learned.get(kind, _Learned({}, complete_layout(kind)))
    keys = dict.fromkeys(chain(known.keys, *_KEYS.decode(text)))
    if len(keys) == len(known.keys):
        return known.layout
    layout = complete_layout(kind)
    if len(keys) <= _MOST_KEYS:
        try:
            layout = _layout(kind, keys, int, closed=True)
        except DECODE_ERRORS:
            pass  # a key with a quote or the like, which no decoder can be made for
    _learned[kind] = _Learned(keys, layout)
    return layout


@cache
def complete_layout(kind: SliceKind) -> Layout:
    """The layout of every key that is read; others may be there."""
    return _layout(kind, (*JOINS, *DETAIL_KEYS[kind]), int)


@cache
def loose_type(kind: SliceKind) -> type[Any]:
    """As the type of the complete layout, with numbers of any type."""
    return _layout(kind, (*JOINS, *DETAIL_KEYS[kind]), Any).type


def _number_names(kind: SliceKind) -> dict[str, str]:
    """The attributes that are numbers, by key."""
    return JOINS | (_PLACES if "device" in DETAIL_KEYS[kind] else {})


def _layout(kind: SliceKind, keys: Collection[str], number: Any, *, closed: bool = False) -> Layout:
    wanted = DETAIL_KEYS[kind]
    numbers = _number_names(kind)
    names: dict[str, str] = {}
    fields: list[tuple[str, Any, Any]] = []
    for key in keys:
        if key in numbers:
            names[key] = numbers[key]
            fields.append((names[key], number, MISSING))
        elif key in wanted:
            names[key] = f"text{wanted.index(key)}"
            fields.append((names[key], Raw, ABSENT))
        else:
            names[key] = f"other{len(fields)}"
            fields.append((names[key], Any, None))
    arguments = msgspec.defstruct(
        f"{kind.name.title()}Arguments",
        fields,
        rename={name: key for key, name in names.items()},
        forbid_unknown_fields=closed,
        gc=False,
    )
    details = {names[key]: key for key in wanted if key in names}
    return Layout(
        type=arguments,
        decode=msgspec.json.Decoder(list[arguments]).decode,  # type: ignore[valid-type]
        decode_apart=msgspec.json.Decoder(list[arguments | Literal[0]]).decode,  # type: ignore[valid-type]
        numbers=[name for key, name in names.items() if key in numbers],
        details=details,
        values=attrgetter(*details) if details else id,
    )
