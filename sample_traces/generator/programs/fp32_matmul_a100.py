"""An MLP trained in FP32 on an A100 with TF32 off: dense, at the FP32 roof, eight times too slow.

The profiled program (``train.py`` and ``tower.py``)::

    train.py   33  def main():
               35      torch.backends.cuda.matmul.allow_tf32 = False            # planted
               41  def train_step(features, labels):
    tower.py   22  def forward(self, x):            # Tower: Linear and ReLU, all in float32
"""

from __future__ import annotations

from functools import partial

from sample_traces.generator.devices import A100
from sample_traces.generator.engine import backward
from sample_traces.generator.loaders import next_from_workers
from sample_traces.generator.losses import cross_entropy
from sample_traces.generator.matmul import linear
from sample_traces.generator.optimisers import fused_adamw, zero_grad
from sample_traces.generator.pointwise import relu_
from sample_traces.generator.sample import Sample, finish
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import FLOAT, LONG, Tensor, tensor
from sample_traces.generator.transfers import to_device
from sample_traces.generator.truth import (
    TruthWriter,
    Verdict,
    facts_of,
    kernel_facts,
    planted_kernels,
    total,
)

NAME = "fp32_matmul_a100"
STEPS = 5
LAYERS = 12
BATCH, WIDTH, CLASSES = 4096, 2048, 1024

VERDICT = Verdict(
    rule="fp32-matmul",
    layer="precision",
    side="below-pytorch",
    where=[
        {"file": "tower.py", "line": 22, "function": "forward"},
        {"file": "train.py", "line": 41, "function": "train_step"},
    ],
    summary="float32 products on the FP32 units of an A100, whose tensor cores stay idle",
)


def _parameters() -> list[Tensor]:
    return [tensor((WIDTH, WIDTH), FLOAT)] * LAYERS + [tensor((CLASSES, WIDTH), FLOAT)]


def _step(session: Session, allow_tf32: bool, index: int) -> None:
    rt = session.rt
    builtin = "<built-in function linear>"
    features, labels = tensor((BATCH, WIDTH), FLOAT), tensor((BATCH,), LONG)
    next_from_workers(rt, 180.0, pinned=True)
    with rt.thread.frame("train.py(41): train_step", pre=3.0):
        to_device(rt, features, pinned=True)
        to_device(rt, labels, pinned=True)
        zero_grad(rt, "AdamW")
        with rt.module("Tower", "model", "tower.py(22): forward"):
            x = features
            for layer in range(LAYERS):
                with rt.module("Linear", str(layer), builtin=builtin):
                    x = linear(rt, x, tensor((WIDTH, WIDTH), FLOAT), None, allow_tf32)
                with rt.module("ReLU", str(layer)):
                    x = relu_(rt, x)
            with rt.module("Linear", "head", builtin=builtin):
                logits = linear(rt, x, tensor((CLASSES, WIDTH), FLOAT), None, allow_tf32)
        with rt.module("CrossEntropyLoss", "criterion"):
            cross_entropy(rt, logits, labels)
        backward(rt)
        fused_adamw(rt, _parameters())


def simulate(allow_tf32: bool) -> Session:
    """Run the program with or without the planted cause."""
    session = Session(A100, NAME, 57_120, Script("train.py", 70, 33), True, first_step=3)
    session.run(STEPS, partial(_step, session, allow_tf32))
    return session


def build() -> Sample:
    """The sample and its truth."""
    session = simulate(allow_tf32=False)
    cured = simulate(allow_tf32=True)
    truth = TruthWriter(NAME, session, VERDICT)
    spans = [(a.start, a.end) for a in planted_kernels(session)]
    recoverable = truth.facts.length - facts_of(cured).length
    return finish(
        NAME,
        session,
        truth.build(
            lost_ns=recoverable,
            recoverable_ns=recoverable,
            planted=spans,
            tolerance=0.12,
            product_share=round(total(spans) / truth.facts.length, 4),
            kernels=kernel_facts(session),
        ),
        minutes=44_903,
        trace_id="63D2F8A90B1C4E57A6E0C47B51D8F23E",
    )
