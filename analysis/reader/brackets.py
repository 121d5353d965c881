"""Brackets between events: entries of their own that are gone, or strays beside an event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_WHITE_SPACE: Final = b" \t\r\n"
_COMMA: Final = ord(",")


def bracket_entries(
    text: bytes, at: int, end: int, alone: bool
) -> Iterator[tuple[int, bytes, bool]]:
    """Each run of brackets between commas: where it stands, and whether it is all of an entry.

    What was an event and is brackets alone is lost; brackets that no comma parts from an event
    leave that one whole.

    Args:
        text: what they stand in, which begins between two entries.
        at: where the first bracket stands.
        end: behind the last bracket, comma or white space.
        alone: no event follows without a comma.
    """
    before = at - 1
    while before >= 0 and text[before] in _WHITE_SPACE:
        before -= 1
    begins = before < 0 or text[before] == _COMMA
    parts = text[at:end].split(b",")
    for number, part in enumerate(parts):
        entry = part.strip(_WHITE_SPACE)
        if entry:
            parted = begins if number == 0 else True
            closed = alone if number == len(parts) - 1 else True
            yield at, entry, parted and closed
        at += len(part) + 1
