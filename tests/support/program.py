"""Small Kineto-like recordings, written event by event.

Times are microseconds. Whatever launches work gets a runtime call and a correlation, as a
profiler would record them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from whichlayer.analysis import Analysis, Options, analyse, load
from whichlayer.analysis.results import Budget
from whichlayer.analysis.trace.columns import Trace

PID = 4242
MAIN = 4242
AUTOGRAD = 4243

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


@dataclass
class Program:
    """A recording under construction."""

    properties: list[Mapping[str, Any]] = field(default_factory=lambda: [A100])
    events: list[dict[str, Any]] = field(default_factory=list)
    correlation: int = 100
    external: int = 0

    def slice(
        self, category: str, name: str, start: float, length: float, **extra: Any
    ) -> dict[str, Any]:
        event = {"ph": "X", "cat": category, "name": name, "pid": PID, "tid": MAIN, "ts": start}
        event |= {"dur": length, "args": {}} | extra
        self.events.append(event)
        return event

    def operator(
        self, name: str, start: float, length: float, thread: int = MAIN, **args: Any
    ) -> None:
        self.external += 1
        args = {"External id": self.external, **args}
        self.slice("cpu_op", name, start, length, tid=thread, args=args)

    def annotation(self, name: str, start: float, length: float, thread: int = MAIN) -> None:
        self.slice("user_annotation", name, start, length, tid=thread)

    def step(self, number: int, start: float, length: float) -> None:
        self.annotation(f"ProfilerStep#{number}", start, length)

    def frame(self, name: str, start: float, length: float, thread: int = MAIN) -> None:
        self.slice("python_function", name, start, length, tid=thread)

    def call(
        self, name: str, start: float, length: float, thread: int = MAIN, correlation: int = 0
    ) -> int:
        if not correlation:
            self.correlation += 1
            correlation = self.correlation
        args = {"correlation": correlation}
        self.slice("cuda_runtime", name, start, length, tid=thread, args=args)
        return correlation

    def kernel(
        self,
        name: str,
        start: float,
        length: float,
        launch: tuple[float, float] | None = None,
        *,
        thread: int = MAIN,
        stream: int = 7,
        device: int = 0,
        correlation: int = 0,
        call: str = "cudaLaunchKernel",
        category: str = "kernel",
        **args: Any,
    ) -> int:
        """A GPU activity; ``launch`` is (start, length) of the call that launched it."""
        if launch is not None:
            correlation = self.call(call, *launch, thread=thread)
        known = {"device": device, "stream": stream, "correlation": correlation or 999_999}
        self.slice(category, name, start, length, pid=device, tid=stream, args=known | args)
        return correlation

    def copy(
        self,
        name: str,
        start: float,
        length: float,
        launch: tuple[float, float] | None = None,
        *,
        bytes: int = 1 << 20,
        call: str = "cudaMemcpyAsync",
        stream: int = 7,
    ) -> None:
        self.kernel(
            name, start, length, launch, call=call, category="gpu_memcpy", bytes=bytes,
            stream=stream,
        )  # fmt: skip

    def document(self) -> dict[str, Any]:
        return {
            "schemaVersion": 1,
            "deviceProperties": self.properties,
            "traceEvents": self.events,
        }

    def write(self, folder: Path) -> Path:
        path = folder / "program.pt.trace.json"
        path.write_text(json.dumps(self.document()))
        return path

    def trace(self, folder: Path) -> Trace:
        return load(self.write(folder))

    def analysis(self, folder: Path, options: Options | None = None) -> Analysis:
        return analyse(self.trace(folder), options)


def gap_time(analysis: Analysis) -> dict[str, float]:
    """Microseconds of gap by cause."""
    gaps = analysis.gaps
    total: dict[str, float] = {}
    for i in range(len(gaps)):
        length = int(gaps.end_ns[i] - gaps.start_ns[i]) / 1000
        total[gaps.rule(i)] = total.get(gaps.rule(i), 0.0) + length
    return total


def budget_parts(budget: Budget) -> int:
    """Nanoseconds of all parts of a budget together."""
    gaps, losses = sum(budget.gap_ns.values()), sum(budget.loss_ns.values())
    rest = budget.spacing_ns + budget.unjudged_ns + budget.edge_ns
    return budget.at_roof_ns + gaps + losses + rest
