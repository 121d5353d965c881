"""ResNet-18 training whose batches are copied from pageable memory: each copy stops everything.

The loader's workers are fast; ``pin_memory`` was left out. ``images.to(device)`` then waits for all
earlier kernels, copies at a quarter of the link's rate, and leaves an empty queue behind.

The profiled program (``train.py``)::

    36  def main():
    58      loader = DataLoader(train_set, batch_size=128, num_workers=12)    # no pin_memory: planted
    64      for images, labels in loader:
    65          train_step(images, labels)
    43  def train_step(images, labels):
    31  def to_gpu(images, labels):
    32      return images.to(device), labels.to(device)
"""

from __future__ import annotations

from functools import partial

from sample_traces.generator import resnet
from sample_traces.generator.devices import A100
from sample_traces.generator.engine import backward
from sample_traces.generator.loaders import next_from_workers
from sample_traces.generator.optimisers import foreach_sgd, zero_grad
from sample_traces.generator.pointwise import to_channels_last
from sample_traces.generator.records import Activity
from sample_traces.generator.sample import Sample, finish
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import FLOAT, LONG, tensor
from sample_traces.generator.transfers import to_device
from sample_traces.generator.truth import TruthWriter, Verdict, facts_of, ramps, total

NAME = "unpinned_copies"
BATCH = 128
STEPS = 5

VERDICT = Verdict(
    rule="h2d-pageable",
    layer="runtime",
    side="above-cuda",
    where=[
        {"file": "train.py", "line": 31, "function": "to_gpu"},
        {"file": "train.py", "line": 43, "function": "train_step"},
    ],
    summary="batches copied from pageable memory: the copy blocks the host and the stream",
)


def _step(session: Session, copies: list[Activity], pinned: bool, index: int) -> None:
    rt = session.rt
    images = tensor((BATCH, 3, 224, 224), FLOAT)
    labels = tensor((BATCH,), LONG)
    next_from_workers(rt, 240.0, pinned)
    with rt.thread.frame("train.py(43): train_step", pre=3.0):
        with rt.thread.frame("train.py(31): to_gpu", pre=1.0):
            copies.append(to_device(rt, images, pinned, planted=not pinned))
            to_device(rt, labels, pinned)
        x = to_channels_last(rt, images)
        zero_grad(rt, "SGD")
        logits = resnet.forward(rt, x)
        resnet.loss_of(rt, logits, labels)
        backward(rt)
        foreach_sgd(rt, resnet.parameters())


def simulate(pinned: bool) -> tuple[Session, list[Activity]]:
    """Run the program with or without the planted cause."""
    session = Session(A100, NAME, 30_541, Script("train.py", 77, 36), True, first_step=3)
    copies: list[Activity] = []
    session.run(STEPS, partial(_step, session, copies, pinned))
    return session, copies


def build() -> Sample:
    """The sample and its truth."""
    session, copies = simulate(pinned=False)
    cured, _ = simulate(pinned=True)
    spans = [(copy.start, copy.end) for copy in copies]
    truth = TruthWriter(NAME, session, VERDICT)
    return finish(
        NAME,
        session,
        truth.build(
            lost_ns=total(spans),
            recoverable_ns=truth.facts.length - facts_of(cured).length,
            planted=spans,
            ramp_us=truth.spans(ramps(session, [end for _, end in spans])),
            blocking_calls_us=truth.spans([(c.call.start, c.call.end) for c in copies]),
        ),
        minutes=27_318,
        trace_id="8D3F60A17C5E49B2A4F0917BE62C53D8",
    )
