"""What really kept the device waiting: by construction, and by running the program again.

Every stretch without compute is a piece; a piece of idle time falls into parts:

* while the launching thread (or the one it waited for) was in a planted cause, that cause;
* from the launch to the activity, launch latency;
* while the host only dispatched: ``launch-bound`` as far as the program without any of its
  causes would have waited here too, and for the rest the cause whose removal takes it away
  (what drained the queue pays for the ramp).

A part names one cause and the set of causes that a fair reader would accept; the reasons for
each acceptance are beside the code that grants it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass

from tests.simulator.actions import Program
from tests.simulator.engine import ASYNC, HANDOVER, Activity, Run, run
from tests.simulator.recording import Recording

IDLE, COMM, COPY = "idle", "exposed-comm", "exposed-copy"
BOUND = "launch-bound"
SPACING = "launch-spacing"
SPACING_NS = 5_000
PAGEABLE = frozenset({"h2d-pageable", "host-sync"})
""""Without the copy" may mean no copy, or one that does not block (accounting.md); where only
the latter frees the host to run ahead, both are right, and a wait for earlier work is a sync's."""
LATER = ("gc-pause", "recompile", "warm-up", "graph-break", "optimizer-loop")
PER_TENSOR = 100
"""Kernels from which an optimizer's loop shows without a frame (rules.md has 1000 for all)."""
DISPATCHES = ("optimizer-loop", "graph-break")
OPERATOR_NS = 150_000
PAUSE_NS = 180_000  # longer than any ordinary pause: nothing recorded tells what it is


@dataclass(frozen=True, slots=True)
class Part:
    """``ns`` of a piece that ``cause`` owns; any of ``accept`` is a right answer.

    ``by_definition`` are those of ``accept`` that are right only by the product's rule that a
    ramp ends once the host is ahead again, even by less than it would have been.
    """

    ns: int
    cause: str
    accept: frozenset[str]
    by_definition: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch without compute, times of the run."""

    start: int
    end: int
    kind: str
    parts: tuple[Part, ...]

    def strict(self) -> Piece:
        """The same, without what only the product's own definition of a ramp makes right."""
        if not any(part.by_definition for part in self.parts):
            return self
        parts = tuple(Part(p.ns, p.cause, p.accept - p.by_definition) for p in self.parts)
        return Piece(self.start, self.end, self.kind, parts)


@dataclass(frozen=True, slots=True)
class Truth:
    """The pieces of one run, and the time that taking each cause away recovers.

    ``shorter`` is that of the recorded stretch alone.
    """

    pieces: tuple[Piece, ...]
    recovered: Mapping[str, int]
    shorter: Mapping[str, int]


@dataclass(slots=True)
class Stretch:
    """A piece before it is explained; ``next`` ends it."""

    start: int
    end: int
    kind: str
    next: Activity | None
    ran: str = ""
    behind: str = ""


def stretches(run: Run, end: int) -> list[Stretch]:
    """Stretches without compute from the recording's start to ``end``."""
    edges = []
    for a in run.activities:
        level = 1 if a.work.comm else 2 if a.work.kind == "memcpy" else 0
        edges.append((a.start, 1, level, a))
        edges.append((a.end, 0, level, a))
    edges.sort(key=lambda e: (e[0], e[1]))
    count = [0, 0, 0]
    running: dict[int, list[str]] = {1: [], 2: []}
    behind = ""
    found: list[Stretch] = []
    before = run.recording_start
    for time, opens, level, a in edges:
        if time > before and not count[0]:
            kind = COMM if count[1] else COPY if count[2] else IDLE
            ran = running[1][0] if kind == COMM else running[2][0] if kind == COPY else ""
            found.append(Stretch(before, time, kind, a if opens else None, ran, behind))
        before = max(before, time)
        count[level] += 1 if opens else -1
        behind = ""
        if level:
            cause = a.work.cause or ("exposed-comm" if level == 1 else "d2h-exposed")
            running[level].append(cause) if opens else running[level].remove(cause)
            behind = "" if opens else cause
    if end > before:
        found.append(Stretch(before, end, IDLE, None))
    return found


class Idle:
    """Idle time up to each activity's start, by the activity's uid."""

    def __init__(self, run: Run) -> None:
        self.until: dict[int, int] = {}
        idle, horizon = 0, 0
        for a in sorted(run.activities, key=lambda a: a.start):
            idle += max(a.start - horizon, 0) if horizon else 0
            horizon = max(horizon, a.end)
            self.until[a.work.uid] = idle
        self.total = idle


def find_truth(program: Program, recording: Recording) -> tuple[Run, Truth]:
    """Run a program as it is, without all of its causes and without each of them."""
    causes = sorted(program.causes - {BOUND})
    full = run(program)
    clean = run(program, frozenset(causes), bare=True) if causes else full
    single = {c: _without(program, c) if len(causes) > 1 else clean for c in causes}
    if "h2d-pageable" in causes:
        single[ASYNC] = _without(program, ASYNC)
    without = dict(single)
    if BOUND in program.causes:
        without[BOUND] = _without(program, BOUND)
    recovered = {c: full.end - r.end for c, r in without.items()}
    shorter = {c: _recorded(full) - _recorded(r) for c, r in without.items()}
    explain = _Explain(
        full, Idle(clean), {c: Idle(r) for c, r in single.items()}, recording, program.noted
    )
    end = full.steps[-1][1] if recording.steps else max(a.end for a in full.activities)
    return full, Truth(tuple(explain.all(end)), recovered, shorter)


def _without(program: Program, cause: str) -> Run:
    return run(program, frozenset({cause}), bare=True)


def _recorded(run: Run) -> int:
    return run.end - run.recording_start


class _Explain:
    """Turns stretches into pieces."""

    def __init__(
        self,
        full: Run,
        clean: Idle,
        single: Mapping[str, Idle],
        recording: Recording,
        noted: bool,
    ) -> None:
        self.full, self.clean, self.single, self.recording = full, clean, single, recording
        self.clean_before = 0
        self.single_before = dict.fromkeys(single, 0)
        self.unspent: dict[str, int] = {}
        updates = sum(a.work.cause == "optimizer-loop" for a in full.activities if a.recorded)
        loops = sum(s.name.startswith("Optimizer.step#Adam") for s in full.slices)
        self.updates = updates // max(loops, 1)
        self.noted = noted

    def all(self, end: int) -> list[Piece]:
        """Explain every stretch; those ended by what a clean run lacks share one allowance."""
        found = stretches(self.full, end)
        pieces: list[Piece] = []
        group: list[Stretch] = []
        for s in found:
            group.append(s)
            uid = s.next.work.uid if s.next is not None else -1
            if uid in self.clean.until or s is found[-1]:
                pieces += self._group(group, uid)
                group = []
        return pieces

    def _group(self, group: list[Stretch], uid: int) -> list[Piece]:
        allowance = 0
        if uid in self.clean.until:
            allowance = max(self.clean.until[uid] - self.clean_before, 0)
            self.clean_before = self.clean.until[uid]
        idle = sum(s.end - s.start for s in group if s.kind == IDLE)
        excess: dict[str, int] = {}
        for cause, other in self.single.items():
            if uid in other.until:
                grown = other.until[uid] - self.single_before[cause]
                self.single_before[cause] = other.until[uid]
                excess[cause] = idle - max(grown, 0)
            elif group[-1].next is None:
                tail = group[-1].end - group[-1].start
                excess[cause] = idle - tail - max(other.total - self.single_before[cause], 0)
        # What a drain cost is spent once; when exactly is a convention, so it may be saved.
        for cause, over in excess.items():
            self.unspent[cause] = max(self.unspent.get(cause, 0) + over, 0)
        pieces = []
        for s in group:
            if s.kind == IDLE:
                parts, allowance = self._idle(s, allowance, excess)
            else:
                parts = (self._exposed(s),)
            pieces.append(Piece(s.start, s.end, s.kind, parts))
        return pieces

    def _exposed(self, s: Stretch) -> Part:
        if s.kind == COMM:
            return Part(s.end - s.start, s.ran, self._communicates(s.ran))
        # A sync's own copy of a few bytes back is the sync's or a copy to the host.
        accept = {s.ran}
        if s.ran in ("host-sync", "d2h-exposed"):
            accept = {"host-sync", "d2h-exposed"}
        elif not s.ran.startswith("h2d"):  # a compile's own copy back
            accept |= {"host-sync", "d2h-exposed"}
        if self.recording.rocm and s.ran.startswith("h2d"):
            accept = {"h2d-pageable", "h2d-exposed"}  # names on ROCm do not tell (rules.md)
        return Part(s.end - s.start, s.ran, frozenset(accept))

    def _communicates(self, cause: str) -> frozenset[str]:
        """One kernel receives and exchanges: without a word around it, either is right."""
        r = self.recording
        named = r.notes or r.operators or (r.shapes and cause == "pipeline-bubble")
        both = {"pipeline-bubble", "exposed-comm"}
        return frozenset({cause} if named and r.calls else both)

    def _idle(
        self, s: Stretch, allowance: int, excess: Mapping[str, int]
    ) -> tuple[tuple[Part, ...], int]:
        k = s.next
        if k is not None and not (k.recorded and self.recording.calls):
            spacing = {SPACING} if s.end - s.start <= SPACING_NS else set()
            unlinked = frozenset({"unattributed", *spacing})
            return (Part(s.end - s.start, "unattributed", unlinked),), allowance
        if k is not None and not k.after_launch:
            inside_graph = frozenset({"in-graph-gap", SPACING})
            return (Part(s.end - s.start, "in-graph-gap", inside_graph),), max(
                allowance - (s.end - s.start), 0
            )
        late = s.end if k is None else min(max(k.launch_start, s.start), s.end)
        direct: dict[str, int] = {}
        for start, end, state in self.full.host_states(s.start, late):
            direct[state] = direct.get(state, 0) + end - start
        inside = self._inside_call(k, late, s.end) if k is not None else {}
        for state, ns in inside.items():
            direct[state] = direct.get(state, 0) + ns
        parts: list[Part] = []
        pause = max(
            (
                end - start
                for start, end, state in self.full.host_states(s.start, late)
                if not state
            ),
            default=0,
        )
        dispatch = sum(direct.pop(state, 0) for state in ("", HANDOVER, BOUND))
        rest = s.end - s.start - dispatch - sum(direct.values())
        neighbours = {c for c in direct} | {BOUND}
        for cause, ns in direct.items():
            accepted = self._accepted(cause, ns)
            if cause in DISPATCHES:  # dispatch: a wait that drained the queue may pay for it
                accepted |= self._payers(ns)
                found = self.full.host_states(s.start, late)
                if max((b - a for a, b, c in found if c == cause), default=0) >= PAUSE_NS:
                    accepted |= {"python-overhead" if self.recording.stacks else "unattributed"}
            parts.append(Part(ns, cause, accepted))
        allowance -= min(rest, allowance)
        base = min(dispatch, allowance)
        ramp = dispatch - base
        if base:
            accept = {BOUND, "launch-latency"}
            if excess.get(ASYNC, 0) >= base // 2:
                accept |= PAGEABLE
            # Without all causes this wait remains; without this one alone it would not.
            alone = {c for c, e in excess.items() if e >= max(base // 2, 1) and c != ASYNC}
            accept |= alone.union(*(self._accepted(c, base) for c in alone))
            if pause >= PAUSE_NS or (base >= PAUSE_NS and not self.recording.operators):
                accept.add("python-overhead" if self.recording.stacks else "unattributed")
            if s.end - s.start <= SPACING_NS:
                accept.add(SPACING)
            parts.append(Part(base, BOUND, frozenset(accept), frozenset(accept & PAGEABLE)))
        if ramp:
            part = self._ramp(ramp, excess, direct, late)
            neighbours |= part.accept
            parts.append(part)
        if rest:
            # Latency is what a launch takes, whoever was late: never scored against anyone
            # who names it with the rest of its piece.
            accept = neighbours | {"launch-latency", "stream-wait", SPACING, s.behind}
            parts.append(Part(rest, "launch-latency", frozenset(accept)))
        return tuple(parts), allowance - base

    def _payers(self, ns: int) -> frozenset[str]:
        """Causes whose removal alone leaves so much less idle time in this group."""
        payers = {c for c, e in self.unspent.items() if e >= ns // 2}
        for cause in payers:
            self.unspent[cause] -= ns
        return frozenset(payers | ({"h2d-pageable"} if ASYNC in payers else set())) - {ASYNC}

    def _inside_call(self, k: Activity, late: int, end: int) -> dict[str, int]:
        """Time between launch and activity that the call itself is guilty of."""
        if k.work.kind == "memcpy" and k.launch_end >= k.end and k.work.cause == "h2d-pageable":
            return {"h2d-pageable": end - late}  # staging
        found: dict[str, int] = {}
        for start, stop, state in self.full.host_states(late, min(end, k.launch_end)):
            if state == "module-load":
                found[state] = found.get(state, 0) + stop - start
        return found

    def _ramp(
        self, ns: int, excess: Mapping[str, int], direct: Mapping[str, int], late: int
    ) -> Part:
        """Late dispatch that the clean run does not have: whose removal takes it away?"""
        likely = {c: e for c, e in excess.items() if e >= ns // 2}
        if likely.pop(ASYNC, 0):
            likely.setdefault("h2d-pageable", 0)
        if not likely:  # only several removals together help: any of them
            either = frozenset({*self.single, *direct, BOUND} - {ASYNC})
            known = {c: e for c, e in excess.items() if c != ASYNC}
            return Part(ns, max(known, key=lambda c: known[c], default=BOUND), either)
        cause = max(likely, key=lambda c: likely[c])
        accept = set(likely)
        if "h2d-pageable" in accept:  # its wait for earlier work is a sync's (accounting.md)
            accept.add("host-sync")
        if "unattributed" in accept or not self.recording.operators:
            accept.add(BOUND)
        for c in tuple(accept):
            accept |= self._accepted(c, ns)
        if BOUND not in accept and self._ahead_again(late, likely):
            return Part(ns, cause, frozenset(accept | {BOUND}), frozenset({BOUND}))
        return Part(ns, cause, frozenset(accept))

    def _ahead_again(self, late: int, causes: Mapping[str, int]) -> bool:
        """Whether a launch call returned to a busy device since any of the causes ended."""
        host = self.full.host
        i = bisect_left(host, late, key=lambda piece: piece[0]) - 1
        while i >= 0 and host[i][2] not in causes:
            i -= 1
        since = host[i][1] if i >= 0 else 0
        acts = self.full.activities  # in launch order
        j = bisect_left(acts, since, key=lambda a: a.launch_start)
        horizon = max((a.end for a in acts[max(j - 1, 0) : j]), default=0)
        for a in acts[j:]:
            if a.launch_end >= late:
                return False
            if horizon > a.launch_end:
                return True
            horizon = max(horizon, a.end)
        return False

    def _later(self, cause: str, ns: int) -> set[str]:
        """Right answers for causes that only some recordings name."""
        r = self.recording
        python = "python-overhead" if r.stacks else "unattributed"
        if cause == "gc-pause":
            return {cause} if r.stacks and r.gc else {python}
        if cause in ("recompile", "warm-up"):
            named = r.stacks or r.notes
            return {cause} if named else {python, "module-load", "host-sync", BOUND}
        if cause == "graph-break":
            # What runs operators one by one shows as dispatch where no frame proves the break.
            return {cause} if r.stacks else {BOUND, "unattributed"}
        named = r.stacks or (r.notes and r.operators and self.updates >= PER_TENSOR)
        return {cause} if named else {cause, BOUND}

    def _accepted(self, cause: str, ns: int) -> frozenset[str]:
        """Right answers for direct time in a cause, by what the recording holds."""
        r = self.recording
        accept = {cause}
        if cause == "dataloader-wait" and not (r.loader or r.stacks):
            # Nothing names the loader; what shows are collate's CPU operators, if any.
            accept = {cause, "unattributed", "cpu-operator"}
        elif cause == "python-overhead" and not (r.stacks or (self.noted and r.notes)):
            accept = {"unattributed"}
        elif cause == "python-overhead" and r.legacy and not r.stacks:
            accept = {cause, "cpu-operator"}  # annotations and operators share one category
        elif cause == "unattributed":
            accept |= {"python-overhead"} if r.stacks else set()
        elif cause == "cpu-operator" and not r.operators:
            accept = {"unattributed"}
        elif cause in LATER:
            accept = self._later(cause, ns)
        if accept & {"unattributed"} and ns < 1_000_000:
            accept.add(BOUND)  # an ordinary pause (accounting.md: up to 1 ms)
        if cause == "h2d-pageable" and (r.rocm or ns < OPERATOR_NS):
            accept |= {"host-sync"}
        if cause in ("h2d-pageable", "h2d-exposed", "exposed-comm") and ns < OPERATOR_NS:
            accept |= {BOUND}  # dispatching the operator that copies is dispatching
        return frozenset(accept)
