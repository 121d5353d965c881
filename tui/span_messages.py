"""What the analysis of a span tells the screen; imports nothing that it analyses with."""

from __future__ import annotations

from textual.message import Message


class SpanAnalysed(Message):
    """The analysis of a span is there, or cannot be made.

    Attributes:
        span: start and end.
        error: why not, in one line, or empty.
    """

    def __init__(self, span: tuple[int, int], error: str) -> None:
        """Take what became of it."""
        super().__init__()
        self.span = span
        self.error = error
