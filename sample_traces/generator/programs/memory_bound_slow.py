"""Inference of a token mixer whose pointwise kernels walk memory against the grain.

The GPU is busy all the time. Its products are at the roof, but a sum with a transposed tensor and
a softmax over the middle dimension reach about a quarter of the bandwidth.

The profiled program (``serve.py`` and ``mixer.py``)::

    serve.py   26  def main():
    mixer.py   33  def forward(self, x, positions):        # TokenMixer
               35      return x + positions.transpose(1, 2)         # planted: 24 % of the bandwidth
    mixer.py   48  def forward(self, x):                   # TokenSoftmax
               49      return torch.softmax(x, dim=1)               # planted: 28 % of the bandwidth
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sample_traces.generator.devices import H100
from sample_traces.generator.eager import Eager
from sample_traces.generator.functors import functor_add
from sample_traces.generator.kernels import Kernel
from sample_traces.generator.matmul import linear
from sample_traces.generator.pointwise import strided_kernel
from sample_traces.generator.records import Work
from sample_traces.generator.sample import Sample, finish
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import BF16, Tensor, tensor
from sample_traces.generator.transfers import to_device
from sample_traces.generator.truth import (
    TruthWriter,
    Verdict,
    facts_of,
    kernel_facts,
    lost_bandwidth,
    planted_kernels,
)
from sample_traces.generator.views import transpose

NAME = "memory_bound_slow"
STEPS = 5
BLOCKS = 14
BATCH, TOKENS, WIDTH = 32, 1024, 2048

VERDICT = Verdict(
    rule="memory-bound-slow",
    layer="cuda",
    side="below-pytorch",
    where=[
        {"file": "mixer.py", "line": 33, "function": "forward"},
        {"file": "mixer.py", "line": 48, "function": "forward"},
    ],
    summary="a transposed sum and a softmax over the middle dimension at a quarter of the bandwidth",
)


@dataclass(frozen=True, slots=True)
class Qualities:
    """The share of the bandwidth that the two suspects reach."""

    transposed_add: float
    middle_softmax: float


PLANTED = Qualities(0.24, 0.28)
#: A tiled kernel for the sum, and the softmax over the last dimension of a matching layout.
CURED = Qualities(0.88, 0.86)


def _transposed_add(rt: Eager, x: Tensor, positions: Tensor, quality: float) -> None:
    other = transpose(rt, positions, 1, 2)
    work = Work(float(3 * x.bytes), planted=True, operator="aten::add")
    with rt.op("aten::add", x, other, 1, pre=3.4, post=1.4):
        rt.launch(strided_kernel(functor_add(BF16), work, x.count, quality, 22))


def _middle_softmax(rt: Eager, x: Tensor, quality: float) -> None:
    t, space = BF16.cpp, "at::native::(anonymous namespace)::"
    name = (
        f"void {space}cunn_SpatialSoftMaxForward<{t}, float, {t}, int, "
        f"{space}SoftMaxForwardEpilogue>({t}*, {t} const*, int, int, int)"
    )
    work = Work(float(2 * x.bytes), planted=True, operator="aten::_softmax")
    with (
        rt.op("aten::softmax", x, 1, None, pre=1.2, post=0.5),
        rt.op("aten::_softmax", x, 1, False, pre=3.4, post=1.2),
    ):
        rt.launch(Kernel(name, (BATCH, WIDTH // 128, 1), (128, 1, 1), 30, work, quality))


def _step(session: Session, qualities: Qualities, index: int) -> None:
    rt = session.rt
    x = tensor((BATCH, TOKENS, WIDTH), BF16)
    positions = tensor((BATCH, WIDTH, TOKENS), BF16)
    weight = tensor((WIDTH, WIDTH), BF16)
    builtin = "<built-in function linear>"
    with rt.thread.frame("serve.py(41): predict", pre=3.0):
        to_device(rt, tensor((BATCH, TOKENS), BF16), pinned=True)
        with rt.module("Mixer", "model", "mixer.py(71): forward"):
            for block in range(BLOCKS):
                with rt.module("Block", str(block), "mixer.py(58): forward"):
                    with rt.module("Linear", f"{block}.up", builtin=builtin):
                        linear(rt, x, weight)
                    with rt.module("TokenMixer", str(block), "mixer.py(33): forward"):
                        _transposed_add(rt, x, positions, qualities.transposed_add)
                    with rt.module("Linear", f"{block}.down", builtin=builtin):
                        linear(rt, x, weight)
                    with rt.module("TokenSoftmax", str(block), "mixer.py(48): forward"):
                        _middle_softmax(rt, x, qualities.middle_softmax)


def simulate(qualities: Qualities) -> Session:
    """Run the program with kernels of these qualities."""
    session = Session(H100, NAME, 29_034, Script("serve.py", 55, 26), False, first_step=3)
    session.run(STEPS, partial(_step, session, qualities))
    return session


def build() -> Sample:
    """The sample and its truth."""
    session = simulate(PLANTED)
    cured = simulate(CURED)
    truth = TruthWriter(NAME, session, VERDICT)
    planted = planted_kernels(session)
    return finish(
        NAME,
        session,
        truth.build(
            lost_ns=lost_bandwidth(session, planted),
            recoverable_ns=truth.facts.length - facts_of(cured).length,
            planted=[(a.start, a.end) for a in planted],
            kernels=kernel_facts(session),
        ),
        minutes=40_277,
        trace_id="A7C1E05B946D4F38B21E7F60D8953CA4",
    )
