"""The autograd engine: one thread runs the tape while the caller of ``backward`` waits."""

from __future__ import annotations

from contextlib import ExitStack

from sample_traces.generator.eager import Eager, Node
from sample_traces.generator.pointwise import add_
from sample_traces.generator.tensors import Tensor

#: Microseconds until the autograd thread has taken over, and until the caller goes on.
HAND_OVER = 62.0
HAND_BACK = 38.0


def backward(rt: Eager) -> None:
    """``loss.backward()``."""
    engine, caller = rt.autograd, rt.thread
    assert engine is not None, "this program has no autograd thread"
    with ExitStack() as stack:
        for frame in (
            "torch/_tensor.py(570): backward",
            "torch/autograd/__init__.py(243): backward",
            "torch/autograd/graph.py(815): _engine_run_backward",
            "<built-in method run_backward of torch._C._EngineBase object at 0x7f2a64b0c9d0>",
        ):
            stack.enter_context(caller.frame(frame, pre=1.6))
        caller.spend(14.0)
        engine.now = max(engine.now, caller.now)
        engine.spend(HAND_OVER, "hand over")
        rt.thread = engine
        for node in reversed(rt.tape):
            _run(rt, node)
        rt.thread = caller
        caller.now = max(caller.now, engine.now)
        caller.spend(HAND_BACK, "hand over")
    rt.tape.clear()


def _run(rt: Eager, node: Node) -> None:
    name = f"autograd::engine::evaluate_function: {node.name}"
    flow = rt.next_flow()
    with rt.thread.op(name, pre=1.0, post=0.8) as outer:
        outer.sequence, outer.forward_thread = node.sequence, 1
        with rt.op(node.name, node.gradient, pre=1.4) as inner:
            inner.sequence, inner.forward_thread = node.sequence, 1
            inner.flow, node.forward.flow = ("f", flow), ("s", flow)
            rt.grad_enabled = False
            node.run()
            rt.grad_enabled = True
    for parameter in node.parameters:
        _accumulate(rt, parameter)


def _accumulate(rt: Eager, parameter: Tensor) -> None:
    name = "torch::autograd::AccumulateGrad"
    with (
        rt.thread.op(f"autograd::engine::evaluate_function: {name}", pre=0.9),
        rt.op(name, parameter, pre=0.7),
    ):
        if rt.accumulating:
            add_(rt, parameter, parameter)
            return
        with (
            rt.op("aten::detach", parameter, pre=0.5, post=0.3),
            rt.op("detach", parameter, pre=0.2, post=0.15),
        ):
            pass
