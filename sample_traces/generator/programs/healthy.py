"""GPT training in bf16 with nothing to fix: the GPU is busy and its kernels are at the roof.

It holds what looks like trouble and costs nothing: a loader call and a wait for the previous
step's loss, each hidden behind the queue of kernels.

The profiled program (``train.py``)::

    38  def main():
    66      for tokens, targets in loader:          # 4 workers, pin_memory=True
    67          train_step(tokens, targets)
    52  def train_step(tokens, targets):
    71  def log_previous_loss():
    72      event.synchronize()                      # of the previous step: covered
"""

from __future__ import annotations

from sample_traces.generator import gpt
from sample_traces.generator.devices import H100
from sample_traces.generator.engine import backward
from sample_traces.generator.loaders import next_from_workers
from sample_traces.generator.optimisers import fused_adamw, zero_grad
from sample_traces.generator.sample import Sample, finish
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import LONG, tensor
from sample_traces.generator.transfers import to_device
from sample_traces.generator.truth import TruthWriter, Verdict

NAME = "healthy"
STEPS = 5
MODEL = gpt.Gpt(layers=4, width=4096, heads=32, vocabulary=32_000, batch=8, length=1024)
#: Microseconds that the loader takes although its workers are ahead, unpickling for the most.
LOADER_COST = 2_600.0

VERDICT = Verdict(
    rule="none",
    layer="none",
    side="healthy",
    where=[],
    summary="bf16 GPT training at the roof; a covered loader and a covered wait",
)


class _Run:
    """The program's state between steps."""

    def __init__(self) -> None:
        self.session = Session(H100, NAME, 51_877, Script("train.py", 88, 38), True, first_step=3)
        self.loss_ready = 0
        self.loader_calls: list[tuple[int, int]] = []
        self.waits: list[tuple[int, int]] = []

    def step(self, index: int) -> None:
        rt = self.session.rt
        thread = rt.thread
        call = next_from_workers(rt, 60.0 if index == 0 else LOADER_COST, pinned=True)
        self.loader_calls.append((call.start, call.end))
        tokens = tensor((MODEL.batch, MODEL.length), LONG)
        with thread.frame("train.py(52): train_step", pre=3.0):
            to_device(rt, tokens, pinned=True)
            to_device(rt, tokens, pinned=True)
            loss = gpt.forward(rt, MODEL, tokens, tokens)
            backward(rt)
            fused_adamw(rt, MODEL.parameters())
            zero_grad(rt, "AdamW")
        with (
            thread.frame("train.py(71): log_previous_loss", pre=2.0),
            thread.frame("torch/cuda/streams.py(224): synchronize", pre=1.0),
        ):
            if index:
                wait = thread.synchronize("cudaEventSynchronize", self.loss_ready)
                self.waits.append((wait.start, wait.end))
        with rt.op("aten::copy_", loss, loss, True, pre=4.0, post=1.0):
            self.loss_ready = thread.copy(loss.bytes, "DtoH pinned").end
        thread.call("cudaEventRecord", 1.2)


def build() -> Sample:
    """The sample and its truth."""
    run = _Run()
    run.session.run(STEPS, run.step)
    truth = TruthWriter(NAME, run.session, VERDICT)
    return finish(
        NAME,
        run.session,
        truth.build(
            lost_ns=0,
            recoverable_ns=0,
            planted=[],
            covered={
                "dataloader-wait": truth.spans(run.loader_calls),
                "host-sync": truth.spans(run.waits),
            },
        ),
        minutes=24_031,
        trace_id="C2A94E1B7F3D45A08D6B1E5F70A2C9D4",
    )
