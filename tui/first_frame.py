"""What the first whole frame of a trace needs, prepared off the screen's thread."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.dealt_rows import shown_rows
from whichlayer.tui.document import Document, Extent, open_document
from whichlayer.tui.two_threads import in_two_threads

#: As many rows as a usual terminal shows at first. The others are prepared as they are drawn.
_PREPARED_ROWS: Final = 24

#: Fewer events are prepared before a second thread has begun.
_MANY_EVENTS: Final = 200_000


def prepared(trace: Trace, extent: Extent) -> Document:
    """A trace ready for the screen, with what the rows of a large one need for the first frame."""
    document = replace(open_document(trace), extent=extent)
    first = shown_rows(document.lanes, {}, _PREPARED_ROWS)[:_PREPARED_ROWS]
    lanes = document.lanes
    if trace.events >= _MANY_EVENTS:
        # A lane's rows come from one sorting: whoever asks for another one would sort again.
        in_two_threads(lambda lane: lane.sort_rows(), {lanes[shown.lane] for shown in first})
        in_two_threads(lambda shown: lanes[shown.lane].row(shown.depth), first)
    for lane in lanes:
        lane.used_rows(document.low_ns, document.high_ns)
    return document
