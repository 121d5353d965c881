"""Causes of compiled, distributed and looping programs, as nodes to plant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulator.actions import (
    COMM,
    COMPUTE,
    BlockingCopy,
    Call,
    Frames,
    Instead,
    Join,
    Launch,
    Node,
    Note,
    Op,
    Wait,
)
from tests.simulator.costs import US

if TYPE_CHECKING:
    from tests.simulator.programs import Builder

RECEIVE = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
CONVERT = "torch/_dynamo/convert_frame.py(1130): _compile"
INDUCTOR = "torch/_inductor/compile_fx.py(1520): compile_fx"
RESUME = "model.py(40): torch_dynamo_resume_in_forward_at_52"
SINGLE_TENSOR = "torch/optim/adam.py(392): _single_tensor_adam"
UPDATES = ("aten::lerp_", "aten::mul_", "aten::addcmul_", "aten::addcdiv_")


def collection(ns: int) -> list[Node]:
    """Python's garbage collector at work."""
    return [Note("Python GC", "gc", (Wait(ns),), "gc-pause")]


def compiling(build: Builder, ns: int, cause: str) -> list[Node]:
    """Dynamo and Inductor compile, load the result, measure it and wait for the outcome."""
    trial = build.kernel(40 * US, name="triton_poi_fused_add_0", cause=cause)
    back = build.kernel(1500, name="Memcpy DtoH (Device -> Pageable)", kind="memcpy", bytes=8,
                        cause=cause)  # fmt: skip
    measured: tuple[Node, ...] = (
        Call("cuModuleLoadData", 150 * US, category="cuda_driver"),
        Launch("cuLaunchKernel", 6 * US, (trial,), category="cuda_driver"),
        Call("cudaDeviceSynchronize", 6 * US, "device"),
        Op("aten::item", 2 * US, (BlockingCopy("cudaMemcpyAsync", back, 9 * US, 7 * US),), US),
    )
    inductor = Note("compile_fx_inner (dynamo_timed)", "compile", (Wait(ns // 3), *measured))
    lowered = Frames((INDUCTOR,), (Wait(ns // 6), inductor))
    whole = Note("_compile.compile_inner (dynamo_timed)", "compile",
                 (Wait(ns // 6), lowered, Wait(ns // 3)), cause)  # fmt: skip
    return [Frames((CONVERT,), (whole,), cause)]


def region(
    name: str, frame: str, graph: tuple[Node, ...], rest: tuple[Node, ...] = ()
) -> list[Node]:
    """A compiled function behind the look-up of its guards: its graph, and what follows it."""
    ran = Note("## Call CompiledFxGraph fwwpcmji3ma7 ##", "compile", graph)
    return [
        Op("TorchDynamo Cache Lookup", 12 * US),
        Op(f"Torch-Compiled Region: {name}", 15 * US, (Frames((frame,), (ran, *rest)),), 5 * US),
    ]


def broken(build: Builder, ns: int, how: str) -> list[Node]:
    """What runs between two graphs: Python that cannot be traced, or operators one by one."""
    cause = "graph-break"
    if how == "python":
        return [Frames(("rules.py(12): pick", "json/encoder.py(183): encode"), (Wait(ns),), cause)]
    nodes: list[Node] = []
    works = [build.kernel(3 * US, cause=cause) for _ in range(-(-ns // (40 * US)))]
    for kernel in works:
        nodes += build.op("aten::mul", (Launch("cudaLaunchKernel", build.draw.call(), (kernel,)),),
                          cause)  # fmt: skip
    together = Launch("cudaLaunchKernel", build.draw.call(), tuple(works))
    return [*nodes, Instead(cause, (together,))]


def per_tensor_update(build: Builder, ns: int) -> list[Node]:
    """An optimizer that goes from tensor to tensor; without that one call does it all."""
    cause = "optimizer-loop"
    nodes: list[Node] = []
    works = [build.kernel(build.length(3.0), cause=cause) for _ in range(ns // (40 * US))]
    for i, work in enumerate(works):
        launch = Launch("cudaLaunchKernel", build.draw.call(), (work,))
        nodes += build.op(UPDATES[i % len(UPDATES)], (launch,), cause)
    names = ("torch/optim/optimizer.py(484): wrapper", "torch/optim/adam.py(150): step",
             SINGLE_TENSOR)  # fmt: skip
    together = Launch("cudaLaunchKernel", build.draw.call(), tuple(works))
    return [
        Note("Optimizer.step#Adam.step", "note", (Frames(names, tuple(nodes)),), cause),
        Instead(cause, (Op("aten::_fused_adam_", 20 * US, (together,), 5 * US),)),
    ]


def receiving(build: Builder, ns: int) -> list[Node]:
    """A receive that spins until the stage before has its result; the next kernel needs it."""
    cause = "pipeline-bubble"
    work = build.kernel(ns, COMM, RECEIVE, comm=True, cause=cause, bytes=4 << 20)
    inside: tuple[Node, ...] = (
        Join(COMM, COMPUTE, US),
        Launch("cudaLaunchKernelExC", build.draw.call(), (work,)),
        Join(COMPUTE, COMM, US),
    )
    note = Note("nccl:recv 1<-0", "note", inside)
    record = Op("record_param_comms", 6 * US, (note,), 4 * US)
    return [Wait(build.draw.between(), cause), Op("c10d::recv_", 8 * US, (record,), 3 * US, cause)]
