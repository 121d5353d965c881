"""What the numbers of one collector are in another."""

from __future__ import annotations

from dataclasses import dataclass

from whichlayer.analysis.trace.columns import Int32


@dataclass(frozen=True, slots=True)
class Numbering:
    """Tables that turn the numbers of text that was read apart into those of the whole.

    Attributes:
        strings, groups, lanes: the number here by the number there.
        events: how many events precede those of that text.
    """

    strings: Int32
    groups: Int32
    lanes: Int32
    events: int
