"""The keys of a trace beside its events: what is kept of them, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from whichlayer.analysis.reader.events import DECODE_ERRORS
from whichlayer.analysis.reader.repair import decode_repaired

#: Keys that are kept; ordinary headers have a dozen.
_MOST_KEYS: Final = 10_000

#: Memory for decoded values, all together, by the estimate of :func:`_weight`.
_MOST_MEMORY: Final = 32 << 20

#: Longest text that repairs are tried on, and longest number.
_LARGEST_REPAIR: Final = 1 << 20
_LONGEST_NUMBER: Final = 1 << 12

#: Deepest value that is decoded; Python's decoders stop at about a thousand.
_DEEPEST: Final = 500

_LONGEST_NAME: Final = 60


@dataclass(slots=True)
class Tally:
    """How often something happened, and where and to which key first."""

    count: int = 0
    offset: int = -1
    name: str = ""

    def add(self, offset: int, name: str, count: int = 1) -> None:
        """Counts one more."""
        if not self.count:
            self.offset, self.name = offset, name[:_LONGEST_NAME]
        self.count += count


class Header:
    """Collects keys and values.

    Attributes:
        values: the last value of each key.
        left_out: values beyond what is kept, in number or in size.
        unreadable: values that are not JSON, whatever one repairs; they are None.
        repaired: spots in values that were damaged.
        repeated: keys that came again with another value.
    """

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.left_out = Tally()
        self.unreadable = Tally()
        self.repaired = Tally()
        self.repeated = Tally()
        self._taken = 0
        self._memory = 0

    @property
    def full(self) -> bool:
        """No further key is kept."""
        return self._taken >= _MOST_KEYS

    def add(self, name: str, text: bytes, depth: int, offset: int) -> None:
        """Takes a key.

        Args:
            name: the key, decoded.
            text: its value.
            depth: how deeply the value is nested.
            offset: where the value begins in the text.
        """
        weight = _weight(text) + len(name)
        plain = not text.startswith((b'"', b"{", b"["))
        if (
            self.full
            or self._memory + weight > _MOST_MEMORY
            or depth > _DEEPEST
            or (plain and len(text) > _LONGEST_NUMBER)
        ):
            self.left_out.add(offset, name)
            return
        self._taken += 1
        self._memory += weight
        value = self._decoded(name, text, offset)
        if name in self.values and self.values[name] != value:
            self.repeated.add(offset, name)
        self.values[name] = value

    def without_events(self) -> Header:
        """The same keys, but for lists that look like events, under whatever name."""
        rest = Header()
        for name, value in self.values.items():
            first = value[0] if isinstance(value, list) and value else None
            if not (isinstance(first, dict) and "ph" in first):
                rest.values[name] = value
        return rest

    def _decoded(self, name: str, text: bytes, offset: int) -> Any:
        if len(text) <= _LARGEST_REPAIR:
            found = decode_repaired(text)
            if found is None:
                self.unreadable.add(offset, name)
                return None
            if found.spots:
                self.repaired.add(offset, name, found.spots)
            return found.value
        try:
            return msgspec.json.decode(text)
        except DECODE_ERRORS:
            self.unreadable.add(offset, name)
            return None


def _weight(text: bytes) -> int:
    """About how much memory a value takes once it is decoded, from above."""
    return (
        len(text)
        + 240 * text.count(b"{")
        + 64 * text.count(b"[")
        + 32 * text.count(b'"')
        + 40 * text.count(b",")
    )
