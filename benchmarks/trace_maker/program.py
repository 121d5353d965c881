"""Simulates a process that trains a transformer, and has recorded what Kineto would record.

Host time goes forward from call to call. A slice takes its place among the events when it
begins and is written when it ends, so that events stand in the order of their starts, and nest.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from benchmarks.trace_maker.gpu import COMPUTE, COPIES, DEVICE, NCCL, Call, Gpu
from benchmarks.trace_maker.kernels import KERNELS, LAUNCHES, OTHER_CALLS, Kernel
from benchmarks.trace_maker.layouts import Layout
from benchmarks.trace_maker.operators import ALL_REDUCE, BACKWARD, FORWARD, OPTIMISER, Operator
from benchmarks.trace_maker.recorder import START_NS, Lane, Recorder

PROCESS: Final = 41_230
MAIN: Final = (PROCESS, PROCESS)
AUTOGRAD: Final = (PROCESS, PROCESS + 747)

_BATCHES = (1, 2, 4, 8)
_SEQUENCES = tuple(range(64, 4097, 64))
_TOKENS = tuple(range(8, 2049, 8))
_LAYERS = 24
_TENSORS = 1_500
_LAYERS_OF_A_BUCKET = 6

#: Host time between two calls: readers that round to doubles find neighbours apart, too.
_BETWEEN_NS = (40, 200)

#: An annotation on the GPU outlasts its last kernel by less than the gap to the next kernel, so
#: that it holds it for such readers.
_BEYOND_NS = 300


@dataclass(slots=True)
class _Frame:
    """A Python frame that has begun."""

    place: int
    start_ns: int
    name: str
    number: int
    arguments: str


class Program:
    """The simulated process.

    Attributes:
        recorder: what has been recorded.
        now_ns: host time, on the trace's clock.
    """

    def __init__(self, layout: Layout, random: Random, *, stacks: bool = True) -> None:
        """Equal seeds of ``random`` give equal programs; ``stacks`` records Python frames."""
        self.recorder = Recorder(layout)
        self.now_ns = START_NS
        self._random = random
        self._gpu = Gpu(self.recorder, random)
        self._stacks = stacks
        self._shape = _Shape(1, 64, 8)
        self._inputs: dict[tuple[str, _Shape], str] = {}
        self._frames: list[_Frame] = []
        self._forward: list[tuple[int, int]] = []
        self._count = _Counters()

    def step(self) -> tuple[str, str]:
        """Runs one training step.

        Returns:
            Its events on the host and on the GPU, each ending in a comma.
        """
        self._inputs.clear()
        self._shape = _Shape(
            self._random.choice(_BATCHES), self._random.choice(_SEQUENCES), _TOKENS[0]
        )
        self._pass(*_BETWEEN_NS)
        start_ns, place = self.now_ns, self.recorder.keep()
        begin_ns = max(start_ns, self._gpu.free_ns[COMPUTE])
        self._load()
        for layer in range(_LAYERS):
            self._forward_layer(layer)
        self._backward()
        self._optimise()
        self._read_loss()
        name = f"ProfilerStep#{self._count.steps}"
        self._count.steps += 1
        self._annotation(place, name, start_ns)
        span = (begin_ns, self._gpu.free_ns[COMPUTE] + _BEYOND_NS)
        ids = self.recorder.arguments((("External id", self._count.external),))
        self.recorder.gpu_slice("gpu_user_annotation", name, (DEVICE, COMPUTE), span, ids)
        return self.recorder.take()

    def closing(self) -> str:
        """The events at the end of the file: names of processes and threads, and the span."""
        recorder = self.recorder
        text = [
            recorder.metadata("process_name", (PROCESS, 0), "name", '"python3.11"'),
            recorder.metadata("process_labels", (PROCESS, 0), "labels", '"CPU"'),
            recorder.metadata("process_name", (DEVICE, 0), "name", '"python3.11"'),
            recorder.metadata("process_labels", (DEVICE, 0), "labels", '"GPU 0"'),
            recorder.metadata("process_sort_index", (DEVICE, 0), "sort_index", "5000000"),
            recorder.metadata("thread_name", MAIN, "name", '"thread 41230 (python)"'),
            recorder.metadata("thread_name", AUTOGRAD, "name", '"thread 41977 (pt_autograd_0)"'),
        ]
        for stream in self._gpu.free_ns:
            name = f'"stream {stream} "'
            text.append(recorder.metadata("thread_name", (DEVICE, stream), "name", name))
        span = (START_NS, max(self.now_ns, *self._gpu.free_ns.values()))
        lane = ('"Spans"', '"PyTorch Profiler"')
        count = recorder.arguments((("Op count", 0),))
        name = "PyTorch Profiler (0)"
        recorder.host_slice(recorder.keep(), "Trace", name, lane, span, count)
        return "".join(text) + recorder.take()[0]

    def _load(self) -> None:
        place, start_ns = self.recorder.keep(), self.now_ns
        self._pass(200_000, 400_000)
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        self._annotation(place, name, start_ns)
        size = 8 * self._shape.batch * self._shape.length
        self._copy("HtoD (Pinned -> Device)", COPIES, size)

    def _forward_layer(self, layer: int) -> None:
        self._shape = self._shape.routed(self._random)
        self._open(f"nn.Module: DecoderLayer_{layer}", module=layer)
        for part, (module, operators) in enumerate(FORWARD):
            self._open(f"nn.Module: {module}_{layer * len(FORWARD) + part}", module=part)
            self._open(f"transformer/layers.py({60 + 14 * part}): forward")
            for operator in operators:
                method = self._random.random() < 0.3
                if method:
                    address = 0x7F1B2C0D0000 + 0x50 * self._random.randrange(_TENSORS)
                    name = operator.name.rpartition(":")[2]
                    self._open(f"<built-in method {name} of Tensor object at {address:#x}>")
                self._call(operator, MAIN)
                if method:
                    self._close()
            self._close()
            self._close()
        self._close()

    def _backward(self) -> None:
        self._open("torch/_tensor.py(570): backward")
        self._open("torch/autograd/graph.py(800): _engine_run_backward")
        for layer in range(_LAYERS):
            self._shape = self._shape.routed(self._random)
            for operator in BACKWARD:
                self._call(operator, AUTOGRAD)
            if layer % _LAYERS_OF_A_BUCKET == _LAYERS_OF_A_BUCKET - 1:
                self._call(ALL_REDUCE, AUTOGRAD, NCCL)
        self._forward.clear()
        self._close()
        self._close()

    def _optimise(self) -> None:
        self._pass(*_BETWEEN_NS)
        place, start_ns = self.recorder.keep(), self.now_ns
        free_ns = self._gpu.free_ns
        free_ns[COMPUTE] = max(free_ns[COMPUTE], free_ns[NCCL])  # it needs the last gradients
        for _ in range(_LAYERS // 2):
            for operator in OPTIMISER:
                self._call(operator, MAIN)
        self._annotation(place, "Optimizer.step#AdamW.step", start_ns)

    def _read_loss(self) -> None:
        """``loss.item()``: the host waits until everything before has run."""
        self._pass(*_BETWEEN_NS)
        place, start_ns = self.recorder.keep(), self.now_ns
        external = self._count.next_external()
        self._pass(300, 900)
        self._copy("DtoH (Device -> Pageable)", COMPUTE, 4)
        self._pass(*_BETWEEN_NS)
        call_ns = self.now_ns
        self.now_ns = max(call_ns, *self._gpu.free_ns.values()) + 4_000
        span = (call_ns, self.now_ns)
        self._gpu.call(Call("cudaStreamSynchronize", 131, MAIN, span, external))
        self._pass(300, 900)
        self._operator_slice(place, "aten::item", MAIN, start_ns, external, "")

    def _call(self, operator: Operator, thread: Lane, stream: int = COMPUTE) -> None:
        """One operator with everything that it calls and launches."""
        self._pass(*_BETWEEN_NS)
        place, start_ns = self.recorder.keep(), self.now_ns
        external = self._count.next_external()
        recorded = self._sequenced(operator, thread) + self._inputs_of(operator)
        self._pass(300, 1_800)
        for child in operator.children:
            self._call(child, thread, stream)
        for kernel in operator.kernels:
            self._launch(KERNELS[kernel], thread, stream, external)
        if operator.kernels and self._random.random() < 0.25:
            name, callback = self._random.choice(OTHER_CALLS)
            self._pass(*_BETWEEN_NS)
            call_ns = self.now_ns
            self._pass(400, 2_000)
            self._gpu.call(Call(name, callback, thread, (call_ns, self.now_ns), external))
        self._pass(200, 2_400)
        self._operator_slice(place, operator.name, thread, start_ns, external, recorded)

    def _launch(self, kernel: Kernel, thread: Lane, stream: int, external: int) -> None:
        name, callback = self._random.choice(LAUNCHES)
        self._pass(*_BETWEEN_NS)
        call_ns = self.now_ns
        self._pass(2_600, 7_000)
        call = Call(name, callback, thread, (call_ns, self.now_ns), external)
        self._gpu.launch(call, kernel, stream, self._shape.batch * self._shape.length)

    def _copy(self, way: str, stream: int, size: int) -> None:
        self._pass(*_BETWEEN_NS)
        call_ns = self.now_ns
        self._pass(4_000, 12_000)
        span = (call_ns, self.now_ns)
        call = Call("cudaMemcpyAsync", 41, MAIN, span, self._count.external)
        self._gpu.copy(call, way, stream, size)

    def _sequenced(self, operator: Operator, thread: Lane) -> str:
        """The number that ties a forward operator to its backward one, as text."""
        if thread == MAIN and operator.children and operator.dims:
            self._count.sequence += 1
            number, forward = self._count.sequence, 0
            self._forward.append((number, self.now_ns))
        elif operator.name.endswith("Backward0") and ":" not in operator.name and self._forward:
            (number, begun_ns), forward = self._forward.pop(), 1
            recorder = self.recorder
            recorder.host += (
                recorder.arrow("fwdbwd", number, (MAIN, begun_ns)),
                recorder.arrow_head("fwdbwd", number, (AUTOGRAD, self.now_ns)),
            )
        else:
            return ""
        pairs = (("Sequence number", number), ("Fwd thread id", forward))
        return self.recorder.arguments(pairs) + self.recorder.layout.comma

    def _inputs_of(self, operator: Operator) -> str:
        """What the trace says about an operator's inputs, as text."""
        if not operator.dims:
            return ""
        shape = self._shape if "{t}" in operator.dims else self._shape.whole
        found = self._inputs.get((operator.dims, shape))
        if found is None:
            text = (
                f'"Concrete Inputs": {operator.concrete}, "Input type": {operator.types}, '
                f'"Input Dims": {operator.dims}, '
            )
            text = text.format(b=shape.batch, s=shape.length, t=shape.tokens)
            found = self._inputs[operator.dims, shape] = self.recorder.layout.fit(text)
        return found

    def _operator_slice(
        self, place: int, name: str, thread: Lane, start_ns: int, external: int, recorded: str
    ) -> None:
        ids = self.recorder.arguments((("External id", external), ("Record function id", 0)))
        index = self.recorder.arguments((("Ev Idx", self._count.next_index()),))
        arguments = f"{ids}{self.recorder.layout.comma}{recorded}{index}"
        span = (start_ns, self.now_ns)
        self.recorder.host_slice(place, "cpu_op", name, thread, span, arguments)

    def _annotation(self, place: int, name: str, start_ns: int) -> None:
        self._pass(*_BETWEEN_NS)
        ids = (("External id", self._count.next_external()), ("Record function id", 0))
        arguments = self.recorder.arguments((*ids, ("Ev Idx", self._count.next_index())))
        span = (start_ns, self.now_ns)
        self.recorder.host_slice(place, "user_annotation", name, MAIN, span, arguments)

    def _open(self, name: str, module: int | None = None) -> None:
        """Begins a Python frame of the main thread."""
        if not self._stacks:
            return
        self._pass(*_BETWEEN_NS)
        self._count.frames += 1
        number = self._count.frames
        ids: list[tuple[str, object]] = [
            ("Python parent id", self._frames[-1].number if self._frames else "null"),
            ("Python id", number),
        ]
        if module is not None:
            ids.append(("Python module id", module))
        arguments = self.recorder.arguments((*ids, ("Ev Idx", self._count.next_index())))
        self._frames.append(_Frame(self.recorder.keep(), self.now_ns, name, number, arguments))
        self._pass(150, 500)

    def _close(self) -> None:
        if not self._stacks:
            return
        frame = self._frames.pop()
        self._pass(150, 500)
        self.recorder.host_slice(
            frame.place,
            "python_function",
            frame.name,
            MAIN,
            (frame.start_ns, self.now_ns),
            frame.arguments,
        )

    def _pass(self, least_ns: int, most_ns: int) -> None:
        self.now_ns += least_ns + int(self._random.random() * (most_ns - least_ns))


@dataclass(frozen=True, slots=True)
class _Shape:
    """Sizes of a step's tensors: batch, sequence length, and tokens that a layer's expert gets."""

    batch: int
    length: int
    tokens: int

    @property
    def whole(self) -> _Shape:
        return _Shape(self.batch, self.length, 0)

    def routed(self, random: Random) -> _Shape:
        return _Shape(self.batch, self.length, random.choice(_TOKENS))


@dataclass(slots=True)
class _Counters:
    """Numbers that the recorder gives out."""

    steps: int = 0
    external: int = 2_048
    index: int = 0
    frames: int = 0
    sequence: int = 0

    def next_external(self) -> int:
        self.external += 1
        return self.external

    def next_index(self) -> int:
        self.index += 1
        return self.index
