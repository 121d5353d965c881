"""A part of an idle piece that has one cause."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Nanoseconds ``[start_ns, end_ns)``, a cause code, and the trace row that explains it.

    ``culprit`` is -1 where no slice does.
    """

    start_ns: int
    end_ns: int
    cause: int
    culprit: int
