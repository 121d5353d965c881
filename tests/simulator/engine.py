"""Runs a program: two threads that hand over to each other, worker processes, GPU streams.

Streams run in order, so an activity's start is known when it is launched: after its launch
and the latency, after the stream's last activity and its spacing, after the events that the
stream waits for. At most ``QUEUE`` launches may be pending; a further launch call waits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.simulator.actions import (
    AUTOGRAD,
    COMPUTE,
    MAIN,
    BlockingCopy,
    Call,
    Fetch,
    Frames,
    Instead,
    Join,
    Launch,
    Node,
    Note,
    On,
    Op,
    Overhead,
    Past,
    Program,
    Wait,
    Work,
)

QUEUE = 1024
EVENT_COST = 2500  # a stream that had to wait for an event starts this much later
FRAME_COST = 150
ASYNC = "pageable copies as pinned ones"
"""Taken away like a cause: the copies stay, but no longer block their thread."""
HANDOVER = "handover"
DISPATCH = ""


@dataclass(slots=True)
class Activity:
    """What ran on the GPU; ``recorded`` is False where its launch precedes the recording."""

    start: int
    end: int
    work: Work
    launch_start: int
    launch_end: int
    correlation: int
    recorded: bool
    first_of_launch: bool
    after_launch: bool


@dataclass(slots=True)
class Slice:
    """A recorded event of the host; ``role`` decides which recordings hold it."""

    role: str
    name: str
    thread: str
    start: int
    end: int
    correlation: int = 0
    category: str = ""
    shapes: tuple[tuple[int, ...], ...] = ()


@dataclass(slots=True)
class Run:
    """Everything that happened."""

    activities: list[Activity] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    host: list[tuple[int, int, str]] = field(default_factory=list)
    recording_start: int = 0
    end: int = 0
    steps: list[tuple[int, int]] = field(default_factory=list)

    def host_states(self, low: int, high: int) -> list[tuple[int, int, str]]:
        """What the host did between two instants, clipped: (start, end, state)."""
        i = max(bisect_right(self.host, low, key=lambda piece: piece[0]) - 1, 0)
        found = []
        while i < len(self.host) and self.host[i][0] < high:
            start, end, state = self.host[i]
            if end > low:
                found.append((max(start, low), min(end, high), state))
            i += 1
        return found


class Engine:
    """One run of a program without the causes in ``without``.

    A ``bare`` one notes nothing of the host: only activities, steps and times.
    """

    def __init__(
        self, program: Program, without: frozenset[str] = frozenset(), bare: bool = False
    ) -> None:
        self.program = program
        self.without = without
        self.bare = bare
        self.run = Run()
        self.now = 0
        self.thread = MAIN
        self.state = DISPATCH
        self.streams = [0, 0, 0]
        self.barrier = [0, 0, 0]
        self.pending: list[int] = []  # start of the n-th launch's last activity
        self.past: dict[int, int] = {}
        self.worker_free: dict[int, int] = {}
        self.taken: list[int] = []
        self.correlation = 1000
        self.recording = False
        self._by_type: dict[type, Callable[[Any], None]] = {
            Wait: self._wait,
            Op: self._operator,
            Launch: self._launch,
            Frames: self._frames,
            Note: self._note,
            Call: self._call,
            BlockingCopy: self._copy,
            Join: self._join,
            Past: self._past,
            Fetch: self._fetch,
            On: self._on,
            Instead: self._instead,
            Overhead: self._overhead,
        }

    def go(self) -> Run:
        """Run every step; recording begins after the lead."""
        for i, step in enumerate(self.program.steps):
            if i == self.program.lead:
                self._start_recording()
            begin = self.now
            self._all(step)
            if self.recording:
                number = self.program.first_step + i - self.program.lead
                self.run.steps.append((begin, self.now))
                self._slice("step", f"ProfilerStep#{number}", begin)
        self._all(self.program.tail)
        self.run.end = self.now
        return self.run

    def _start_recording(self) -> None:
        if self.program.drained:
            self.now = max(self.now, *self.streams)
        self.now += 50_000
        self.run.recording_start = self.now
        self.recording = True

    def _all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._do(node)

    def _do(self, node: Node) -> None:
        cause, outer = node.cause, self.state
        if cause is not None:
            if cause in self.without:
                return
            if outer == DISPATCH:
                self.state = cause
        self._by_type[type(node)](node)
        self.state = outer

    def _wait(self, node: Wait) -> None:
        self._spend(node.ns)

    def _operator(self, node: Op) -> None:
        begin = self.now
        self._spend(node.front)
        self._all(node.body)
        self._spend(node.back)
        self._slice("cpu_op", node.name, begin, shapes=node.shapes)

    def _note(self, node: Note) -> None:
        begin = self.now
        self._all(node.body)
        self._slice(node.role, node.name, begin)

    def _past(self, node: Past) -> None:
        self.past[node.key] = self.streams[COMPUTE]
        self._runtime("cudaEventRecord", node.ns)

    def _instead(self, node: Instead) -> None:
        if node.of in self.without:
            self._all(node.body)

    def _overhead(self, node: Overhead) -> None:
        begin = self.now
        self._spend(node.ns)
        self._slice("overhead", node.name, begin)

    def _frames(self, node: Frames) -> None:
        """Frames begin and end one after the other, as Python enters and leaves them."""
        begins = []
        for _ in node.names:
            begins.append(self.now)
            self._spend(FRAME_COST)
        self._all(node.body)
        for name, begin in zip(reversed(node.names), reversed(begins), strict=True):
            self._spend(FRAME_COST)
            self._slice("frame", name, begin)

    def _spend(self, ns: int) -> None:
        if ns > 0:
            if not self.bare:
                self.run.host.append((self.now, self.now + ns, self.state))
            self.now += ns

    def _until(self, instant: int) -> None:
        self._spend(instant - self.now)

    def _slice(
        self,
        role: str,
        name: str,
        begin: int,
        correlation: int = 0,
        category: str = "",
        shapes: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        if self.recording and not self.bare and begin >= self.run.recording_start:
            self.run.slices.append(
                Slice(role, name, self.thread, begin, self.now, correlation, category, shapes)
            )

    def _runtime(self, name: str, ns: int) -> None:
        begin = self.now
        self._spend(ns)
        self.correlation += 1
        self._slice("call", name, begin, self.correlation, "cuda_runtime")

    def _launch(self, node: Launch) -> None:
        begin = self.now
        if len(self.pending) >= QUEUE:
            self._until(self.pending[len(self.pending) - QUEUE])
        submitted = self.now
        if node.slow and node.slow_cause not in self.without:
            self._slow(node)
            submitted = self.now
        self.correlation += 1
        self._spend(node.ns)
        last = 0
        for i, work in enumerate(node.works):
            last = self._place(work, submitted, begin, i == 0, self.now, i > 0)
        self.pending.append(last)
        self._slice("call", node.name, begin, self.correlation, node.category)

    def _slow(self, node: Launch) -> None:
        outer, begin = self.state, self.now
        self.state = node.slow_cause or outer
        self._spend(node.slow)
        if node.slow_inside:
            self._slice("call", node.slow_inside, begin, 0, "cuda_driver")
        if node.slow_overhead:
            self._slice("overhead", node.slow_overhead, begin)
        self.state = outer

    def _place(
        self, work: Work, submitted: int, launch: int, first: bool, end: int, inside: bool
    ) -> int:
        """Put an activity on its stream; returns its start."""
        queue = self.streams[work.stream]
        start = (
            queue + work.spacing if inside else max(submitted + work.latency, queue + work.spacing)
        )
        if self.barrier[work.stream] > queue:
            start = max(start, self.barrier[work.stream] + EVENT_COST)
        self.barrier[work.stream] = 0
        self.streams[work.stream] = start + work.ns
        self.run.activities.append(
            Activity(
                start, start + work.ns, work, launch, end, self.correlation,
                self.recording, first, not inside,
            )
        )  # fmt: skip
        return start

    def _call(self, node: Call) -> None:
        begin = self.now
        if node.cause == "h2d-pageable" and ASYNC in self.without:
            return
        if node.waits == "device":
            self._until(max(self.streams))
        elif node.waits == "stream":
            self._until(self.streams[COMPUTE])
        elif node.waits.startswith("past"):
            self._until(self.past.get(int(node.waits[4:]), 0))
        self._spend(node.ns)
        self.correlation += 1
        self._slice("call", node.name, begin, self.correlation, node.category)

    def _copy(self, node: BlockingCopy) -> None:
        begin = self.now
        self.correlation += 1
        if node.cause == "h2d-pageable" and ASYNC in self.without:
            self._spend(6000)
            self._place(node.work, begin, begin, True, self.now, False)
            return
        self._place(node.work, begin + node.staging, begin, True, begin, False)
        activity = self.run.activities[-1]
        self._until(max(activity.end + node.back, begin + 1000))
        activity.launch_end = self.now
        self._slice("call", node.name, begin, self.correlation, "cuda_runtime")

    def _join(self, node: Join) -> None:
        self._runtime("cudaEventRecord", node.ns)
        self._runtime("cudaStreamWaitEvent", node.ns)
        self.barrier[node.waiter] = max(self.barrier[node.waiter], self.streams[node.of])

    def _fetch(self, node: Fetch) -> None:
        worker = node.index % node.workers
        ahead = node.index - node.workers * node.prefetch
        issued = self.taken[ahead] if ahead >= 0 and ahead < len(self.taken) else 0
        ready = max(self.worker_free.get(worker, 0), issued) + node.cost
        self.worker_free[worker] = ready
        if ready > self.now:
            self._until(ready + node.wake)
        self._spend(node.ns)
        self.taken.append(self.now)

    def _on(self, node: On) -> None:
        outer = self.state
        self.state = HANDOVER
        self._spend(node.there)
        self.state, self.thread = outer, AUTOGRAD
        self._all(node.body)
        self.thread, self.state = MAIN, HANDOVER
        self._spend(node.back)
        self.state = outer


def run(program: Program, without: frozenset[str] = frozenset(), bare: bool = False) -> Run:
    """Run a program without some of its causes; a bare run notes nothing of the host."""
    return Engine(program, without, bare).go()
