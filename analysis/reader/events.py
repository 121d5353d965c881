"""One event of a Chrome trace, and the decoders that turn text into lists of them.

The strict decoder knows the types that every ordinary producer writes and is the fast one;
:mod:`whichlayer.analysis.reader.vocabulary` makes it faster still for a whole file. The loose
decoder takes anything that is JSON and makes the same objects of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

Raw = msgspec.Raw

#: Stands for a key that an event does not have; no JSON value looks like it.
ABSENT = Raw(b"-")

Id = int | str


class Event(msgspec.Struct, gc=False):
    """The fields of an event that are read; times and arguments stay as text for now.

    They stand in the order in which recorders write them, in which they are found soonest.
    """

    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Id = ""
    tid: Id = ""
    ts: Raw = ABSENT
    dur: Raw = ABSENT
    args: Raw = ABSENT
    id: Id = ""
    id2: Raw = ABSENT
    scope: Id = ""


class _LooseEvent(msgspec.Struct, gc=False):
    ph: Any = ""
    name: Any = ""
    cat: Any = ""
    pid: Any = ""
    tid: Any = ""
    ts: Raw = ABSENT
    dur: Raw = ABSENT
    id: Any = ""
    id2: Raw = ABSENT
    scope: Any = ""
    args: Raw = ABSENT


_STRICT = msgspec.json.Decoder(list[Event])
_LOOSE = msgspec.json.Decoder(list[_LooseEvent | str | int | float | bool | list[Any] | None])
_RAW = msgspec.json.Decoder(list[Raw])

#: What decoding may raise on damaged text; errors of msgspec and of encodings are ValueErrors.
DECODE_ERRORS = (ValueError, RecursionError)


def decode_strict(text: bytes) -> list[Event]:
    """Events of ``[...]`` text of the ordinary types.

    Raises:
        msgspec.ValidationError: a field has an odd type; the text may still be JSON.
        ValueError, RecursionError: the text is not JSON, or nested too deeply.
    """
    return _STRICT.decode(text)


def decode_loose(text: bytes) -> list[Event]:
    """Events of ``[...]`` text of any types; whatever is not an object is an empty event.

    Raises:
        ValueError, RecursionError: the text is not JSON, or nested too deeply, or holds a list
            of events, which takes a stray bracket.
    """
    return [_plain(event) for event in _LOOSE.decode(text)]


def split_elements(text: bytes) -> list[bytes]:
    """The elements of ``[...]`` text, as they are.

    Raises:
        ValueError, RecursionError: the text is not JSON, or nested too deeply.
    """
    return [bytes(element) for element in _RAW.decode(text)]


def _plain(event: object) -> Event:
    if not isinstance(event, _LooseEvent):
        if isinstance(event, list) and any(isinstance(one, dict) and "ph" in one for one in event):
            raise ValueError("a list of events inside the list of events")
        return Event()
    return Event(
        ph=as_text(event.ph),
        name=as_text(event.name),
        cat=as_text(event.cat),
        pid=_as_id(event.pid),
        tid=_as_id(event.tid),
        ts=event.ts,
        dur=event.dur,
        id=_as_id(event.id),
        id2=event.id2,
        scope=_as_id(event.scope),
        args=event.args,
    )


def pick(events: Sequence[Event], rows: NDArray[np.int64]) -> Sequence[Event]:
    """The events in the given rows, which are in order and none twice."""
    if len(rows) == len(events):
        return events
    if len(rows) < 2:
        return [events[row] for row in rows.tolist()]
    chosen: tuple[Event, ...] = itemgetter(*rows.tolist())(events)
    return chosen


def as_text(value: object) -> str:
    """A JSON value as a string: strings as they are, nothing for null."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return msgspec.json.encode(value).decode()


def _as_id(value: object) -> Id:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return as_text(value)
