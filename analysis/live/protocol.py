"""What a recorder and a screen say to each other: framed messages over a stream socket.

A message is ``WLv1``, the length of its head (uint32, big-endian), the length of its payload
(uint64), the head as JSON, and the payload: the trace of a window. Neither side trusts the other:
lengths are bounded, heads are checked, and what is wrong ends the connection with one reason.

============  ==========  =====================================================================
kind          from        fields
============  ==========  =====================================================================
``hello``     recorder    ``pid``, ``rank``, ``world_size``, ``program``, ``torch``, ``device``,
                          ``mode`` (``training``, ``inference`` or empty), ``since_ns``: when it
                          was armed (``time.time_ns``)
``state``     recorder    ``phase`` (a :class:`Phase`), ``step``, ``reason``, ``step_us`` of the
                          last steps, ``hook_ns`` per call, ``dropped`` windows
``window``    recorder    ``number``, ``first_step``, ``last_step``, ``profiled_ns``,
                          ``overhead_ns``, ``export_ns``, ``cost`` (a
                          :class:`~whichlayer.analysis.live.recording_key.RecordingCost`),
                          ``ended_ns`` (``time.time_ns``), ``own`` (the program recorded it
                          itself); the payload is the trace
``note``      recorder    ``text``: something to tell the user
``bye``       recorder    ``reason``
``look``      screen      first of all: a ``hello``, a ``state`` and a ``bye`` are wanted, no more
``join``      screen      first of all: messages are wanted from now on
``token``     screen      to a relay over TCP, before either: ``token``
``record``    screen      ``steps``: how many next steps to record now
``pause``     screen
``resume``    screen
``detach``    screen      the screen leaves; the program goes on
============  ==========  =====================================================================
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

MAGIC: Final = b"WLv1"
MOST_HEAD: Final = 64 * 1024
MOST_PAYLOAD: Final = 4 << 30
"""A window larger than this is not sent; a peer that announces more is cut off."""

_LENGTHS: Final = struct.Struct(">4sIQ")
_PIECE: Final = 1 << 20

FROM_RECORDER: Final = frozenset({"hello", "state", "window", "note", "bye"})
FROM_SCREEN: Final = frozenset({"look", "join", "token", "record", "pause", "resume", "detach"})


class Phase(StrEnum):
    """What a recorder is doing."""

    WAITING = "waiting"  # no step seen yet
    IDLE = "idle"  # between windows: only hooks
    WARMING_UP = "warming-up"  # the profiler is on, its steps are thrown away
    RECORDING = "recording"
    EXPORTING = "exporting"
    PAUSED = "paused"
    FOREIGN = "foreign"  # the program profiles itself; its own windows are used


class ProtocolError(Exception):
    """The other side sent something that is no message; the text is one line."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message.

    Attributes:
        kind: one of the kinds above.
        fields: its fields; absent ones are not known.
        payload: the trace of a window, else empty.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    payload: bytes | bytearray = b""

    def text(self, name: str) -> str:
        """A field as text; empty where it is none."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int | None:
        """A field as a whole number; None where it is none."""
        value = self.fields.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def encoded(message: Message) -> bytes:
    """A message up to its payload, as it is sent.

    Raises:
        ValueError: the head is too long or no JSON.
    """
    head = json.dumps({"kind": message.kind, **message.fields}, allow_nan=False).encode()
    if len(head) > MOST_HEAD or len(message.payload) > MOST_PAYLOAD:
        raise ValueError(f"a {message.kind} message of {len(head)} + {len(message.payload)} bytes")
    return _LENGTHS.pack(MAGIC, len(head), len(message.payload)) + head


def send(to: socket.socket, message: Message) -> None:
    """Send a message whole.

    Raises:
        OSError: the connection is gone, or its timeout is over.
        ValueError: the head is too long or no JSON.
    """
    to.sendall(encoded(message))
    if message.payload:
        to.sendall(message.payload)


def receive(
    source: socket.socket, allowed: frozenset[str], most_payload: int = MOST_PAYLOAD
) -> Message | None:
    """The next message with its payload, or None where the connection ended between two.

    Args:
        source: a blocking stream socket.
        allowed: kinds that this side takes.
        most_payload: bytes that it is ready to hold.

    Raises:
        ProtocolError: what came is no such message, or ends in the middle of one.
        OSError: the connection broke, or its timeout is over.
    """
    found = receive_head(source, allowed, most_payload)
    if found is None:
        return None
    message, length = found
    return Message(message.kind, message.fields, b"".join(payload_pieces(source, length)))


def receive_head(
    source: socket.socket, allowed: frozenset[str], most_payload: int = MOST_PAYLOAD
) -> tuple[Message, int] | None:
    """As :func:`receive`, but the payload, whose length is given, has still to be read.

    Raises:
        ProtocolError: what came is no such message, or ends in the middle of one.
        OSError: the connection broke, or its timeout is over.
    """
    start = _exactly(source, _LENGTHS.size, ends=True)
    if start is None:
        return None
    magic, head_length, payload_length = _LENGTHS.unpack(start)
    if magic != MAGIC:
        raise ProtocolError("not a message of whichlayer, or of another version of it")
    if head_length > MOST_HEAD or payload_length > most_payload:
        raise ProtocolError(f"a message of {head_length} + {payload_length} bytes is too large")
    fields = _fields(bytes(_exactly(source, head_length) or b""))
    kind = fields.pop("kind", None)
    if not isinstance(kind, str) or kind not in allowed:
        raise ProtocolError("a message of a kind that is not allowed here")
    if payload_length and kind != "window":
        raise ProtocolError(f"a {kind} message with a payload")
    return Message(kind, fields), payload_length


def payload_pieces(source: socket.socket, length: int) -> Iterator[bytes]:
    """The payload behind a head, piece by piece: memory does not depend on its length.

    Raises:
        ProtocolError: the connection ended before it was whole.
        OSError: the connection broke, or its timeout is over.
    """
    left = length
    while left:
        piece = source.recv(min(left, _PIECE))
        if not piece:
            raise ProtocolError(f"the connection ended after {length - left} of {length} bytes")
        left -= len(piece)
        yield piece


def _fields(head: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(head)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("a message whose head is no JSON") from error
    if not isinstance(fields, dict):
        raise ProtocolError("a message whose head is no object")
    return fields


def _exactly(source: socket.socket, length: int, *, ends: bool = False) -> bytearray | None:
    """So many bytes; None if the connection ends before the first and may end here.

    Memory grows with what has come, never with what was announced.
    """
    data = bytearray()
    while len(data) < length:
        piece = source.recv(min(length - len(data), _PIECE))
        if not piece:
            if ends and not data:
                return None
            raise ProtocolError(f"the connection ended after {len(data)} of {length} bytes")
        data += piece
    return data
