"""Why work did not start at once when it had been launched into an idle device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities, roles_of
from whichlayer.analysis.among import among
from whichlayer.analysis.gaps.blocking import causes_of_copies
from whichlayer.analysis.gaps.calibrate import Calibration
from whichlayer.analysis.gaps.catalogue import cause_code
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.first_calls import is_first_call
from whichlayer.analysis.gaps.held import HELD_NS
from whichlayer.analysis.gaps.host import Marks
from whichlayer.analysis.gaps.part import Parts
from whichlayer.analysis.gaps.stream_waits import StreamWaits
from whichlayer.analysis.states import Role
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Bool = NDArray[np.bool_]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]

#: A queued kernel may start this much later than usual because of an event's own cost.
EVENT_NS = 20_000
#: A launch call shorter than this has loaded no code (a module takes 0.1 ms and more).
LOADING_NS = 100_000


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Idle from a launch, or from when the device became idle, until the work starts.

    Attributes:
        piece: int64 (n,), whose parts are asked for.
        idle: int64 (n,), when the device had become idle.
        start, end: int64 (n,).
        following: int64 (n,), the activity that starts then.
        launch: int64 (n,), trace row of its launch.
        usual: int64 (n,), what such a launch usually takes.
    """

    piece: Int64
    idle: Int64
    start: Int64
    end: Int64
    following: Int64
    launch: Int64
    usual: Int64

    def chosen(self, which: Bool) -> _Pieces:
        """Some of them."""
        return _Pieces(*(getattr(self, name)[which] for name in self.__slots__))

    def during(self, start: Int64, end: Int64) -> _Pieces:
        """Of each a stretch, those left out that are empty."""
        cut = _Pieces(self.piece, self.idle, start, end, self.following, self.launch, self.usual)
        return cut.chosen(end > start)

    def parts(self, cause: int | Int32, culprit: Int32 | None = None) -> Parts:
        """Each as one part; its launch is the culprit without another."""
        told = self.launch.astype(np.int32) if culprit is None else culprit
        return Parts.of(self.piece, self.start, self.end, cause, told)


class AfterLaunch:
    """Explains idle of one device after the launch of what comes next."""

    def __init__(
        self,
        trace: Trace,
        activities: Activities,
        calibration: Calibration,
        marks: Marks,
        drivers: Drivers,
    ) -> None:
        """Prepare one device."""
        self._trace = trace
        self._activities = activities
        self._calibration = calibration
        self._marks = marks
        self._drivers = drivers
        self._waits = StreamWaits(trace, activities)
        # Parts of a program: what happens inside a call there may have a cause of its own.
        self._passages = (cause_code("optimizer-loop"), cause_code("graph-break"))
        self._unknown = cause_code("unattributed")

    def parts(
        self, piece: Int64, idle: Int64, end: Int64, following: Int64, launch: Int64
    ) -> Parts:
        """The launch was made; why did the work not start at once?

        Args:
            piece: int64 (n,), whose parts they are.
            idle: int64 (n,), from when the device was idle.
            end: int64 (n,), until when.
            following: int64 (n,), the activity that ends each.
            launch: int64 (n,), the trace row of its launch, which began before it.
        """
        trace = self._trace
        usual = self._usual()[trace.name_id[launch]]
        start = np.maximum(trace.start_ns[launch], idle)
        all_ = _Pieces(piece, idle, start, end, following, launch, usual)
        to_device = [call for call, copy in self._marks.blocking.items() if copy.to_device]
        staged = among(launch, to_device)
        first = self._first_of_launch()[following]
        in_graph = ~staged & (first < self._activities.start_ns[following])
        rest = all_.chosen(~staged & ~in_graph)
        started = np.clip(trace.start_ns[rest.launch] + rest.usual, rest.start, rest.end)
        returned = np.maximum(np.minimum(trace.end_ns[rest.launch], rest.end), started)
        return Parts.together(
            [
                *self._staging(all_.chosen(staged)),
                all_.chosen(in_graph).parts(cause_code("in-graph-gap")),
                rest.during(rest.start, started).parts(cause_code("launch-latency")),
                self._slow_calls(rest.during(started, returned)),
                self._device_waits(rest.during(returned, rest.end)),
            ]
        )

    def _usual(self) -> Int64:
        """What a launch by a call of each name usually takes: int64 (names,)."""
        found = np.full(len(self._trace.strings), self._calibration.default_latency_ns, np.int64)
        for name, latency in self._calibration.latency_ns.items():
            found[name] = latency
        return found

    def _first_of_launch(self) -> Int64:
        """When the first activity of each one's launch started: int64 (activities,)."""
        launch = self._activities.launch
        order = np.argsort(launch, kind="stable")
        opens = np.ones(len(order), np.bool_)
        np.not_equal(launch[order[1:]], launch[order[:-1]], out=opens[1:])
        first = np.empty(len(order), np.int64)
        first[order] = self._activities.start_ns[order[opens]][np.cumsum(opens) - 1]
        return first

    def _staging(self, pieces: _Pieces) -> list[Parts]:
        """A blocking copy to the device starts when its first chunk is staged.

        Staging is no slower than the copy itself; what goes beyond is not explained by it.
        """
        activities, following = self._activities, pieces.following
        copy = activities.end_ns[following] - activities.start_ns[following]
        begun = np.maximum(pieces.end - copy - self._calibration.default_latency_ns, pieces.start)
        return [
            pieces.during(pieces.start, begun).parts(self._unknown),
            pieces.during(begun, pieces.end).parts(cause_code("h2d-pageable")),
        ]

    def _slow_calls(self, pieces: _Pieces) -> Parts:
        """The launch call itself took unusually long, with nothing queued before it.

        Only a kernel has code to load, and loading takes far longer than a slow call.
        """
        trace = self._trace
        slow = self._slow_cause(pieces)
        found = self._drivers.stretches(
            trace.lane_id[pieces.launch].astype(np.int64), pieces.start, pieces.end
        )
        loading = slow[found.which] == cause_code("module-load")
        named = (found.state >= 0) & ~(loading & among(found.state, self._passages))
        return Parts.of(
            pieces.piece[found.which],
            found.start_ns,
            found.end_ns,
            np.where(named, found.state, slow[found.which]),
            np.where(named, found.row, pieces.launch[found.which]),
        )

    def _slow_cause(self, pieces: _Pieces) -> Int32:
        """What a slow call is where its thread shows no better cause: int32 (pieces,)."""
        trace = self._trace
        lasts = pieces.end - pieces.start
        names, which = np.unique(trace.name_id[pieces.launch], return_inverse=True)
        graphs = np.array(["Graph" in trace.strings[name] for name in names.tolist()], np.bool_)
        graph = graphs[which]
        row = self._activities.row[pieces.following]
        loads = (trace.kind[row] == SliceKind.KERNEL) & ~graph
        long = lasts >= np.maximum(LOADING_NS, 5 * pieces.usual)
        loading = cause_code("module-load")
        slow = np.where(loads & long, loading, cause_code("launch-bound")).astype(np.int32)
        for i in np.flatnonzero(~loads & ~graph & (lasts >= HELD_NS)).tolist():
            slow[i] = loading if is_first_call(trace, int(pieces.launch[i])) else self._unknown
        return slow

    def _device_waits(self, pieces: _Pieces) -> Parts:
        """The call had returned and the usual time was over: the device made the work wait."""
        limit = np.maximum(EVENT_NS, 2 * pieces.usual)
        short = pieces.end - pieces.start <= limit
        idle = np.where(short, pieces.idle, -1)
        other = self._waits.waited_for(pieces.following, idle, limit)
        told = short | (other >= 0)
        cause = np.full(len(told), self._unknown, np.int32)
        cause[told] = self._cause_of_wait(other[told])
        return pieces.parts(cause, np.where(other >= 0, other, pieces.launch).astype(np.int32))

    def _cause_of_wait(self, row: Int32) -> Int32:
        """The cause of waits for other work of a device: that work's own; -1 for unknown work."""
        trace = self._trace
        cause = np.full(len(row), cause_code("stream-wait"), np.int32)
        known = np.flatnonzero(row >= 0)
        role = roles_of(trace, row[known])
        comm, copy = known[role == Role.COMM], known[role == Role.COPY]
        spins = among(row[comm], list(self._marks.receives))
        bubble, exposed = cause_code("pipeline-bubble"), cause_code("exposed-comm")
        cause[comm] = np.where(spins, bubble, exposed)
        blocking = self._marks.blocking
        cause[copy] = causes_of_copies(trace, blocking, row[copy], trace.launch[row[copy]])
        return cause
