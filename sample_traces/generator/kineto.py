"""Writing a recording as Kineto's Chrome trace logger does (torch 2.6): layout, order, fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sample_traces.generator.devices import Gpu
from sample_traces.generator.machine import DEFAULT_STREAM, Machine
from sample_traces.generator.records import Activity, Call, FrameEvent, OpEvent

#: Kineto's clock base: a multiple of a quarter of a year.
BASE_NANOSECONDS = 1_751_410_836_000_000_000
#: The numbers of CUPTI's callback ids.
CALLBACK_IDS = {
    "cudaLaunchKernel": 211,
    "cudaLaunchKernelExC": 430,
    "cudaMemcpyAsync": 41,
    "cudaMemsetAsync": 51,
    "cudaStreamSynchronize": 131,
    "cudaEventRecord": 135,
    "cudaEventSynchronize": 137,
    "cudaEventQuery": 136,
    "cudaDeviceSynchronize": 165,
    "cudaFuncSetAttribute": 273,
    "cudaStreamIsCapturing": 317,
    "cudaHostAlloc": 27,
}
#: Kineto names this many GPUs in the metadata, whatever is there.
NAMED_GPUS = 16


def microseconds(nanoseconds: int) -> str:
    """Microseconds with three decimals."""
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


def write_trace(machine: Machine, origin: int, window: tuple[int, int], trace_id: str) -> str:
    """The text of the trace file.

    ``origin`` is the machine's time zero on the trace's clock and ``window`` the recorded span,
    in nanoseconds.
    """
    writer = _Writer(machine, origin)
    events = ",\n".join(writer.events(window))
    return (
        _header(machine.gpu, trace_id)
        + '  "traceEvents": [\n'
        + events
        + f'\n  ],\n  "traceName": "/workspace/log/{trace_id[:8].lower()}.pt.trace.json"\n}}'
    )


def _header(gpu: Gpu, trace_id: str) -> str:
    major, minor = gpu.compute_capability
    return f"""
  {{
    "schemaVersion": 1,
    "deviceProperties": [
    {{
      "id": 0, "name": "{gpu.name}", "totalGlobalMem": {gpu.memory_bytes},
      "computeMajor": {major}, "computeMinor": {minor},
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": {gpu.sms}
    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": {gpu.shared_per_block_optin}, \
"sharedMemPerMultiprocessor": {gpu.shared_per_sm}
    }}
    ],
      "cuda_runtime_version": {gpu.runtime_version},
      "cupti_version": {gpu.cupti_version},
      "record_shapes": 1,
      "cuda_driver_version": {gpu.driver_version},
      "with_stack": 1,
      "trace_id": "{trace_id}",
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": {BASE_NANOSECONDS},
"""


class _Writer:
    def __init__(self, machine: Machine, origin: int) -> None:
        self._machine = machine
        self._recording = machine.recording
        self._origin = origin
        self._pid = machine.pid
        self._index = 0

    def events(self, window: tuple[int, int]) -> Iterator[str]:
        for thread in self._machine.threads:
            for op in self._recording.ops:
                if op.tid == thread.tid:
                    yield from self._op(op)
        for frame in self._recording.frames:
            yield self._frame(frame)
        for name, start, duration in self._recording.overhead:
            yield self._slice("overhead", name, -1, 0, start, start + duration, "")
        by_call = {id(a.call): a for a in self._recording.activities}
        for call in sorted(self._recording.calls, key=lambda c: c.correlation):
            yield from self._call(call, by_call.get(id(call)))
        yield from self._gpu_annotations()
        yield from self._metadata(window[0])
        yield from self._spans(window)

    def _time(self, time: int) -> str:
        return microseconds(time + self._origin)

    def _slice(
        self, category: str, name: str, pid: int, tid: int, start: int, end: int, arguments: str
    ) -> str:
        text = (
            f'  {{\n    "ph": "X", "cat": "{category}", "name": {json.dumps(name)}, '
            f'"pid": {pid}, "tid": {tid},\n'
            f'    "ts": {self._time(start)}, "dur": {microseconds(end - start)}'
        )
        if arguments:
            text += f',\n    "args": {{\n      {arguments}\n    }}'
        return text + "\n  }"

    def _next_index(self) -> int:
        self._index += 1
        return self._index - 1

    def _op(self, op: OpEvent) -> Iterator[str]:
        parts = []
        if op.sequence >= 0 and op.shapes is not None:
            parts += [f'"Sequence number": {op.sequence}', f'"Fwd thread id": {op.forward_thread}']
        parts.append(f'"Record function id": {op.function_id}')
        if op.sequence >= 0 and op.shapes is None:
            parts += [f'"Sequence number": {op.sequence}', f'"Fwd thread id": {op.forward_thread}']
        if op.shapes is not None:
            parts += [f'"{key}": {json.dumps(value)}' for key, value in op.shapes.items()]
        parts.append(f'"Ev Idx": {self._next_index()}')
        arguments = f'"External id": {op.external},' + ", ".join(parts)
        yield self._slice(op.category, op.name, self._pid, op.tid, op.start, op.end, arguments)
        if op.flow is not None:
            end = ', "bp": "e"' if op.flow[0] == "f" else ""
            yield self._flow(op.flow[0], op.flow[1], self._pid, op.tid, op.start, "fwdbwd", end)

    def _flow(
        self, phase: str, number: int, pid: int, tid: int, time: int, kind: str, end: str
    ) -> str:
        return (
            f'  {{\n    "ph": "{phase}", "id": {number}, "pid": {pid}, "tid": {tid}, '
            f'"ts": {self._time(time)},\n    "cat": "{kind}", "name": "{kind}"{end}\n  }}'
        )

    def _frame(self, frame: FrameEvent) -> str:
        parent = "null" if frame.parent is None else str(frame.parent)
        arguments = f'"Python parent id": {parent}, "Python id": {frame.id}'
        if frame.module_id is not None:
            arguments += f', "Python module id": {frame.module_id}'
        arguments += f', "Ev Idx": {self._next_index()}'
        return self._slice(
            "python_function", frame.name, self._pid, frame.tid, frame.start, frame.end, arguments
        )

    def _call(self, call: Call, activity: Activity | None) -> Iterator[str]:
        external = f'"External id": {call.external},      ' if call.external >= 0 else ""
        if activity is not None:
            yield self._activity(activity, external)
            yield self._flow(
                "f", call.correlation, 0, activity.stream, activity.start, "ac2g", ', "bp": "e"'
            )
        arguments = (
            f'{external}"cbid": {CALLBACK_IDS[call.name]}, "correlation": {call.correlation}'
        )
        yield self._slice(
            "cuda_runtime", call.name, self._pid, call.tid, call.start, call.end, arguments
        )
        if activity is not None:
            yield self._flow("s", call.correlation, self._pid, call.tid, call.start, "ac2g", "")
        else:
            yield self._flow(
                "f", call.correlation, self._pid, call.tid, call.start, "ac2g", ', "bp": "e"'
            )

    def _activity(self, activity: Activity, external: str) -> str:
        space = "      "
        place = f'"device": 0, "context": 1,{space}"stream": {activity.stream}, '
        place += f'"correlation": {activity.call.correlation},{space}'
        if activity.kind == "kernel":
            details = f",{space}".join(
                f'"{key}": {_number(value)}' for key, value in activity.details.items()
            )
            arguments = f'{external}"queued": 0, {place}{details}'
        else:
            details = ", ".join(
                f'"{key}": {json.dumps(value)}' for key, value in activity.details.items()
            )
            arguments = f"{external}{place}{details}"
        return self._slice(
            activity.kind,
            activity.name,
            0,
            activity.stream,
            activity.start,
            activity.end,
            arguments,
        )

    def _gpu_annotations(self) -> Iterator[str]:
        """Annotations as far as the kernels that their own thread launched inside them."""
        for op in self._recording.ops:
            if op.category != "user_annotation":
                continue
            inside = [
                a
                for a in self._recording.activities
                if a.call.tid == op.tid
                and op.start <= a.call.start < op.end
                and a.stream == DEFAULT_STREAM
            ]
            if inside:
                first, last = min(a.start for a in inside), max(a.end for a in inside)
                arguments = f'"External id": {op.external}'
                yield self._slice(
                    "gpu_user_annotation", op.name, 0, DEFAULT_STREAM, first, last, arguments
                )

    def _meta(self, name: str, time: int, pid: Any, tid: int, key: str, value: Any) -> str:
        return (
            f'  {{\n    "name": "{name}", "ph": "M", "ts": {self._time(time)}, '
            f'"pid": {json.dumps(pid)}, "tid": {tid},\n'
            f'    "args": {{\n      "{key}": {json.dumps(value)}\n    }}\n  }}'
        )

    def _metadata(self, time: int) -> Iterator[str]:
        for pid, label, order in [
            (self._pid, "CPU", self._pid),
            *((gpu, f"GPU {gpu}", 5_000_000 + gpu) for gpu in range(NAMED_GPUS)),
        ]:
            yield self._meta("process_name", time, pid, 0, "name", "python3")
            yield self._meta("process_labels", time, pid, 0, "labels", label)
            yield self._meta("process_sort_index", time, pid, 0, "sort_index", order)
        for stream in sorted({a.stream for a in self._recording.activities}):
            yield self._meta("thread_name", time, 0, stream, "name", f"stream {stream} ")
            yield self._meta("thread_sort_index", time, 0, stream, "sort_index", stream)
        for thread in self._machine.threads:
            name = f"thread {thread.tid} ({thread.name})"
            yield self._meta("thread_name", time, self._pid, thread.tid, "name", name)
            yield self._meta(
                "thread_sort_index", time, self._pid, thread.tid, "sort_index", thread.tid
            )

    def _spans(self, window: tuple[int, int]) -> Iterator[str]:
        start, end = window
        yield (
            f'  {{\n    "ph": "X", "cat": "Trace", "ts": {self._time(start)}, '
            f'"dur": {microseconds(end - start)},\n'
            '    "pid": "Spans", "tid": "PyTorch Profiler",\n'
            '    "name": "PyTorch Profiler (0)",\n'
            '    "args": {\n      "Op count": 0\n    }\n  }'
        )
        yield self._meta("process_sort_index", start, "Spans", 0, "sort_index", 536_870_912)
        yield (
            '  {\n    "name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g",\n'
            f'    "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": {self._time(start)}\n  }}'
        )
        yield (
            '  {\n    "name": "Record Window End", "ph": "i", "s": "g",\n'
            f'    "pid": "", "tid": "", "ts": {self._time(end + 212_000)}\n  }}'
        )


def _number(value: Any) -> str:
    return f"{value:.6f}" if isinstance(value, float) else json.dumps(value)
