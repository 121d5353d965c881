"""What the screen asks of one analysed recording again and again, worked out when first asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whichlayer.analysis.launches.calls import LaunchCalls, launch_calls
from whichlayer.analysis.launches.depth import QueueDepth, queue_depth
from whichlayer.analysis.results import Analysis
from whichlayer.tui.chain import Chain, Launched, chain_of

#: Chains that are remembered: every key asks for the same one several times.
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Queued:
    """How one launch found the queue of its device.

    Attributes:
        before: launch calls of the device that were unfinished when it was made.
        delay_ns: from the start of the call to the start of its first work; negative where the
            clocks of host and device disagree.
        unlinked: activities of the device without a recorded call, which are not counted.
    """

    before: int
    delay_ns: int
    unlinked: int


class Links:
    """Chains and queues of an analysed recording."""

    def __init__(self, analysis: Analysis) -> None:
        """Take the analysis; nothing is computed yet."""
        self._analysis = analysis
        self._queues: dict[int, tuple[LaunchCalls, QueueDepth]] = {}
        self._chains: dict[tuple[int, int], Chain] = {}

    @cached_property
    def launched(self) -> Launched:
        """GPU work by launch."""
        return Launched(self._analysis.trace)

    def chain(self, row: int, foot: int = -1) -> Chain:
        """The chain through a slice, down to a given GPU work where it leads there."""
        found = self._chains.get((row, foot))
        if found is None:
            if len(self._chains) >= _REMEMBERED:
                self._chains.clear()
            roots = self._analysis.options.source_roots
            found = chain_of(self._analysis.trace, self.launched, row, foot, roots)
            self._chains[row, foot] = found
        return found

    def queued(self, activity: int) -> Queued | None:
        """How the launch of an activity found the queue; None where it is not recorded.

        Args:
            activity: index into ``Analysis.activities``.
        """
        analysis = self._analysis
        launch = int(analysis.trace.launch[int(analysis.activities.row[activity])])
        if launch < 0:
            return None
        calls, depth = self._queue(int(analysis.activities.device[activity]))
        places = np.flatnonzero(calls.row == launch)
        if not len(places):
            return None
        place = int(places[0])
        before = int(depth.before(calls.queued_ns[place : place + 1])[0])
        return Queued(before, int(calls.delay_ns[place]), calls.unlinked)

    def _queue(self, device: int) -> tuple[LaunchCalls, QueueDepth]:
        found = self._queues.get(device)
        if found is None:
            calls = launch_calls(self._analysis.trace, self._analysis.activities, device)
            found = self._queues[device] = (calls, queue_depth(calls))
        return found
