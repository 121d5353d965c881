"""Tells the bracket that ends the array of events from brackets that are damage."""

from __future__ import annotations

import re

from whichlayer.analysis.reader.patterns import STRING, WORD, container

_PHASE = re.compile(rb'"ph"\s*:')

_MEMBER = (
    rb"\s*+,\s*+" + STRING + rb"\s*+:\s*+(?:" + STRING + rb"|" + container(3) + rb"|" + WORD + rb")"
)
_NEXT_ARRAY = rb'\s*+,\s*+"traceEvents"\s*+:\s*+\['

#: The rest of a document, as far as one can tell, up to its end or to another array of events.
_REST = re.compile(
    rb"\](?:(?!" + _NEXT_ARRAY + rb")" + _MEMBER + rb")*+(?:\s*+\}\s*+\Z|" + _NEXT_ARRAY + rb")",
    re.DOTALL,
)


def closes_array(text: bytes, at: int) -> bool:
    """Whether the bracket at a position ends the array of events.

    A bracket may be a flipped comma, or be left over: no event follows the one that ends it,
    unless what follows reads as the rest of the document.
    """
    return not _PHASE.search(text, at) or _REST.match(text, at) is not None


def last_phase(text: bytes) -> int:
    """Where the last event's phase stands, -1 if there is none."""
    at = len(text)
    while (at := text.rfind(b'"ph"', 0, at)) >= 0:
        if _PHASE.match(text, at):
            return at
    return -1
