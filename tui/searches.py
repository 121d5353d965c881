"""What searches and filters ask for, and a search that is on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whichlayer.tui.widgets.prompt import Asked

if TYPE_CHECKING:
    from whichlayer.analysis.search.hits import Hits
    from whichlayer.tui.view import View

SEARCH = Asked(
    "search",
    "/",
    'words "exact" /regex/ (^r) -not · tab: list · kernel: op: note: python: call: lane: family: '
    "shape:8x64 arg: dur>100us",
    regex=True,
    lists=True,
)
FILTER = Asked(
    "filter",
    "show only ",
    "words /regex/ (^r) -not · dur>100us family:matmul lane:s7 kernel: op: · empty: all",
    regex=True,
)


@dataclass(slots=True)
class Search:
    """A search that is on.

    Attributes:
        text: the query.
        hits: what it found.
        at: the hit that was gone to last, or -1.
        view: what was looked at then; once it is another, ``at`` says nothing.
        any_case: with the capitals of the query nothing is found, without them this.
    """

    text: str
    hits: Hits
    at: int = -1
    view: View | None = None
    any_case: bool = False
