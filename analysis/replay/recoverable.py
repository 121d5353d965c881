"""How much shorter the window would be without each problem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.gaps.composite import Drivers
from whichlayer.analysis.gaps.host import Doing, Marks
from whichlayer.analysis.replay.build import build_schedule
from whichlayer.analysis.replay.causes import without_cause, without_losses
from whichlayer.analysis.replay.engine import Replayed, replay
from whichlayer.analysis.replay.host_time import HostTime
from whichlayer.analysis.replay.next_wait import next_wait
from whichlayer.analysis.replay.removal import Removal, combined, nothing
from whichlayer.analysis.replay.schedule import CallKind, Int64, Schedule
from whichlayer.analysis.results import Gaps, Kernels, Options, Window
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.undecided import undecided

#: A replay of nothing that misses the window's end by more than this share of it is not
#: believed.
MAX_ERROR = 0.02
#: With more work than this whose launch is not in the file, most of the schedule is unknown.
MAX_UNLINKED = 0.10


class Replayer:
    """Replays one window of a recording without this or that.

    Attributes:
        reason: why nothing is replayed, or empty.
    """

    def __init__(
        self,
        trace: Trace,
        marks: Marks,
        drivers: Drivers,
        devices: Sequence[Activities],
        window: Window,
        bounds: Sequence[tuple[int, int]],
        options: Options,
    ) -> None:
        """Keep what is needed; the schedule is built when first asked for.

        Args:
            trace: the recording.
            marks: of this trace.
            drivers: what its threads did.
            devices: those of the analysis.
            window: what is analysed.
            bounds: per device the part of the window that is not edge.
            options: what the user asked for.
        """
        self._trace, self._marks, self._drivers = trace, marks, drivers
        self._devices, self._window, self._bounds = devices, window, bounds
        self._options = options
        self._base: _Base | None = None
        self.reason = ""

    def cause(self, rule: str, gaps: Gaps) -> Removal | None:
        """What taking a cause of gaps away changes.

        None where that cannot be told; :attr:`reason` may say why.
        """
        base = self._prepared()
        if base is None:
            return None
        return without_cause(rule, self._trace, self._marks, base.schedule, base.host, gaps)

    def losses(self, kernels: Kernels, chosen: NDArray[np.bool_]) -> Removal | None:
        """The same, if some kernels (bool (activities,)) took what a well-made one would."""
        base = self._prepared()
        return None if base is None else without_losses(base.schedule, kernels, chosen)

    def gain_of(self, removals: Sequence[Removal]) -> int | None:
        """Nanoseconds that the window, times its devices, is shorter without all of these."""
        base = self._prepared()
        if base is None or not removals:
            return None
        removal = removals[0] if len(removals) == 1 else combined(base.schedule, removals)
        end = base.finish(replay(base.schedule, base.first, removal, base.stop))
        return max(base.end_ns - end, 0) * len(self._devices)

    def waits_next(self, removal: Removal, gaps: Gaps, rule: str) -> str | None:
        """The cause that keeps the device waiting instead, where that is one of the host's."""
        base = self._prepared()
        if base is None:
            return None
        present = np.unique(gaps.cause).tolist()
        causes = [code for code in present if gaps.rule_ids[code] not in (rule, "launch-bound")]
        after = replay(base.schedule, base.first, removal, base.stop)
        found = next_wait(base.schedule, base.host, base.replayed, after, causes)
        if found is None:
            return None
        return "launch-bound" if found == Doing.DISPATCH else gaps.rule_ids[found]

    def without_cause(self, rule: str, gaps: Gaps) -> int | None:
        """What :meth:`cause` gains; None where that cannot be told."""
        removal = self.cause(rule, gaps)
        return None if removal is None else self.gain_of([removal])

    def without_losses(self, kernels: Kernels, chosen: NDArray[np.bool_]) -> int | None:
        """What :meth:`losses` gains; None where that cannot be told."""
        removal = self.losses(kernels, chosen)
        return None if removal is None else self.gain_of([removal])

    def _prepared(self) -> _Base | None:
        if self._base is None and not self.reason:
            self._base = self._prepare()
        return self._base

    def _prepare(self) -> _Base | None:
        low, high = self._window.start_ns, self._window.end_ns
        if not self._devices or high <= low:
            self.reason = "no device worked in the window"
            return None
        schedule = build_schedule(
            self._trace, self._marks, self._drivers, self._devices, self._last_step()
        )
        host = HostTime(self._trace, self._drivers, schedule, (low, high))
        base = _Base(schedule, host, low, self._bounds)
        if not base.any:
            self.reason = "no device worked in the window"
            return None
        if base.unlinked > MAX_UNLINKED:
            share = f"{100 * base.unlinked:.0f} %"
            rows = np.concatenate([device.row for device in self._devices])
            told = bool(undecided(self._trace, rows).any.any())
            what = "not known" if told else "not in the file"
            self.reason = f"the launches of {share} of the window's activities are {what}"
            return None
        error = abs(base.end_ns - base.recorded_end_ns) / (high - low)
        if error > MAX_ERROR:
            self.reason = f"a replay of the whole schedule misses the window by {100 * error:.0f} %"
            return None
        return base

    def _last_step(self) -> tuple[int, int] | None:
        """The last recorded step where the window reaches to its end on the CPU."""
        steps = self._window.steps
        if self._options.span_ns is not None or not steps or not steps[-1].on_host:
            return None
        last = self._trace.steps[-1]
        return (last.row, last.end_ns) if steps[-1].row == last.row else None


class _Base:
    """A replay of the window without any change, and what its end consists of."""

    def __init__(
        self,
        schedule: Schedule,
        host: HostTime,
        low: int,
        bounds: Sequence[tuple[int, int]],
    ) -> None:
        self.schedule, self.host = schedule, host
        calls, work = schedule.calls, schedule.work
        limits = np.array(bounds, np.int64)
        inside = (work.end_ns > low) & (work.end_ns <= limits[work.device, 1])
        self._ends = np.flatnonzero(inside)
        self._points = np.flatnonzero(calls.kind == CallKind.POINT)
        late = np.concatenate((np.flatnonzero(calls.leave_ns > low), work.call[self._ends]))
        self.first = int(late.min(initial=len(calls)))
        self.any = bool(len(self._ends))
        loose = calls.kind[work.call[self._ends]] == CallKind.DEVICE
        self.unlinked = float(loose.mean()) if len(loose) else 0.0
        self.recorded_end_ns = self._last(work.end_ns, calls.leave_ns)
        # What comes later has no effect on the end.
        asked = np.concatenate((work.call[self._ends], self._points))
        self.stop = max(int(asked.max(initial=-1)) + 1, self.first)
        self.replayed = replay(schedule, self.first, nothing(schedule), self.stop)
        self.end_ns = self.finish(self.replayed)

    def finish(self, replayed: Replayed) -> int:
        """When the last of the window's work, and its last step, has ended."""
        return self._last(replayed.end_ns, replayed.leave_ns)

    def _last(self, ends: Int64, leaves: Int64) -> int:
        work = int(ends[self._ends].max(initial=0))
        return max(work, int(leaves[self._points].max(initial=0)))
