"""The flags of kernels as footnotes: one letter in the table, one line below it."""

from __future__ import annotations

from dataclasses import dataclass, field
from string import ascii_lowercase

_TEXTS = {
    "above-roof": "faster than its roof: part of what it counts is not moved or stays in the cache, "
    "or the roof is too low",
    "broadcast": "faster than memory: an input may be broadcast, strides are not recorded",
    "cache-resident": "faster than memory: its data fits the cache",
    "drift": "it becomes slower from the earlier to the later half of the steps",
    "eff-assumed": "what good products reach on this card is assumed, not measured",
    "impossible": "faster than the card can be: the estimate of its work is wrong",
    "lower-bound": "its bytes are the least that it moves: bandwidth and share of the roof may be "
    "higher",
    "overlapped": "runs beside other work; time that they share is counted once",
    "peak-unconfirmed": "the peak of this card is not confirmed",
    "upper-bound": "its bytes are the most that it moves: bandwidth and share of the roof may be "
    "lower",
    "winograd-or-fft": "it computes fewer products than are counted, so its rate may pass the roof",
}


@dataclass(slots=True)
class FlagNotes:
    """Gives each flag that a table uses a letter, in the order of use."""

    _mark: dict[str, str] = field(default_factory=dict)

    def mark(self, flag: str) -> str:
        """The letter of a flag."""
        return self._mark.setdefault(flag, ascii_lowercase[len(self._mark) % 26])

    def used(self) -> list[tuple[str, str]]:
        """Each letter with what its flag means."""
        return [(mark, f"{flag}: {_TEXTS[flag]}" if flag in _TEXTS else flag)
                for flag, mark in self._mark.items()]  # fmt: skip
