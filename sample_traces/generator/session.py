"""A profiled run: the profiler's frames, its steps, and the recording's first and last moment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from sample_traces.generator.devices import Gpu
from sample_traces.generator.eager import Eager
from sample_traces.generator.machine import Machine, Thread
from sample_traces.generator.records import OpEvent

#: The machine's clock when the profiler starts, in nanoseconds.
START = 40_000_001
#: What the profiler's bookkeeping at the end of a step costs, in microseconds.
STEP_COST = 16.0


@dataclass(frozen=True, slots=True)
class Script:
    """The profiled program: its file and the lines of the frames that are always open."""

    file: str
    module_line: int
    main_line: int


class Session:
    """One process under ``torch.profiler``, with a main and perhaps an autograd thread."""

    def __init__(
        self, gpu: Gpu, seed: str, pid: int, script: Script, training: bool, first_step: int
    ) -> None:
        self.machine = Machine(gpu, seed, pid)
        self.script = script
        self.first_step = first_step
        autograd: Thread | None = None
        main = self.machine.thread(pid, "python3", START)
        if training:
            autograd = self.machine.thread(pid + 193, "pt_autograd_0", START)
        self.rt = Eager(self.machine, main, autograd)
        self.steps: list[OpEvent] = []
        self.window = (START - 62_000, START)

    def run(self, steps: int, body: Callable[[int], None]) -> None:
        """Record ``steps`` calls of ``body``, one per ``ProfilerStep#N``."""
        main, file = self.rt.main, self.script.file
        with ExitStack() as frames:
            frames.enter_context(main.frame(f"{file}({self.script.module_line}): <module>"))
            frames.enter_context(main.frame(f"{file}({self.script.main_line}): main"))
            with main.frame("torch/profiler/profiler.py(216): start_trace", pre=60.0):
                pass
            for index in range(steps):
                step = self._open_step(index)
                body(index)
                with main.frame("torch/profiler/profiler.py(842): step", pre=STEP_COST):
                    self._close_step(step)
            with (
                main.frame("torch/profiler/profiler.py(252): stop_trace", pre=20.0),
                main.frame("torch/autograd/profiler.py(353): __exit__", pre=8.0),
            ):
                main.synchronize("cudaDeviceSynchronize", self.machine.device_end())
        self.window = (self.window[0], main.now + 40_000)

    def _open_step(self, index: int) -> OpEvent:
        main = self.rt.main
        name = f"ProfilerStep#{self.first_step + index}"
        step = OpEvent("user_annotation", name, main.tid, main.now, main.next_id(), 0)
        self.machine.recording.ops.append(step)
        main.open_ops.append(step)
        self.steps.append(step)
        main.spend(4.0)
        return step

    def _close_step(self, step: OpEvent) -> None:
        main = self.rt.main
        main.open_ops.remove(step)
        step.end = main.now
        main.now += 400
