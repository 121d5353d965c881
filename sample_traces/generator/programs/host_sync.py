"""GPT training that reads the loss on the host at the end of every step.

``loss.item()`` waits until the GPU has done everything. Then the queue is empty, and the next
forward pass, whose kernels are shorter than their dispatch, runs at the host's pace; without the
wait it would be dispatched while backward pass and optimiser still run.

The profiled program (``train.py``)::

    35  def main():
    58      for tokens, targets in loader:
    59          train_step(tokens, targets)
    44  def train_step(tokens, targets):
    51      optimizer.step()
    52      log_loss(loss)
    29  def log_loss(loss):
    30      meter.update(loss.item())                     # planted
"""

from __future__ import annotations

from functools import partial

from sample_traces.generator import gpt
from sample_traces.generator.devices import A100
from sample_traces.generator.engine import backward
from sample_traces.generator.loaders import next_from_workers
from sample_traces.generator.optimisers import clip_and_average, fused_adamw, zero_grad
from sample_traces.generator.records import Call
from sample_traces.generator.sample import Sample, finish
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import LONG, tensor
from sample_traces.generator.transfers import item, to_device
from sample_traces.generator.truth import TruthWriter, Verdict, facts_of, ramps, total

NAME = "host_sync"
STEPS = 6
MODEL = gpt.Gpt(layers=12, width=1024, heads=16, vocabulary=200_192, batch=2, length=512)
#: How slowly the host runs Python.
FRAME_SCALE = 13.0

VERDICT = Verdict(
    rule="host-sync",
    layer="pytorch",
    side="above-cuda",
    where=[
        {"file": "train.py", "line": 29, "function": "log_loss"},
        {"file": "train.py", "line": 44, "function": "train_step"},
    ],
    summary="loss.item() in every step drains the queue; the forward pass then starts from nothing",
)


def _step(session: Session, drains: list[Call], synchronous: bool, index: int) -> None:
    rt = session.rt
    tokens = tensor((MODEL.batch, MODEL.length), LONG)
    next_from_workers(rt, 25.0, pinned=True)
    with rt.thread.frame("train.py(44): train_step", pre=3.0):
        to_device(rt, tokens, pinned=True)
        to_device(rt, tokens, pinned=True)
        loss = gpt.forward(rt, MODEL, tokens, tokens)
        backward(rt)
        with rt.thread.frame("train.py(37): clip_and_average"):
            clip_and_average(rt, MODEL.parameters())
        fused_adamw(rt, MODEL.parameters())
        zero_grad(rt, "AdamW")
        if synchronous:
            with (
                rt.thread.frame("train.py(29): log_loss", pre=1.0),
                rt.thread.frame("<built-in method item of Tensor object at 0x7f29d83c4f90>"),
            ):
                drains.append(item(rt, loss)[0])


def simulate(synchronous: bool) -> tuple[Session, list[Call]]:
    """Run the program with or without the planted cause."""
    session = Session(A100, NAME, 66_190, Script("train.py", 71, 35), True, first_step=3)
    session.machine.frame_scale = FRAME_SCALE
    drains: list[Call] = []
    session.run(STEPS, partial(_step, session, drains, synchronous))
    return session, drains


def build() -> Sample:
    """The sample and its truth."""
    session, drains = simulate(synchronous=True)
    cured, _ = simulate(synchronous=False)
    truth = TruthWriter(NAME, session, VERDICT)
    recoverable = truth.facts.length - facts_of(cured).length
    spans = ramps(session, [call.end for call in drains])
    return finish(
        NAME,
        session,
        truth.build(
            lost_ns=total(spans),
            recoverable_ns=recoverable,
            planted=spans,
            blocking_calls_us=truth.spans([(call.start, call.end) for call in drains]),
        ),
        minutes=33_702,
        trace_id="E41B7D90A2584F6CB7039D5A1C8E26F4",
    )
