"""Eager PyTorch on the machine: operators with arguments, modules, and the autograd tape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from sample_traces.generator.kernels import Kernel
from sample_traces.generator.machine import Machine, Thread
from sample_traces.generator.records import Activity, OpEvent
from sample_traces.generator.tensors import Argument, Tensor, print_arguments

#: Where ``forward`` of a module starts, as torch 2.6 has it.
FORWARD = {
    "Linear": "torch/nn/modules/linear.py(124): forward",
    "LayerNorm": "torch/nn/modules/normalization.py(216): forward",
    "Embedding": "torch/nn/modules/sparse.py(189): forward",
    "GELU": "torch/nn/modules/activation.py(733): forward",
    "SiLU": "torch/nn/modules/activation.py(432): forward",
    "ReLU": "torch/nn/modules/activation.py(133): forward",
    "Conv2d": "torch/nn/modules/conv.py(553): forward",
    "BatchNorm2d": "torch/nn/modules/batchnorm.py(141): forward",
    "MaxPool2d": "torch/nn/modules/pooling.py(212): forward",
    "AdaptiveAvgPool2d": "torch/nn/modules/pooling.py(1479): forward",
    "Sequential": "torch/nn/modules/container.py(248): forward",
    "CrossEntropyLoss": "torch/nn/modules/loss.py(1292): forward",
}


@dataclass(slots=True)
class Node:
    """A step of the backward pass: what it runs and which parameters get a gradient from it."""

    name: str
    gradient: Tensor
    run: Callable[[], None]
    parameters: Sequence[Tensor]
    sequence: int
    forward: OpEvent


class Eager:
    """A simulated training or inference program on one GPU."""

    def __init__(self, machine: Machine, main: Thread, autograd: Thread | None = None) -> None:
        self.machine = machine
        self.main = main
        self.autograd = autograd
        self.thread = main
        self.grad_enabled = autograd is not None
        #: Gradients exist already, so that new ones are added (gradient accumulation).
        self.accumulating = False
        self.tape: list[Node] = []
        self._sequence = 0
        self._flows = 0
        self._modules: dict[str, int] = {}

    @contextmanager
    def op(
        self,
        name: str,
        *arguments: Argument,
        differentiable: bool = False,
        pre: float = 1.1,
        post: float = 0.45,
    ) -> Iterator[OpEvent]:
        """An operator with its recorded arguments on the current thread."""
        with self.thread.op(name, pre=pre, post=post) as event:
            event.shapes = print_arguments(arguments)
            if differentiable and self.grad_enabled:
                event.sequence = self._sequence
            yield event

    def launch(self, kernel: Kernel) -> Activity:
        """Launch a kernel from the current thread."""
        return self.thread.launch(kernel)

    @contextmanager
    def module(self, kind: str, key: str, forward: str = "", builtin: str = "") -> Iterator[None]:
        """The frames of a call of an nn.Module; ``key`` tells instances of one class apart."""
        number = self._modules.setdefault(f"{kind}/{key}", self._count(kind))
        with ExitStack() as stack:
            enter = stack.enter_context
            enter(self.thread.frame(f"nn.Module: {kind}_{number}", module_id=number))
            enter(self.thread.frame("torch/nn/modules/module.py(1743): _call_impl"))
            enter(self.thread.frame(forward or FORWARD[kind], pre=1.2))
            for _ in range(2):  # looking up sub-modules or parameters
                with self.thread.frame("torch/nn/modules/module.py(1915): __getattr__", pre=0.2):
                    pass
            if builtin:
                enter(self.thread.frame(builtin, pre=1.0))
            yield

    def next_flow(self) -> int:
        """The id of the next arrow from forward to backward."""
        self._flows += 1
        return self._flows

    def _count(self, kind: str) -> int:
        return sum(1 for known in self._modules if known.startswith(f"{kind}/"))

    def record(
        self,
        name: str,
        forward: OpEvent,
        gradient: Tensor,
        run: Callable[[], None],
        parameters: Sequence[Tensor] = (),
    ) -> None:
        """Put a step on the tape; nothing under ``no_grad``."""
        if not self.grad_enabled:
            return
        self.tape.append(Node(name, gradient, run, parameters, self._sequence, forward))
        self._sequence += 1
