"""Gaps as people count them: pieces that touch are one gap, and what nobody owns is none.

The keys that jump go from one of these to the next. A gap of an analysis is cut wherever its
cause changes, so that stepping through the pieces would mean dozens of stops in one pause.
"""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Gaps
from whichlayer.tui.heat import DeviceGaps

#: A gap that loses less than this share of the analysed window is stepped over in time order:
#: nobody looks for it, and there may be thousands.
LEAST_SHARE = 1 / 1000


class WholeGaps:
    """The whole gaps of one device that somebody owns, in order of time.

    Attributes:
        start_ns, end_ns: int64 (n,), from the first piece to the last, owned or not.
        owned_ns: int64 (n,), the time of the pieces that have an owner.
        piece: int64 (n,), place in the device's gaps of the longest owned piece.
        by_size: int64 (n,), places from the largest ``owned_ns`` to the smallest.
    """

    def __init__(self, gaps: Gaps, own: DeviceGaps, window_ns: int) -> None:
        """Join the pieces of one device.

        Args:
            gaps: the pieces of all devices.
            own: those of the device.
            window_ns: length of the analysed window.
        """
        length = own.end_ns - own.start_ns
        owned = np.where(gaps.layer[own.index] == Layer.NONE, 0, length)
        begins = np.ones(len(own), dtype=np.bool_)
        begins[1:] = own.start_ns[1:] > own.end_ns[:-1]
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(own)) - 1
        total = np.add.reduceat(owned, first) if len(first) else owned
        # Of equally long pieces the first: sorted by gap, then by length downwards.
        order = np.lexsort((-owned, np.cumsum(begins)))
        some = np.flatnonzero(total > 0)
        self.piece = order[first[some]]
        self.start_ns, self.end_ns = own.start_ns[first[some]], own.end_ns[last[some]]
        self.owned_ns = total[some]
        self.by_size = np.argsort(-self.owned_ns, kind="stable")
        self._large = np.flatnonzero(self.owned_ns >= window_ns * LEAST_SHARE)

    def __len__(self) -> int:
        return len(self.start_ns)

    def at(self, time_ns: int) -> int:
        """Place of the gap that covers an instant, or -1."""
        place = int(np.searchsorted(self.start_ns, time_ns, "right")) - 1
        return place if place >= 0 and self.end_ns[place] > time_ns else -1

    def after(self, time_ns: int) -> int:
        """Place of the next gap that begins after an instant, or -1.

        One of more than ``LEAST_SHARE`` of the window where any is left.
        """
        first = int(np.searchsorted(self.start_ns, time_ns, "right"))
        large = int(np.searchsorted(self._large, first))
        if large < len(self._large):
            return int(self._large[large])
        return first if first < len(self) else -1

    def before(self, time_ns: int) -> int:
        """Place of the last gap that ends by an instant, or -1; large ones first as well."""
        last = int(np.searchsorted(self.end_ns, time_ns, "right")) - 1
        large = int(np.searchsorted(self._large, last, "right")) - 1
        return int(self._large[large]) if large >= 0 else last
