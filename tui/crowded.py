"""Where the events of a recording are, when nearly all of its time is one empty stretch.

Recorders write an event at 0 whose own time they do not know, seconds or hours before all others:
with all of the recording in sight the rest of it would be one column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.report.units import count_text
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Int64 = NDArray[np.int64]

#: Share of the recording that has to be one empty stretch.
VOID_SHARE = 0.9
#: The stretch is looked for in so many parts of the recording.
_PARTS = 1000
#: So many slices are looked at first; only where they leave a void are all of them.
_SAMPLE = 20_000


@dataclass(frozen=True, slots=True)
class Crowd:
    """The side of an empty stretch on which more events are.

    Attributes:
        low_ns, high_ns: where it begins and ends.
        beyond: events on the other side.
        is_later: it lies behind the empty stretch.
    """

    low_ns: int
    high_ns: int
    beyond: int
    is_later: bool

    @property
    def told(self) -> str:
        """That there is more, where, and what shows it."""
        where = "earlier" if self.is_later else "later"
        return f"{count_text(self.beyond, 'more event')} far {where}: f shows everything"


def crowd_of(trace: Trace, low_ns: int, high_ns: int) -> Crowd | None:
    """Where the events of ``[low, high)`` are; None where no stretch is as good as all of it.

    Args:
        trace: the recording.
        low_ns: where what the screen can show begins.
        high_ns: where it ends.
    """
    if high_ns - low_ns < _PARTS or not len(trace):
        return None
    step = max(len(trace) // _SAMPLE, 1)
    if step > 1 and _void(trace.start_ns[::step], trace.end_ns[::step], low_ns, high_ns) is None:
        return None
    shown = ~trace.stray & (trace.kind != SliceKind.PROFILER)
    start, end = trace.start_ns[shown], trace.end_ns[shown]
    void = _void(start, end, low_ns, high_ns)
    if void is None:
        return None
    before, after = end <= void[1], start >= void[0]
    earlier, later = int(before.sum()), int(after.sum())
    if not earlier or not later:
        return None
    if later >= earlier:
        return Crowd(max(int(start[after].min()), low_ns), high_ns, earlier, is_later=True)
    return Crowd(low_ns, min(int(end[before].max()), high_ns), later, is_later=False)


def _void(start: Int64, end: Int64, low_ns: int, high_ns: int) -> tuple[int, int] | None:
    """The longest run of parts that no slice touches, where it is nearly all; its ends in ns."""
    width = -(-(high_ns - low_ns) // _PARTS)  # no product of times: it could leave 64 bits
    first = np.clip((start - low_ns) // width, 0, _PARTS - 1)
    last = np.clip((np.maximum(end, start) - low_ns) // width, 0, _PARTS - 1)
    change = np.bincount(first, minlength=_PARTS + 1) - np.bincount(last + 1, minlength=_PARTS + 1)
    empty = np.concatenate(([False], np.cumsum(change[:_PARTS]) == 0, [False]))
    edges = np.flatnonzero(np.diff(empty.astype(np.int8)))
    if not len(edges):
        return None
    opens, closes = edges[::2], edges[1::2]
    longest = int((closes - opens).argmax())
    if closes[longest] - opens[longest] < VOID_SHARE * _PARTS:
        return None
    return low_ns + int(opens[longest]) * width, low_ns + int(closes[longest]) * width
