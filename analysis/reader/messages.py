"""Objects sent through pipes between this program's own processes.

A message is a pickle whose large parts, such as columns, follow as they are: they are neither
copied together when it is sent nor apart when it is received.
"""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any, Final

_HEAD: Final = struct.Struct("<QQ")


def send(stream: IO[bytes], value: object) -> None:
    """Writes a message.

    Raises:
        OSError: nobody reads any more.
    """
    buffers: list[pickle.PickleBuffer] = []
    text = pickle.dumps(value, 5, buffer_callback=buffers.append)
    parts = [buffer.raw() for buffer in buffers]
    sizes = struct.pack(f"<{len(parts)}Q", *map(len, parts))
    stream.write(b"".join((_HEAD.pack(len(text), len(parts)), sizes, text)))
    for part in parts:
        stream.write(part)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message, which must be from a process that is trusted.

    Raises:
        EOFError: the other side has ended.
    """
    size, count = _HEAD.unpack(_exactly(stream, _HEAD.size))
    sizes = struct.unpack(f"<{count}Q", _exactly(stream, 8 * count))
    text = _exactly(stream, size)
    return pickle.loads(text, buffers=[_exactly(stream, one) for one in sizes])


def _exactly(stream: IO[bytes], size: int) -> bytearray:
    data = bytearray(size)
    if stream.readinto(data) != size:  # type: ignore[attr-defined]
        raise EOFError("the other side has ended")
    return data
