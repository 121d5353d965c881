"""Runs of a program from which a cause is taken away while it is recorded.

Two for each cause: the program without it, and the program without all that this recording
cannot tell from it. The second is the best that any reader of the recording can do.
"""

from __future__ import annotations

from dataclasses import replace

from tests.simulator.actions import Fetch, Program, Work
from tests.simulator.cases import Case
from tests.simulator.engine import ASYNC, DISPATCH, HANDOVER, Engine, Run
from tests.simulator.recording import Recording

BOUND = "launch-bound"
EXPOSED = frozenset({"exposed-comm", "pipeline-bubble", "h2d-exposed", "h2d-pageable"})
WAITED_NS = 1_000_000
"""A batch that a thread waited for less than this was there: the call is slow Python."""


def removed_runs(case: Case, program: Program, cause: str, recorded: Workers) -> tuple[Run, Run]:
    """The program without a cause, and without all that its recording cannot tell from it.

    Args:
        case: the program's.
        program: to run.
        cause: taken away.
        recorded: what :func:`workers_of` tells of the program.
    """
    dispatch = frozenset({BOUND}) if cause == BOUND else frozenset()
    gone = frozenset({cause}) - dispatch
    true = Later(program, gone, dispatch, frozenset()).go()
    alike = told_alike(case, program, cause)
    if cause == BOUND:
        return true, Told(case, program, frozenset(), alike, frozenset(), recorded).go()
    hidden = alike & EXPOSED
    without = (alike - hidden) | (frozenset({ASYNC}) if "h2d-pageable" in hidden else frozenset())
    return true, Told(case, program, without, frozenset(), hidden, recorded).go()


def told_alike(case: Case, program: Program, cause: str) -> frozenset[str]:
    """The causes of a program that go by one name in this recording."""
    r = case.recording
    names = {one: _name(one, r, case) for one in program.causes | {cause}}
    return frozenset(one for one, name in names.items() if name == names[cause]) | {cause}


def _name(cause: str, r: Recording, case: Case) -> str:
    """What a recording shows of a cause."""
    broken = any(p.cause == cause and p.how == "ops" for p in case.plants)
    if cause == "unattributed" or (cause == "gc-pause" and not (r.stacks and r.gc)):
        return "python-overhead" if r.stacks else "unattributed"
    if cause == "graph-break" and not r.stacks:
        return BOUND if broken else "unattributed"
    if cause == "optimizer-loop" and not (r.stacks or (r.notes and r.operators)):
        return BOUND
    return cause


class Later(Engine):
    """A run without some causes from the recording's start on.

    ``free`` are causes whose dispatch takes no time, with all other dispatch; the work of
    ``hidden`` takes none.
    """

    def __init__(
        self,
        program: Program,
        without: frozenset[str],
        free: frozenset[str],
        hidden: frozenset[str],
    ) -> None:
        super().__init__(program, bare=True)
        self._later, self._free, self._hidden = without, free, hidden

    def _start_recording(self) -> None:
        super()._start_recording()
        self.without = self._later

    def _spend(self, ns: int) -> None:
        free = self._free and self.state in (DISPATCH, HANDOVER, *self._free)
        if not (self.recording and free):
            super()._spend(ns)

    def _place(
        self, work: Work, submitted: int, launch: int, first: bool, end: int, inside: bool
    ) -> int:
        if self.recording and work.cause in self._hidden:
            work = replace(work, ns=0)
        return super()._place(work, submitted, launch, first, end, inside)


class Told(Later):
    """The same, with worker processes that hand over their batches when they did."""

    def __init__(
        self,
        case: Case,
        program: Program,
        without: frozenset[str],
        free: frozenset[str],
        hidden: frozenset[str],
        recorded: Workers,
    ) -> None:
        super().__init__(program, without, free, hidden)
        self._waits, self._ready = recorded.waits, recorded.ready
        self._shown = case.recording.loader or case.recording.stacks

    def _fetch(self, node: Fetch) -> None:
        wait = self._waits[node.index]
        if self._shown and wait >= WAITED_NS:
            self._until(self._ready[node.index])
        else:
            self._spend(wait)
        self._spend(node.ns)


class Workers(Engine):
    """The program as it is, with a note of when each batch was there."""

    def __init__(self, program: Program) -> None:
        super().__init__(program, bare=True)
        self.waits: dict[int, int] = {}
        self.ready: dict[int, int] = {}

    def _fetch(self, node: Fetch) -> None:
        begin = self.now
        super()._fetch(node)
        self.ready[node.index] = self.now - node.ns
        self.waits[node.index] = max(self.now - node.ns - begin, 0)


def workers_of(program: Program) -> Workers:
    """When the batches of a program as it is were there."""
    found = Workers(program)
    found.go()
    return found
