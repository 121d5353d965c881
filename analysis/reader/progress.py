"""How far a file has been read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file has been read; bytes are those on disk."""

    bytes_read: int
    bytes_total: int
    events: int


Report = Callable[[Progress], None]
