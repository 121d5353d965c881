"""One ResNet-18 training whose problem changes: the windows that ``whichlayer demo --live`` shows.

The program of ``programs/dataloader_bound.py`` with one thing changed at a time: ``loader`` makes
every batch on the main thread, ``fixed`` has worker processes, ``sync`` reads the loss of every
micro-batch with ``.item()``, ``pageable`` copies images of floats from memory that is not pinned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sample_traces.generator import resnet
from sample_traces.generator.devices import A100
from sample_traces.generator.engine import backward
from sample_traces.generator.kineto import write_trace
from sample_traces.generator.loaders import next_from_workers, next_in_process
from sample_traces.generator.optimisers import foreach_sgd, zero_grad
from sample_traces.generator.pointwise import cast
from sample_traces.generator.programs.dataloader_bound import BATCH, make_sample
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import BYTE, FLOAT, LONG, channels_last, tensor
from sample_traces.generator.transfers import item, to_device

STEPS = 2
#: Microseconds of Python after each loss that is read, while the device has nothing to do.
METRICS_COST = 700.0


@dataclass(frozen=True, slots=True)
class Phase:
    """What is wrong in a stretch of the training."""

    in_process: bool = False
    micro_batches: int = 1
    reads_loss: bool = False
    pinned: bool = True


PHASES: dict[str, Phase] = {
    "loader": Phase(in_process=True),
    "fixed": Phase(),
    "sync": Phase(micro_batches=4, reads_loss=True),
    "pageable": Phase(pinned=False),
}


def _step(session: Session, phase: Phase, index: int) -> None:
    rt = session.rt
    size = BATCH // phase.micro_batches
    kind = BYTE if phase.pinned else FLOAT
    images = tensor((size, 3, 224, 224), kind)
    labels = tensor((size,), LONG)
    zero_grad(rt, "SGD")
    for _ in range(phase.micro_batches):
        if phase.in_process:
            next_in_process(rt, size, partial(make_sample, session), labels)
        else:
            next_from_workers(rt, 160.0, pinned=phase.pinned)
        with rt.thread.frame("train.py(44): train_step", pre=3.0):
            to_device(rt, images, pinned=phase.pinned)
            to_device(rt, labels, pinned=phase.pinned)
            x = channels_last(size, 3, 224, 224, kind)
            if kind is not FLOAT:
                x = cast(rt, x, FLOAT)
            logits = resnet.forward(rt, x)
            loss = resnet.loss_of(rt, logits, labels)
            backward(rt)
            if phase.reads_loss:
                with rt.thread.frame("train.py(52): log_loss", pre=1.0):
                    item(rt, loss)
                    with rt.thread.frame("metrics.py(17): moving_average"):
                        rt.thread.spend(METRICS_COST, "sample")
    foreach_sgd(rt, resnet.parameters())


def window_text(name: str) -> str:
    """The trace of a window of one phase."""
    session = Session(A100, f"live-{name}", 51_377, Script("train.py", 79, 38), True, first_step=3)
    session.run(STEPS, partial(_step, session, PHASES[name]))
    return write_trace(session.machine, 60_000_000_000, session.window, "C0FFEE")


WINDOWS: dict[str, Callable[[], str]] = {name: partial(window_text, name) for name in PHASES}
