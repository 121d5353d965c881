"""The view that is asked for on the command line; imports nothing that shows one."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The view that the command line asks for.

    Attributes:
        view: the span in sight, or None.
        at: the cursor, or None.
        select: the selected span, or None.
        lane: ``name`` or ``name/depth`` of the cursor's row, or None.
    """

    view: Span | None = None
    at: int | None = None
    select: Span | None = None
    lane: str | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self != Wanted()
