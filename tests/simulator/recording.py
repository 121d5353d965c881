"""What a profiler writes down of a run: everything, or less, in the formats of several years."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.simulator.actions import AUTOGRAD, MAIN
from tests.simulator.engine import Activity, Run, Slice

PID = 4242
TID = {MAIN: 4242, AUTOGRAD: 4300, "watchdog": 4400, "pin": 4500}
STREAM = (7, 20, 24)
EPOCH_NS = 1_650_000_000_000_000_000

LEGACY = {
    "cpu_op": "Operator",
    "user_annotation": "Operator",
    "cuda_runtime": "Runtime",
    "cuda_driver": "Runtime",
    "kernel": "Kernel",
    "gpu_memcpy": "Memcpy",
    "gpu_memset": "Memset",
}

A100 = {
    "id": 0,
    "name": "NVIDIA A100-SXM4-80GB",
    "totalGlobalMem": 85_094_825_984,
    "computeMajor": 8,
    "computeMinor": 0,
    "maxThreadsPerBlock": 1024,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerBlock": 65536,
    "warpSize": 32,
    "sharedMemPerBlock": 49152,
    "numSms": 108,
}

HIP = {
    "cudaLaunchKernel": "hipLaunchKernel",
    "cuLaunchKernel": "hipExtModuleLaunchKernel",
    "cudaMemcpyAsync": "hipMemcpyWithStream",
    "cuLibraryLoadData": "hipModuleLoadData",
}


@dataclass(frozen=True, slots=True)
class Recording:
    """What is recorded; the defaults are a recent profiler with everything but stacks.

    Attributes:
        stacks: Python frames.
        shapes: operators' input shapes.
        flows: arrows from launches to activities.
        loader: the loader's own annotation.
        steps: ``ProfilerStep#N``.
        notes: annotations of the optimizer and of the user's ``record_function``.
        operators: operators; without them only calls and GPU activities remain.
        ticks: whole microseconds of Unix time, as up to torch 2.2.
        legacy: the categories and thread names of 2020, with ticks.
        rocm: HIP's names for calls, streams and copies.
        gc: garbage collections, among the stacks.
        calls: runtime calls; without them no launch is known.
    """

    stacks: bool = False
    shapes: bool = True
    flows: bool = True
    loader: bool = True
    steps: bool = True
    notes: bool = True
    operators: bool = True
    ticks: bool = False
    legacy: bool = False
    rocm: bool = False
    gc: bool = True
    calls: bool = True

    def holds(self, role: str) -> bool:
        """Whether slices of this role are written."""
        return {
            "frame": self.stacks,
            "loader": self.loader,
            "step": self.steps,
            "note": self.notes,
            "cpu_op": self.operators,
            "compile": self.notes,
            "gc": self.stacks and self.gc,
            "call": self.calls,
        }.get(role, True)


class Writer:
    """Builds the document of one run."""

    def __init__(self, run: Run, recording: Recording, seed: int) -> None:
        self.run, self.recording = run, recording
        self.random = random.Random(seed)
        self.events: list[dict[str, Any]] = []
        self.starts: list[int] = []
        self.origin = 0
        self.external = 0

    def document(self) -> dict[str, Any]:
        """The whole recording; ``origin`` is then the run's time of its first slice."""
        slices = [s for s in self.run.slices if self.recording.holds(s.role)]
        activities = [a for a in self.run.activities if a.end > self.run.recording_start]
        for s in slices:
            self._host(s)
        for a in activities:
            self._activity(a)
        if self.recording.calls:
            self._bystanders()
        self.origin = min(self.starts, default=0)
        self.random.shuffle(self.events)
        head: dict[str, Any] = {
            "schemaVersion": 1,
            "deviceProperties": [
                A100
                | ({"name": "AMD Instinct MI300X", "warpSize": 64} if self.recording.rocm else {})
            ],
        }
        if not self.recording.ticks:
            head["baseTimeNanoseconds"] = EPOCH_NS
        if self.recording.stacks:
            head["with_stack"] = 1
        if self.recording.shapes:
            head["record_shapes"] = 1
        if self.recording.rocm:
            head["hip_runtime_version"] = 60300000
        return head | {"traceEvents": self.events}

    def _add(
        self,
        category: str,
        name: str,
        start: int,
        end: int,
        pid: Any,
        tid: Any,
        args: dict[str, Any],
    ) -> None:
        if self.recording.legacy:
            category = LEGACY.get(category, category)
        self.starts.append(start - start % 1000 if self.recording.ticks else start)
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "args": args}
        if self.recording.ticks:
            event |= {"ts": (EPOCH_NS + start) // 1000, "dur": (end - start) // 1000}
        else:
            event |= {"ts": start / 1000, "dur": (end - start) / 1000}
        self.events.append(event)

    def _host(self, s: Slice) -> None:
        args: dict[str, Any] = {}
        tid: Any = TID[s.thread]
        if s.role == "overhead":
            self._add("overhead", s.name, s.start, s.end, -1, 0, {})
            return
        if s.role == "call":
            category, args = s.category, {"correlation": s.correlation}
        elif s.role == "cpu_op":
            category = "cpu_op"
            self.external += 1
            args = {"External id": self.external}
            if self.recording.shapes and s.shapes:
                args |= {"Input Dims": s.shapes, "Input type": ["float"] * len(s.shapes)}
        elif s.role in ("frame", "gc"):
            category = "python_function"
        else:
            category = "user_annotation"
        name = self._named(s.name) if s.role == "call" else s.name
        if self.recording.legacy:
            tid = str(tid)
        self._add(category, name, s.start, s.end, PID, tid, args)

    def _named(self, name: str) -> str:
        if not self.recording.rocm:
            return name
        return HIP.get(name, name.replace("cuda", "hip", 1))

    def _activity(self, a: Activity) -> None:
        work = a.work
        stream = (0, 3, 4)[work.stream] if self.recording.rocm else STREAM[work.stream]
        category = {"kernel": "kernel", "memset": "gpu_memset"}.get(work.kind, "gpu_memcpy")
        args: dict[str, Any] = {"device": 0, "stream": stream, "correlation": a.correlation}
        if self.recording.ticks and not self.recording.legacy:
            args["External id"] = a.correlation
        if category == "kernel":
            args |= {"grid": [432, 1, 1], "block": [256, 1, 1]}
        if work.bytes and not work.comm:
            args["bytes"] = work.bytes
        if work.comm and work.bytes and self.recording.shapes:
            args |= {"Collective name": "recv", "In msg nelems": work.bytes // 2}
            args |= {"Out msg nelems": work.bytes // 2, "dtype": "BFloat16", "Group size": 2}
        name = work.name
        if self.recording.rocm and category == "gpu_memcpy":
            name = name.replace("Pageable", "Host").replace("Pinned", "Host")
        tid = f"stream {stream}" if self.recording.legacy else stream
        self._add(category, name, a.start, a.end, 0, tid, args)
        if self.recording.flows and self.recording.calls and a.recorded and a.first_of_launch:
            thread = TID[MAIN]
            at = {"cat": "ac2g", "name": "ac2g", "id": a.correlation}
            for ph, ts, pid, where in (("s", a.launch_start, PID, thread), ("f", a.start, 0, tid)):
                time = (EPOCH_NS + ts) // 1000 if self.recording.ticks else ts / 1000
                self.events.append(at | {"ph": ph, "ts": time, "pid": pid, "tid": where, "bp": "e"})

    def _bystanders(self) -> None:
        """Threads that launch nothing: a watchdog that polls, one that pins memory."""
        now, number = self.run.recording_start + 37_000, 900_000
        while now < self.run.end:
            number += 1
            self._add(
                "cuda_runtime", self._named("cudaEventQuery"), now, now + 1200, PID,
                self._tid("watchdog"), {"correlation": number},
            )  # fmt: skip
            now += int(self.random.uniform(0.4, 2.0) * 1_000_000)
        now = self.run.recording_start + 51_000
        while now < self.run.end:
            length = int(self.random.uniform(0.05, 3.0) * 1_000_000)
            end = min(now + length, self.run.end)
            if self.recording.operators:
                self.external += 1
                self._add(
                    "cpu_op", "aten::pin_memory", now, end, PID, self._tid("pin"),
                    {"External id": self.external},
                )  # fmt: skip
            number += 1
            self._add(
                "cuda_runtime", self._named("cudaHostAlloc"), now + 1000, max(end - 1000, now + 1500),
                PID, self._tid("pin"), {"correlation": number},
            )  # fmt: skip
            now = end + int(self.random.uniform(0.5, 6.0) * 1_000_000)

    def _tid(self, thread: str) -> Any:
        return str(TID[thread]) if self.recording.legacy else TID[thread]


def write(run: Run, recording: Recording, path: Path, seed: int = 0) -> int:
    """Write a recording of a run; returns the run's time of the trace's zero."""
    writer = Writer(run, recording, seed)
    path.write_bytes(orjson.dumps(writer.document()))
    return writer.origin
