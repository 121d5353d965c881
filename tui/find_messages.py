"""What the search in the background tells the screen; imports nothing that it searches with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from whichlayer.analysis.search.hits import Hits


class Answered(Message):
    """What a query found, why it cannot be asked, or how far a long search is.

    Attributes:
        purpose: what was asked for, such as ``search``.
        text: the query.
        hits: what was found; None while it is being looked for, and where it cannot be.
        error: why it cannot be asked, in one line, or empty.
        share: of the work that is done.
        any_case: what was found ignores the capitals of the query: with them there is nothing.
    """

    def __init__(
        self,
        purpose: str,
        text: str,
        hits: Hits | None = None,
        error: str = "",
        share: float = 1.0,
        any_case: bool = False,
    ) -> None:
        """Take the answer."""
        super().__init__()
        self.purpose = purpose
        self.text = text
        self.hits = hits
        self.error = error
        self.share = share
        self.any_case = any_case
