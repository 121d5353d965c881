"""What can go wrong with an input, as one line that a user can act on."""

from __future__ import annotations

from dataclasses import dataclass


class TraceError(Exception):
    """A trace that cannot be opened at all; the message is one line that names the file."""


@dataclass(frozen=True, slots=True)
class TraceWarning:
    """Something about a trace that its reader must know.

    Attributes:
        code: short stable id, such as ``truncated`` or ``Q4``.
        message: one line for people, without control characters.
        count: how many events are concerned.
        byte_offset: where in the decompressed text, or -1 where that says nothing.
    """

    code: str
    message: str
    count: int = 1
    byte_offset: int = -1
