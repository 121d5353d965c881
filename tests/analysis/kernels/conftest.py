"""Recordings of a few kernels, judged as the product judges them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis.pipeline import analyse
from whichlayer.analysis.reader import open_trace
from whichlayer.analysis.results import Analysis, KernelGroup, Options

H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_018_279_936,
        "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32}  # fmt: skip
A100 = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_095_874_560,
        "numSms": 108, "computeMajor": 8, "computeMinor": 0, "warpSize": 32}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One operator call and the kernels (name, start, duration in microseconds) it launched."""

    name: str
    kernels: Sequence[tuple[str, float, float]]
    dims: Sequence[Any] = ()
    types: Sequence[str] = ()
    concrete: Sequence[str] | None = None
    stream: int = 7
    kind: str = "kernel"
    size: int | None = None
    around: str = ""
    around_dims: Sequence[Any] = ()
    around_types: Sequence[str] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    launch: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Recorded:
    """An analysed recording, with its groups by short name."""

    analysis: Analysis
    groups: dict[str, KernelGroup] = field(default_factory=dict)

    def only(self) -> KernelGroup:
        """The one group there is."""
        (group,) = self.groups.values()
        return group


Judge = Callable[..., Recorded]


@pytest.fixture
def call_class() -> type[Call]:
    """How tests beside this file name a call."""
    return Call


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """Write calls as a Kineto recording, open and analyse it."""

    def run(
        calls: Sequence[Call],
        properties: dict[str, Any] | None = H100,
        options: Options | None = None,
    ) -> Recorded:
        path = tmp_path / "recording.json"
        path.write_text(json.dumps(document(calls, properties)))
        analysis = analyse(open_trace(path), options or Options())
        return Recorded(analysis, {group.short_name: group for group in analysis.kernels})

    return run


def document(calls: Sequence[Call], properties: dict[str, Any] | None) -> dict[str, Any]:
    """A recording: each call 1 µs of host time, its launches inside."""
    events: list[dict[str, Any]] = []
    correlation = 100
    for index, call in enumerate(calls):
        begin = 1000 + 2.0 * index
        args: dict[str, Any] = {"External id": index + 1}
        if call.dims:
            args |= {"Input Dims": list(call.dims), "Input type": list(call.types)}
            args["Input Strides"] = [[] for _ in call.dims]
        if call.concrete is not None:
            args["Concrete Inputs"] = list(call.concrete)
        args |= call.extra
        if call.around:
            outer = {"Input Dims": list(call.around_dims), "Input type": list(call.around_types)}
            events.append(_slice("cpu_op", call.around, begin - 0.1, 1.6, 1, 1, outer))
        if call.name:
            events.append(_slice("cpu_op", call.name, begin, 1.4, 1, 1, args))
        for offset, (name, start, duration) in enumerate(call.kernels):
            correlation += 1
            events.append(
                _slice("cuda_runtime", "cudaLaunchKernel", begin + 0.1 + 0.01 * offset, 0.005,
                       1, 1, {"correlation": correlation})
            )  # fmt: skip
            on_gpu: dict[str, Any] = {"device": 0, "stream": call.stream,
                                      "correlation": correlation}  # fmt: skip
            on_gpu |= call.launch
            if call.size is not None:
                on_gpu["bytes"] = call.size
            events.append(_slice(call.kind, name, start, duration, 0, call.stream, on_gpu))
    header: dict[str, Any] = {"schemaVersion": 1, "cuda_runtime_version": 12080}
    header["deviceProperties"] = [] if properties is None else [properties]
    return {**header, "traceEvents": events}


def _slice(
    category: str,
    name: str,
    start: float,
    duration: float,
    pid: int,
    tid: int,
    args: dict[str, Any],
) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start,
            "dur": duration, "args": args}  # fmt: skip
