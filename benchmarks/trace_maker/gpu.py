"""The simulated GPU: streams that run what the host launches, in order and after the launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Final

from benchmarks.trace_maker.kernels import Kernel
from benchmarks.trace_maker.recorder import START_NS, Lane, Recorder, Span

DEVICE: Final = 0
COMPUTE, NCCL, COPIES = 7, 20, 24
_MULTIPROCESSORS = 132

#: Least time between the start of a launch call and of what it launches, in ns.
_LAUNCH_LATENCY_NS = 3_500


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the CUDA runtime.

    Attributes:
        name, callback: of the function.
        lane: process and thread.
        span: start and end, ns.
        external: the operator that makes it.
    """

    name: str
    callback: int
    lane: Lane
    span: Span
    external: int


@dataclass(slots=True)
class Gpu:
    """One device.

    Attributes:
        recorder: takes down calls and activities.
        random: decides what varies.
        free_ns: when each stream has run all it was given.
    """

    recorder: Recorder
    random: Random
    free_ns: dict[int, int] = field(
        default_factory=lambda: dict.fromkeys((COMPUTE, NCCL, COPIES), START_NS)
    )
    _correlation: int = 57_000

    def call(self, call: Call) -> int:
        """A runtime call that launches nothing; returns its correlation number."""
        self._correlation += 1
        ids = (
            ("External id", call.external),
            ("cbid", call.callback),
            ("correlation", self._correlation),
        )
        arguments = self.recorder.arguments(ids)
        self.recorder.gpu_slice("cuda_runtime", call.name, call.lane, call.span, arguments)
        return self._correlation

    def launch(self, call: Call, kernel: Kernel, stream: int, tokens: int) -> None:
        """Runs a kernel on so many tokens."""
        number = self.call(call)
        grid = max(1, tokens * self.random.choice((4, 8, 16)) // kernel.block)
        busy_ns = 1_000 * kernel.microseconds * max(2_048, tokens) // 4_096
        span = self._run(call, stream, busy_ns + self.random.randrange(900))
        blocks = grid / _MULTIPROCESSORS
        fit = self.recorder.layout.fit
        arguments = self.recorder.arguments(
            (("External id", call.external), ("queued", 0), ("device", DEVICE), ("context", 1)),
            (("stream", stream), ("correlation", number)),
            (("registers per thread", kernel.registers),),
            (("shared memory", kernel.shared),),
            (("blocks per SM", f"{blocks:.6f}"),),
            (("warps per SM", f"{blocks * kernel.block / 32:.6f}"),),
            (("grid", fit(f"[{grid}, 1, 1]")),),
            (("block", fit(f"[{kernel.block}, 1, 1]")),),
            (("est. achieved occupancy %", min(100, grid % 128)),),
        )
        name = kernel.names[grid % len(kernel.names)]
        self._activity("kernel", name, (call, number), stream, span, arguments)

    def copy(self, call: Call, way: str, stream: int, size: int) -> None:
        """Copies bytes to or from the host."""
        number = self.call(call)
        busy_ns = 1_200 + size // 24
        span = self._run(call, stream, busy_ns)
        arguments = self.recorder.arguments(
            (("External id", call.external), ("device", DEVICE), ("context", 1)),
            (("stream", stream), ("correlation", number)),
            (("bytes", size), ("memory bandwidth (GB/s)", repr(size / busy_ns))),
        )
        name = f"Memcpy {way}"
        self._activity("gpu_memcpy", name, (call, number), stream, span, arguments)

    def _run(self, call: Call, stream: int, busy_ns: int) -> Span:
        earliest = call.span[0] + _LAUNCH_LATENCY_NS + self.random.randrange(800)
        start_ns = max(earliest, self.free_ns[stream] + 500 + self.random.randrange(700))
        self.free_ns[stream] = start_ns + busy_ns
        return start_ns, self.free_ns[stream]

    def _activity(
        self,
        category: str,
        name: str,
        cause: tuple[Call, int],
        stream: int,
        span: Span,
        arguments: str,
    ) -> None:
        """What a call launched, with the arrow from one to the other."""
        recorder = self.recorder
        call, number = cause
        lane = (DEVICE, stream)
        recorder.gpu.append(recorder.arrow("ac2g", number, (call.lane, call.span[0])))
        recorder.gpu_slice(category, name, lane, span, arguments)
        recorder.gpu.append(recorder.arrow_head("ac2g", number, (lane, span[0])))
