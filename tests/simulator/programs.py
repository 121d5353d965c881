"""Programs as people write them: training and inference loops, with causes planted in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.simulator.actions import (
    COMM,
    COMPUTE,
    COPY,
    BlockingCopy,
    Call,
    Fetch,
    Frames,
    Join,
    Launch,
    Node,
    Note,
    On,
    Op,
    Overhead,
    Past,
    Program,
    Wait,
    Work,
)
from tests.simulator.costs import US, Draw
from tests.simulator.later_plants import (
    RECEIVE,
    RESUME,
    broken,
    collection,
    compiling,
    per_tensor_update,
    receiving,
    region,
)

CALL_MODULE = "torch/nn/modules/module.py(1743): _call_impl"
FETCH = "torch/utils/data/_utils/fetch.py(51): fetch"
FORWARD = "model.py(40): forward"
LOADER = "torch/utils/data/dataloader.py(701): __next__"
SINGLE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


@dataclass(frozen=True, slots=True)
class Plant:
    """A cause to plant: about ``ns`` each time, in every ``every``-th step, done ``how``."""

    cause: str
    ns: int
    every: int = 1
    how: str = ""


@dataclass(frozen=True, slots=True)
class Style:
    """The program around the plants.

    Attributes:
        layers: modules of the model.
        kernel_us: median length of a forward kernel.
        train: with a backward pass on the autograd thread and an optimizer.
        steps, lead: steps recorded, and run before.
        collectives: microseconds of each of the covered gradient reductions, 0 for none.
        graph: forward passes are graph launches of this many kernels, 0 for none.
        slow_first: the first recorded step's operators take this many times as long.
        drained: the queue is empty when recording starts.
        compiled: ``whole`` (one region), ``regional`` (one per layer) or empty.
        first_compile: nanoseconds that the first recorded step compiles.
    """

    layers: int = 14
    kernel_us: float = 150.0
    train: bool = True
    steps: int = 4
    lead: int = 2
    collectives: int = 0
    graph: int = 0
    slow_first: int = 1
    drained: bool = True
    compiled: str = ""
    first_compile: int = 0


@dataclass(slots=True)
class Builder:
    """Builds one program."""

    draw: Draw
    style: Style
    plants: tuple[Plant, ...]
    uid: int = 0
    step: int = 0
    batch: int = 0
    factor: int = 1

    def program(self) -> Program:
        """All steps, the lead included."""
        steps = []
        for i in range(self.style.lead + self.style.steps):
            self.step = i - self.style.lead
            self.factor = self.style.slow_first if self.step == 0 else 1
            steps.append(tuple(self._step()))
        sync = Call("cudaDeviceSynchronize", 6 * US, "device")
        return Program(
            self.style.lead, tuple(steps), (sync,), drained=self.style.drained,
            causes=frozenset(p.cause for p in self.plants)
            | (frozenset({"warm-up"}) if self.style.first_compile else frozenset()),
            noted=any(p.how.startswith("noted-") for p in self.plants),
        )  # fmt: skip

    def _due(self, cause: str) -> Plant | None:
        for plant in self.plants:
            if plant.cause == cause and self.step % plant.every == plant.every - 1:
                return plant
        return None

    # What a step is made of

    def _step(self) -> list[Node]:
        nodes: list[Node] = []
        nodes += self._loader()
        nodes += self._input()
        nodes += self._between_phases("python-overhead", "start")
        body = self._compile() + self._forward()
        nodes.append(Frames(("model.py(40): forward",), tuple(body)))
        if self.style.train:
            nodes += self._loss()
            nodes += self._backward()
            nodes += self._optimizer()
        nodes += self._end()
        return [Frames(("train.py(120): <module>", "train.py(77): train_epoch"), tuple(nodes))]

    def kernel(
        self,
        ns: int,
        stream: int = COMPUTE,
        name: str = "",
        kind: str = "kernel",
        bytes: int = 0,
        comm: bool = False,
        cause: str | None = None,
    ) -> Work:
        """A GPU activity with its own latency and spacing."""
        self.uid += 1
        name = name or f"void at::native::vectorized_elementwise_kernel<4, F{self.uid % 7}>(int)"
        latency, spacing = self.draw.latency(), self.draw.spacing()
        return Work(
            self.uid, name, max(ns, 1200), latency, spacing, stream, kind, bytes, comm, cause
        )

    def launch(self, ns: int, cause: str | None = None) -> Launch:
        """A call that launches one kernel."""
        return Launch("cudaLaunchKernel", self.draw.call(), (self.kernel(ns),), cause)

    def op(
        self, name: str, kernels: tuple[Node, ...], cause: str | None = None, inner: str = ""
    ) -> list[Node]:
        """An operator with the pause before it."""
        front = self.factor * self.draw.operator()
        body: tuple[Node, ...] = kernels
        if inner:
            body = (Op(inner, front // 2, kernels, self.draw.operator() // 4),)
            front //= 2
        shapes = ((32, 256), (256, 256))
        return [
            Wait(self.factor * self.draw.between(), cause),
            Op(name, front, body, self.draw.operator() // 4, cause, shapes),
        ]

    def length(self, median_us: float) -> int:
        return self.draw.spread((median_us, median_us * 3))

    # Input

    def _loader(self) -> list[Node]:
        plant = self._due("dataloader-wait")
        if plant is None:
            return []
        index, self.batch = self.batch, self.batch + 1
        ns = self.draw.around(plant.ns)
        if plant.how == "workers":
            fetch = Fetch(index, 2, 2, 2 * ns, self.draw.around(90 * US), 40 * US)
            names: tuple[str, ...] = (
                LOADER,
                "torch/utils/data/dataloader.py(1445): _next_data",
                "torch/utils/data/dataloader.py(1280): _try_get_data",
                "multiprocessing/queues.py(113): get",
                "multiprocessing/connection.py(253): poll",
            )
            inside: tuple[Node, ...] = (Frames(names, (fetch,)),)
            note = WORKERS
        else:
            names = (LOADER, "torch/utils/data/dataloader.py(757): _next_data", FETCH)
            item = (Frames(("dataset.py(31): __getitem__", "PIL/Image.py(2200): resize"), (Wait(ns // 2),)),
                    Frames(("torch/utils/data/_utils/collate.py(277): default_collate",),
                           (Op("aten::stack", ns // 8, (Op("aten::cat", ns // 4),), ns // 8),)))  # fmt: skip
            inside = (Frames(names, item),)
            note = SINGLE
        return [Note(note, "loader", inside, "dataloader-wait")]

    def _input(self) -> list[Node]:
        nodes: list[Node] = []
        plant = self._due("h2d-pageable")
        if plant is not None:
            ns = self.draw.around(plant.ns)
            work = self.kernel(
                ns, name="Memcpy HtoD (Pageable -> Device)", kind="memcpy", bytes=ns * 6,
                cause="h2d-pageable",
            )  # fmt: skip
            staged = ns // 12 + 10 * US
            copy = BlockingCopy("cudaMemcpyAsync", work, staged, -(ns // 25), "h2d-pageable")
            wait = Call("cudaStreamSynchronize", 6 * US, "stream", "h2d-pageable")
            nodes += self._copy_op((copy, wait), "h2d-pageable")
        plant = self._due("h2d-exposed")
        if plant is not None:
            side = COPY if plant.how == "side" else COMPUTE
            ns = self.draw.around(plant.ns)
            work = self.kernel(
                ns, side, "Memcpy HtoD (Pinned -> Device)", kind="memcpy", bytes=ns * 20,
                cause="h2d-exposed",
            )  # fmt: skip
            copy_call = Launch("cudaMemcpyAsync", self.draw.call(), (work,))
            before: list[Node] = [Join(COPY, COMPUTE, US)] if side == COPY else []
            after: list[Node] = [Join(COMPUTE, COPY, US)] if side == COPY else []
            nodes += self._copy_op((*before, copy_call, *after), "h2d-exposed")
        return nodes

    def _copy_op(self, inside: tuple[Node, ...], cause: str) -> list[Node]:
        inner = Op("aten::_to_copy", 20 * US, (Op("aten::copy_", 15 * US, inside, 5 * US),), 3 * US)
        op = Op("aten::to", 8 * US, (inner,), 3 * US)
        frame = "<built-in method to of Tensor object at 0x7f10>"
        return [Wait(self.draw.between(), cause), Frames((frame,), (op,), cause)]

    # Model

    def _compile(self) -> list[Node]:
        if self.style.first_compile and self.step == 0:
            return compiling(self, self.style.first_compile, "warm-up")
        plant = self._due("recompile")
        if plant is None or self.step < 1:
            return []
        return compiling(self, self.draw.around(plant.ns), "recompile")

    def _forward(self) -> list[Node]:
        if self.style.graph:
            return self._graph()
        return self._broken() if self._breaks() else self._layers(0, self.style.layers)

    def _breaks(self) -> bool:
        return bool(self.style.compiled == "whole" or self._due("graph-break"))

    def _broken(self) -> list[Node]:
        """A compiled model, in two parts where its graph breaks."""
        plant, middle, frame = self._due("graph-break"), self.style.layers // 2, FORWARD
        if plant is None:
            return region("0/0", frame, tuple(self._layers(0, self.style.layers)))
        graph = tuple(self._layers(0, middle))
        nodes = broken(self, self.draw.around(plant.ns), plant.how)
        rest = region("1/0", RESUME, tuple(self._layers(middle, self.style.layers)))
        return region("0/0", frame, graph, (*nodes, *rest))

    def _layers(self, first: int, last: int) -> list[Node]:
        nodes: list[Node] = []
        for i in range(first, last):
            layer = self._layer(i)
            if self.style.compiled == "regional":
                layer = region(f"{i}/0", FORWARD, tuple(layer))
            nodes.append(
                Frames(
                    (f"nn.Module: Block_{i}", CALL_MODULE, f"model.py({60 + i}): forward"),
                    tuple(layer),
                )
            )
            if i == self.style.layers // 2:
                nodes += self._tiny("launch-bound")
            if i == self.style.layers // 3:
                nodes += self._sync("forward")
                nodes += self._between_phases("cpu-operator", "")
            if i == 2 * self.style.layers // 3:
                nodes += self._between_phases("python-overhead", "forward")
                nodes += self._pause_of_collector()
                nodes += self._all_to_all()
                nodes += self._receive()
        return nodes

    def _pause_of_collector(self) -> list[Node]:
        plant = self._due("gc-pause")
        return collection(self.draw.around(plant.ns)) if plant is not None else []

    def _receive(self) -> list[Node]:
        plant = self._due("pipeline-bubble")
        return receiving(self, self.draw.around(plant.ns)) if plant is not None else []

    def _layer(self, i: int) -> list[Node]:
        first = self._module(i, self.launch(self.length(self.style.kernel_us)))
        inside: tuple[Node, ...] = (*self._allocation(i), first)
        nodes = self.op("aten::linear", inside, inner="aten::addmm")
        if i % 2:
            nodes += self._sync("layers")
        nodes += self.op("aten::relu", (self.launch(self.length(self.style.kernel_us / 4)),))
        return nodes

    def _graph(self) -> list[Node]:
        works = []
        for i in range(self.style.graph):
            work = self.kernel(self.length(self.style.kernel_us / 8))
            if i % 17 == 16:  # a dependency inside the graph: longer than any spacing
                work = Work(work.uid, work.name, work.ns, work.latency, self.draw.around(18 * US))
            works.append(work)
        call = Launch("cudaGraphLaunch", self.draw.around(120 * US), tuple(works))
        nodes = self.op("aten::copy_", (self.launch(3 * US),))
        nodes += [Wait(self.draw.between()), call]
        nodes += self._sync("forward")
        nodes += self._between_phases("cpu-operator", "")
        nodes += self._between_phases("python-overhead", "forward")
        return nodes

    def _tiny(self, cause: str) -> list[Node]:
        """Many small kernels: the host cannot keep up, however long the plant is to last."""
        plant = self._due(cause)
        nodes: list[Node] = []
        spent = 0
        while plant is not None and spent < plant.ns:
            added = self.op("aten::mul", (self.launch(self.length(3.0), cause=cause),), cause)
            spent += 40 * US
            nodes += added
        return nodes

    def _allocation(self, i: int) -> tuple[Node, ...]:
        plant = self._due("allocator")
        if plant is None or i % 5 != 2:
            return ()
        parts = len([k for k in range(self.style.layers) if k % 5 == 2])
        ns = self.draw.around(plant.ns // max(parts, 1))
        if plant.how == "free":
            return (
                Call("cudaFree", ns // 2, "device", "allocator"),
                Op("aten::empty", 3 * US, (Call("cudaMalloc", ns // 2),), US, "allocator"),
            )
        return (Op("aten::empty", 3 * US, (Call("cudaMalloc", ns),), US, "allocator"),)

    def _module(self, i: int, launch: Launch) -> Launch:
        """The launch, slowed down where it is the one that loads device code."""
        plant = self._due("module-load")
        if plant is None or i != 3:
            return launch
        return replace(
            launch,
            slow=self.draw.around(plant.ns),
            slow_cause="module-load",
            slow_overhead="Lazy Function Loading" if plant.how == "overhead" else "",
            slow_inside="cuLibraryLoadData" if plant.how == "driver" else "",
        )

    def _between_phases(self, cause: str, place: str) -> list[Node]:
        """Host work between operators: Python, an operator on CPU tensors, the profiler."""
        nodes: list[Node] = []
        plant = self._due(cause)
        if cause == "cpu-operator":
            if plant is not None:
                ns = self.draw.around(plant.ns)
                nodes.append(Op("aten::sort", ns, (), 2 * US, cause, ((100000,),)))
            return nodes
        if plant is not None and plant.how.removeprefix("noted-") == place:
            ns = self.draw.around(plant.ns)
            names = (
                "augment.py(88): tokenize",
                "augment.py(21): clean",
                "re/__init__.py(186): sub",
            )
            python: Node = Frames(names, (Wait(ns),), cause)
            if plant.how.startswith("noted-"):
                python = Note("## tokenize ##", "note", (python,), cause)
            nodes.append(python)
        if place == "forward":
            plant = self._due("profiler-overhead")
            if plant is not None:
                name = "Activity Buffer Request" if self.step % 2 else "Buffer Flush"
                pause = Overhead(name, self.draw.around(plant.ns), "profiler-overhead")
                if plant.how == "between":
                    nodes.append(pause)
                else:
                    nodes += self.op("aten::copy_", (pause, self.launch(4 * US)))
            plant = self._due("unattributed")
            if plant is not None:
                nodes.append(Wait(self.draw.around(plant.ns), "unattributed"))
        return nodes

    # Waiting for the device

    def _sync(self, place: str) -> list[Node]:
        plant = self._due("host-sync")
        if plant is None or (plant.how.partition(":")[2] or "end") != place:
            return []
        kind = plant.how.partition(":")[0]
        cause = "host-sync"
        if kind == "synchronize":
            frame = "torch/cuda/__init__.py(985): synchronize"
            return [Frames((frame,), (Call("cudaDeviceSynchronize", 5 * US, "device"),), cause)]
        pause = Wait(self.draw.between(), cause)
        back = self.kernel(
            1500, name="Memcpy DtoH (Device -> Pageable)", kind="memcpy", bytes=8, cause=cause
        )
        if kind == "pinned":
            copy: tuple[Node, ...] = (
                Launch("cudaMemcpyAsync", 7 * US, (back,)),
                Call("cudaStreamSynchronize", 4 * US, "stream"),
            )
        else:
            copy = (
                BlockingCopy("cudaMemcpyAsync", back, 9 * US, 7 * US),
                Call("cudaStreamSynchronize", 3 * US),
            )
        if kind == "nonzero":  # what counts stays without the sync: its result has one size then
            count = Launch("cudaLaunchKernel", self.draw.call(), (self.kernel(4 * US),))
            back_copy = tuple(replace(node, cause=cause) for node in copy)
            return [Wait(self.draw.between()),
                    Op("aten::nonzero", 12 * US, (count, *back_copy), 6 * US)]  # fmt: skip
        elif kind == "cpu":
            op = Op(
                "aten::to",
                4 * US,
                (Op("aten::_to_copy", 6 * US, (Op("aten::copy_", 5 * US, copy, 2 * US),)),),
            )
        else:
            op = Op("aten::item", US, (Op("aten::_local_scalar_dense", 2 * US, copy, 2 * US),), US)
        return [
            pause,
            Frames((f"<built-in method {kind} of Tensor object at 0x7f1>",), (op,), cause),
        ]

    def _loss(self) -> list[Node]:
        nodes = self.op("aten::cross_entropy_loss", (self.launch(12 * US), self.launch(5 * US)))
        return nodes + self._sync("loss")

    # Communication

    def _all_to_all(self) -> list[Node]:
        plant = self._due("exposed-comm")
        if plant is None or plant.how != "forward":
            return []
        return self._collective(self.draw.around(plant.ns), "exposed-comm", "all_to_all", wait=True)

    def _collective(self, ns: int, cause: str | None, name: str, wait: bool) -> list[Node]:
        kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
        if name == "all_to_all":
            kernel = RECEIVE  # NCCL has one kernel for both
        work = self.kernel(ns, COMM, kernel, comm=True, cause="exposed-comm")
        inside: list[Node] = [Join(COMM, COMPUTE, US)]
        inside.append(Launch("cudaLaunchKernelExC", self.draw.call(), (work,)))
        if wait:
            inside.append(Join(COMPUTE, COMM, US))
        record = Op("record_param_comms", 6 * US, tuple(inside), 4 * US)
        return [
            Wait(self.draw.between(), cause),
            Op(f"c10d::{name}_", 8 * US, (record,), 3 * US, cause),
        ]

    # Backward and optimizer

    def _backward(self) -> list[Node]:
        nodes: list[Node] = []
        every = max(self.style.layers // 3, 1)
        plant = self._due("exposed-comm")
        exposed = plant if plant is not None and plant.how != "forward" else None
        for i in range(self.style.layers):
            inside = (self.launch(self.length(self.style.kernel_us)),)
            more = (self.launch(self.length(self.style.kernel_us)),)
            ops = (
                *self.op("aten::mm", inside),
                *self.op("aten::mm", more),
            )
            name = "autograd::engine::evaluate_function: AddmmBackward0"
            nodes += [
                Wait(self.draw.between()),
                Op(name, 3 * US, (Op("AddmmBackward0", 2 * US, ops, 2 * US),), 3 * US),
            ]
            last = i == self.style.layers - 1
            if i % every == every - 1 or last:
                if exposed is not None and last:
                    nodes += self._collective(
                        self.draw.around(exposed.ns), "exposed-comm", "allreduce", False
                    )
                elif self.style.collectives and not last:
                    nodes += self._collective(
                        self.draw.around(self.style.collectives * US), None, "allreduce", False
                    )
        there, back = self.draw.around(60 * US, 0.4), self.draw.around(40 * US, 0.4)
        names = (
            "torch/_tensor.py(570): backward",
            "torch/autograd/__init__.py(242): backward",
            "torch/autograd/graph.py(800): _engine_run_backward",
            "<built-in method run_backward of torch._C._EngineBase object at 0x7f2>",
        )
        after: list[Node] = [Join(COMPUTE, COMM, US)] if exposed or self.style.collectives else []
        return [Frames(names, (On(there, back, tuple(nodes)),)), *after]

    def _optimizer(self) -> list[Node]:
        plant = self._due("optimizer-loop")
        if plant is not None:
            return per_tensor_update(self, self.draw.around(plant.ns))
        body: list[Node] = []
        for name in ("aten::_foreach_mul_", "aten::_foreach_add_", "aten::_foreach_addcdiv_"):
            body += self.op(name, (self.launch(self.length(self.style.kernel_us / 2)),))
        frames = Frames(
            ("torch/optim/optimizer.py(484): wrapper", "torch/optim/sgd.py(80): step"), tuple(body)
        )
        return [Wait(self.draw.between()), Note("Optimizer.step#SGD.step", "note", (frames,))]

    def _end(self) -> list[Node]:
        nodes = self._sync("end")
        plant = self._due("covered-sync")
        if plant is not None:  # waits for an event of the step before the last
            key = self.step
            nodes.append(Past(key, US))
            nodes.append(Call("cudaEventSynchronize", 3 * US, f"past{key - 2}"))
        nodes.append(Wait(self.draw.around(20 * US, 0.5)))
        return nodes


def build(draw: Draw, style: Style, plants: tuple[Plant, ...]) -> Program:
    """One program with its plants."""
    return Builder(draw, style, plants).program()
