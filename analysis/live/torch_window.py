"""One window of torch.profiler around a few steps of a program, exported as a Chrome trace.

All torch that the recorder uses besides hooks is here. Steps are marked ``ProfilerStep#N`` with the
program's own count, as ``torch.profiler`` does, so that every reader of traces knows them.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final

from whichlayer.analysis.live.exported import add_to
from whichlayer.analysis.live.private_folder import PrivateFolder
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.recording_key import RECORDING_KEY, RecordingCost

_ACTIVITIES: Final = ("CPU", "CUDA", "XPU", "MTIA")

_calling = threading.local()


@contextmanager
def _our_own() -> Iterator[None]:
    """Calls of the profiler in here are the recorder's, not the program's."""
    _calling.ours = True
    try:
        yield
    finally:
        _calling.ours = False


def is_our_own() -> bool:
    """Whether the recorder itself is calling the profiler in this thread."""
    return getattr(_calling, "ours", False)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A window that has ended, still inside the profiler.

    Attributes:
        first_step, last_step: both in.
        profiled_ns: from the profiler's start to its end, what starting and ending took included.
        cost: what recording cost so far.
        ended_ns: ``time.time_ns`` at the end of the last step.
        stacks: Python frames were recorded.
    """

    session: Any
    first_step: int
    last_step: int
    profiled_ns: int
    cost: RecordingCost
    ended_ns: int
    stacks: bool

    def export(self) -> tuple[bytearray, RecordingCost]:
        """The trace as JSON and what recording it cost; leaves no file unless the process is killed.

        torch holds Python's lock all the time: every Python thread of the program stands still.

        Raises:
            OSError: the temporary folder cannot take it.
            RuntimeError: the profiler failed.
        """
        folder = PrivateFolder()
        try:
            path = folder.path / "window.json"
            before = time.perf_counter_ns()
            with _our_own():
                self.session.export_chrome_trace(str(path))
            cost = replace(self.cost, export_ns=time.perf_counter_ns() - before)
            # Kineto tells nobody that it could not write: it leaves no file, or a part of one.
            trace = bytearray(path.read_bytes() if path.exists() else b"")
        finally:
            folder.remove()
        if not trace[-64:].rstrip().endswith(b"}"):
            raise OSError(errno.ENOSPC, "its end is missing: is the disk full?")
        add_to(trace, {RECORDING_KEY: cost.as_dict()}, os.getpid(), stacks=self.stacks)
        return trace, cost


class TorchWindow:
    """The profiler from its warm-up to the end of a window; used by the thread that runs the steps."""

    def __init__(self, options: RecorderOptions, metadata: dict[str, str]) -> None:
        """Prepare a session; nothing is recorded yet.

        Args:
            options: what to record.
            metadata: JSON texts by key, written into the trace's header.
        """
        profiler = import_module("torch.profiler")
        supported = profiler.supported_activities()
        # torch would take the place of cProfile, a debugger or a coverage tool, and not give it back.
        stacks = options.stacks and sys.getprofile() is None
        wanted = [getattr(profiler.ProfilerActivity, name, None) for name in _ACTIVITIES]
        self._session: Any = profiler._KinetoProfile(
            activities=[one for one in wanted if one in supported],
            record_shapes=options.shapes,
            with_stack=stacks,
            with_modules=stacks,
            profile_memory=options.memory,
            experimental_config=_settings(stacks),
        )
        self._stacks = stacks
        self._metadata = metadata
        self._mark: Any = None
        self._first = 0
        self._begun_ns = self._started_ns = 0
        self._prepare_ns = self._start_ns = 0

    def warm_up(self) -> None:
        """Let the profiler prepare itself for a step that is not kept."""
        before = time.perf_counter_ns()
        with _our_own():
            self._session.prepare_trace()
        self._prepare_ns = time.perf_counter_ns() - before

    def start(self, step: int) -> None:
        """Begin to record with a step."""
        before = time.perf_counter_ns()
        self._started_ns = before
        with _our_own():
            self._session.start_trace()
            for key, text in self._metadata.items():
                self._session.add_metadata_json(key, text)
        self._begun_ns = time.perf_counter_ns()
        self._start_ns = self._begun_ns - before
        self._first = step
        self._begin(step)

    def next(self, step: int) -> None:
        """One step has ended, and this one begins."""
        self._end()
        self._begin(step)

    def stop(self, last_step: int, usual_step_ns: int | None = None) -> Recorded:
        """End the window behind its last step.

        Args:
            last_step: its number.
            usual_step_ns: length of a step without the profiler, where that is known.
        """
        self._end()
        ended_ns, before = time.time_ns(), time.perf_counter_ns()
        with _our_own():
            self._session.stop_trace()
        after = time.perf_counter_ns()
        return Recorded(
            session=self._session,
            first_step=self._first,
            last_step=last_step,
            profiled_ns=after - self._started_ns,
            cost=RecordingCost(
                prepare_ns=self._prepare_ns,
                start_ns=self._start_ns,
                stop_ns=after - before,
                step_ns=(before - self._begun_ns) // max(last_step - self._first + 1, 1),
                usual_step_ns=usual_step_ns,
            ),
            ended_ns=ended_ns,
            stacks=self._stacks,
        )

    def abandon(self) -> None:
        """Stop the profiler, whatever state it is in, and keep nothing."""
        try:
            if self._mark is not None:
                self._end()
            with _our_own():
                if not self._started_ns:
                    self._session.start_trace()
                self._session.stop_trace()
        except (RuntimeError, AssertionError):
            # It was stopped by somebody else, or never began: nothing is left to stop.
            self._mark = None

    def _begin(self, step: int) -> None:
        annotate = import_module("torch.autograd.profiler").record_function
        self._mark = annotate(f"ProfilerStep#{step}")
        self._mark.__enter__()

    def _end(self) -> None:
        mark, self._mark = self._mark, None
        mark.__exit__(None, None, None)


def _settings(stacks: bool) -> Any:
    """Torch's settings that are still called experimental, as far as this torch knows them.

    Nobody reads the events in the program, so torch need not make any where it can do without: with
    stacks it cannot, and would warn. Pauses of Python's garbage collector are recorded among stacks.
    """
    made: Any = getattr(import_module("torch._C._profiler"), "_ExperimentalConfig", None)
    wanted = {"record_python_gc_info": True} if stacks else {"trace_only": True}
    known = {}
    for name, value in wanted.items():
        try:
            made(**{name: value})
        except TypeError:
            continue  # of a later torch, or there is no such thing
        known[name] = value
    return made(**known) if known else None


_COLLECTOR_CALLBACK: Final = "gc_event_callback"
"""What torch hangs into Python's garbage collector while it records that."""


def silence() -> None:
    """In a forked child: let the profiler that its parent runs take nothing of this thread."""
    sys.setprofile(None)
    gc.callbacks[:] = [
        one for one in gc.callbacks if getattr(one, "__name__", "") != _COLLECTOR_CALLBACK
    ]
    switch = getattr(import_module("torch._C")._autograd, "_enable_record_function", None)
    if switch is not None:
        switch(False)


def unsilence() -> None:
    """Undo :func:`silence`, and end the parent's profiler here, to make room for another one."""
    autograd = import_module("torch._C")._autograd
    autograd._enable_record_function(True)
    autograd._disable_profiler()


def profiler_is_on() -> bool:
    """Whether any profiler runs in this thread: torch allows one."""
    enabled = getattr(import_module("torch.autograd"), "_profiler_enabled", None)
    return bool(enabled()) if enabled is not None else False


def rank_of_process() -> tuple[int | None, int | None]:
    """This process' rank in its job and the job's size, as launchers tell them."""

    def number(name: str) -> int | None:
        text = os.environ.get(name, "")
        return int(text) if text.isdecimal() and len(text) < 10 else None

    return number("RANK"), number("WORLD_SIZE")
