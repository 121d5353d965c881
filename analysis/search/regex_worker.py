"""A process of its own in which regular expressions run: some never end, and this one can.

Run as a script. It reads the texts once, then patterns; of each it answers which texts match.
It imports nothing of ours, so that it starts in a moment.
"""

from __future__ import annotations

import json
import re
import signal
import struct
import sys
from contextlib import suppress
from typing import IO

#: What comes before every message: its length.
HEAD = struct.Struct("<Q")

#: Separates the texts, none of which holds it.
SEPARATOR = "\0"

#: The most memory (bytes) beyond the texts that compiling a pattern may take.
_MEMORY = 1 << 30


def send(stream: IO[bytes], body: bytes) -> None:
    """Write a message."""
    stream.write(HEAD.pack(len(body)) + body)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read a message; None at the end."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    size = HEAD.unpack(head)[0]
    body = stream.read(size)
    return body if len(body) == size else None


def answer(texts: list[str], request: bytes) -> bytes:
    """One byte per text, 1 where it matches, after a plus; or a reason after a minus."""
    pattern, ignore_case = json.loads(request)
    try:
        found = re.compile(pattern, re.MULTILINE | (re.IGNORECASE if ignore_case else 0)).search
        return b"+" + bytes(found(text) is not None for text in texts)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        return f"-{error.msg}{where}".encode()
    except (OverflowError, RecursionError, MemoryError):
        return b"-it is too large"


def main() -> None:
    """Answer until nobody asks any more."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_s = float(sys.argv[1])
    body = receive(source)
    if body is None:
        return
    texts = body.decode("utf-8", "surrogatepass").split(SEPARATOR)
    _limit_memory()
    while (request := receive(source)) is not None:
        # Should nobody be left who could end this process, it ends by itself.
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, limit_s + 1)
        reply = answer(texts, request)
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        send(target, reply)


def _limit_memory() -> None:
    """Let a pattern that expands without end fail, not fill the machine."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()  # noqa: SIM115
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, hard))


if __name__ == "__main__":
    main()
