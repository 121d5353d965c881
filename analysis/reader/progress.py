"""How far a file has been read, and what it holds so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from whichlayer.analysis.trace.columns import Trace


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a file has been read.

    Attributes:
        bytes_read: of the file on disk.
        bytes_total: likewise; 0 where it cannot be told.
        events: how many were read.
        snapshot: makes a trace of everything read so far, to be called within the report and
            by whoever is willing to wait for it; reading goes on as if it had not been called.
            None where the format can be read as a whole only.
    """

    bytes_read: int
    bytes_total: int
    events: int
    snapshot: Callable[[], Trace] | None = None


Report = Callable[[Progress], None]
