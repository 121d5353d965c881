"""The machine: CPU threads with clocks, streams that run in order, and what binds the two."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sample_traces.generator.devices import Gpu
from sample_traces.generator.kernels import Kernel, kernel_duration, launch_details
from sample_traces.generator.noise import Noise
from sample_traces.generator.records import Activity, Call, FrameEvent, OpEvent, Recording, Work

DEFAULT_STREAM = 7
#: Launches that fit in the queue of a device; the next one blocks.
QUEUE_DEPTH = 1024
#: Operators get their ids in blocks of this size, one block per thread at a time.
ID_BLOCK = 512
#: How much slower operators and Python frames run while a profiler with stacks looks on.
PROFILED = 1.6
#: Kineto's correlation ids also count calls that it does not print.
HIDDEN_CALLS = 3


def ticks(nanoseconds: float) -> int:
    """A host duration on the 10 ns grid of the recorded clocks."""
    return max(10, round(nanoseconds / 10) * 10)


class Thread:
    """A CPU thread: ``now`` is its clock in nanoseconds."""

    def __init__(self, machine: Machine, tid: int, name: str, now: int) -> None:
        self.machine = machine
        self.tid = tid
        self.name = name
        self.now = now
        self.open_ops: list[OpEvent] = []
        self.open_frames: list[FrameEvent] = []
        self._ids: Iterator[int] = iter(())
        self.recorded_functions = 0

    def spend(self, microseconds: float, channel: str = "host") -> None:
        """Let host time pass, with noise."""
        self.now += ticks(self.machine.noise.host(microseconds, channel) * 1e3)

    def next_id(self) -> int:
        """A fresh operator id."""
        found = next(self._ids, None)
        if found is None:
            self._ids = iter(self.machine.new_id_block())
            found = next(self._ids)
        return found

    @contextmanager
    def op(
        self, name: str, category: str = "cpu_op", pre: float = 1.1, post: float = 0.45
    ) -> Iterator[OpEvent]:
        """An operator or annotation around the body; ``pre`` and ``post`` are its own time, µs."""
        event = OpEvent(category, name, self.tid, self.now, self.next_id(), 0)
        self.machine.recording.ops.append(event)
        self.open_ops.append(event)
        self.spend(PROFILED * pre, "op")
        yield event
        self.spend(PROFILED * post, "op")
        self.open_ops.pop()
        event.end = self.now
        self.now += 20

    @contextmanager
    def frame(
        self, name: str, module_id: int | None = None, pre: float = 0.55, post: float = 0.3
    ) -> Iterator[FrameEvent]:
        """A Python frame around the body."""
        machine = self.machine
        parent = self.open_frames[-1].id if self.open_frames else None
        event = FrameEvent(name, self.tid, self.now, machine.next_frame_id(), parent, module_id)
        machine.recording.frames.append(event)
        self.open_frames.append(event)
        self.spend(machine.frame_scale * pre, "frame")
        yield event
        self.spend(machine.frame_scale * post, "frame")
        self.open_frames.pop()
        event.end = self.now
        self.now += 10

    def call(self, name: str, microseconds: float) -> Call:
        """A runtime call that gives the device nothing to do."""
        call = self._begin_call(name)
        self.spend(microseconds, "call")
        call.end = self.now
        self.now += 10
        return call

    def _begin_call(self, name: str) -> Call:
        operators = [op for op in self.open_ops if op.category == "cpu_op"]
        external = operators[-1].external if operators else -1
        call = Call(name, self.tid, self.now, -1, self.machine.next_correlation(), external)
        self.machine.recording.calls.append(call)
        return call

    def launch(self, kernel: Kernel, stream: int = DEFAULT_STREAM) -> Activity:
        """Launch a kernel; blocks while the queue of the device is full."""
        machine = self.machine
        call = self._begin_call(kernel.call)
        self.now = max(self.now, machine.queue_free_at(self.now))
        self.spend(machine.first_launch_cost(call) + 4.4, "launch")
        call.end = self.now
        self.now += 10
        duration = kernel_duration(machine.gpu, kernel, machine.noise)
        details = launch_details(machine.gpu, kernel)
        return machine.enqueue("kernel", kernel.name, stream, call, duration, details, kernel.work)

    def memset(self, size: int, stream: int = DEFAULT_STREAM) -> Activity:
        """Clear device memory."""
        machine = self.machine
        call = self._begin_call("cudaMemsetAsync")
        self.spend(4.0, "launch")
        call.end = self.now
        self.now += 10
        duration = 1100 + size / (machine.gpu.bandwidth_gbps * 0.88)
        details = _copy_details(size, duration := round(duration / 32) * 32)
        return machine.enqueue(
            "gpu_memset", "Memset (Device)", stream, call, duration, details, Work(float(size))
        )

    def copy(
        self, size: int, kind: str, stream: int = DEFAULT_STREAM, planted: bool = False
    ) -> Activity:
        """``cudaMemcpyAsync``: "HtoD pinned", "HtoD pageable", "DtoH pinned", "DtoH pageable".

        Between pageable memory and the device the call returns only when the copy, and so all
        earlier work of the stream, is done.
        """
        machine = self.machine
        gpu = machine.gpu
        pageable = kind.endswith("pageable")
        rate = gpu.pageable_gbps if pageable else gpu.pinned_gbps
        duration = 1300 + machine.noise.around(size / rate, 0.03, "copy")
        duration = max(1, round(duration / 32)) * 32
        host = "Pageable" if pageable else "Pinned"
        ends = f"{host} -> Device" if kind.startswith("HtoD") else f"Device -> {host}"
        call = self._begin_call("cudaMemcpyAsync")
        self.spend(machine.first_launch_cost(call) + 5.0, "launch")
        call.end = self.now
        activity = machine.enqueue(
            "gpu_memcpy",
            f"Memcpy {kind[:4]} ({ends})",
            stream,
            call,
            int(duration),
            _copy_details(size, int(duration)),
            Work(float(size), planted=planted),
        )
        if pageable:
            self.now = max(self.now, activity.end)
            self.spend(2.2, "wake")
            call.end = self.now
        self.now += 10
        return activity

    def synchronize(self, name: str, until: int) -> Call:
        """A call that blocks until a moment on the device."""
        call = self._begin_call(name)
        self.spend(1.6, "call")
        if until > self.now:
            self.now = until
            self.spend(3.2, "wake")
        call.end = self.now
        self.now += 10
        return call


def _copy_details(size: int, duration: int) -> dict[str, Any]:
    return {"bytes": size, "memory bandwidth (GB/s)": size / duration}


class Machine:
    """One process with one GPU."""

    def __init__(self, gpu: Gpu, seed: str, pid: int) -> None:
        self.gpu = gpu
        self.noise = Noise(seed)
        self.pid = pid
        #: Some hosts run Python slower than others; operators are C++ and care less.
        self.frame_scale = PROFILED
        self.recording = Recording()
        self.threads: list[Thread] = []
        self._free: dict[int, int] = {}
        self._waiting: deque[int] = deque()
        self._blocks = 0
        self._frames = 0
        self._correlation = 0
        self._launched = False

    def thread(self, tid: int, name: str, now: int) -> Thread:
        """Start a thread."""
        thread = Thread(self, tid, name, now)
        self.threads.append(thread)
        return thread

    def new_id_block(self) -> range:
        """Ids for the operators of a thread."""
        first = self._blocks * ID_BLOCK + 1
        self._blocks += 1
        return range(first, first + ID_BLOCK)

    def next_frame_id(self) -> int:
        """The id of the next Python frame."""
        self._frames += 1
        return self._frames

    def next_correlation(self) -> int:
        """The correlation id of the next runtime call."""
        self._correlation += 1 + int(self.noise.uniform("correlation") * HIDDEN_CALLS)
        return self._correlation

    def first_launch_cost(self, call: Call) -> float:
        """Microseconds that the profiler takes for its first buffer, at the first launch only."""
        if self._launched:
            return 0.0
        self._launched = True
        self.recording.overhead.append(("Activity Buffer Request", call.start + 1800, 260_000))
        return 264.0

    def queue_free_at(self, now: int) -> int:
        """When the queue has room for one more launch."""
        while self._waiting and self._waiting[0] <= now:
            self._waiting.popleft()
        if len(self._waiting) < QUEUE_DEPTH:
            return now
        return self._waiting[len(self._waiting) - QUEUE_DEPTH]

    def stream_end(self, stream: int = DEFAULT_STREAM) -> int:
        """When a stream has done all that it was given so far."""
        return self._free.get(stream, 0)

    def device_end(self) -> int:
        """When all streams are done."""
        return max(self._free.values(), default=0)

    def wait_for(self, stream: int, until: int) -> None:
        """Make a stream wait for a moment of another one, as ``cudaStreamWaitEvent`` does."""
        self._free[stream] = max(self._free.get(stream, 0), until)

    def enqueue(
        self,
        kind: str,
        name: str,
        stream: int,
        call: Call,
        duration: int,
        details: dict[str, Any],
        work: Work | None,
    ) -> Activity:
        """Run an activity behind the earlier work of its stream."""
        gpu, noise = self.gpu, self.noise
        arrival = call.end + noise.around(gpu.launch_latency_us * 1e3, 0.08, "latency")
        behind = self._free.get(stream, 0) + noise.around(gpu.spacing_us * 1e3, 0.1, "spacing")
        start = round(max(arrival, behind) / 32) * 32
        activity = Activity(kind, name, stream, start, start + duration, call, details, work)
        self.recording.activities.append(activity)
        self._free[stream] = activity.end
        self._waiting.append(start)
        return activity
