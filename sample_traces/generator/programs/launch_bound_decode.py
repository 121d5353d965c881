"""Token by token decoding at batch size 1 in eager mode: the host launches, the GPU waits.

Every kernel takes a few microseconds and its dispatch ten times as long, so the host is late for
nearly each of them. The ``.item()`` of every token drains a queue that is empty anyway.

The profiled program (``generate.py``)::

    29  def main():
    41  def generate(tokens, steps):
    44      logits = model(token, past_key_values=cache)      # eager, batch 1: planted
    45      token = next_token(logits)
    52  def next_token(logits):
    53      return logits[:, -1].argmax(-1).item()
"""

from __future__ import annotations

from functools import partial

from sample_traces.generator import llama
from sample_traces.generator.devices import H100
from sample_traces.generator.records import Call
from sample_traces.generator.sample import Sample, finish
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import LONG, tensor
from sample_traces.generator.transfers import item
from sample_traces.generator.truth import TruthWriter, Verdict, facts_of, late_host, total

NAME = "launch_bound_decode"
TOKENS = 5
CONTEXT = 412
MODEL = llama.Llama(layers=10, width=1024, heads=16, key_heads=8, hidden=3072, vocabulary=151_936)

VERDICT = Verdict(
    rule="launch-bound",
    layer="boundary",
    side="above-cuda",
    where=[
        {"file": "generate.py", "line": 41, "function": "generate"},
        {"file": "generate.py", "line": 29, "function": "main"},
    ],
    summary="eager decoding at batch 1: hundreds of tiny kernels, each launched too late",
)


def _token(session: Session, waits: list[Call], synchronous: bool, index: int) -> None:
    rt = session.rt
    with rt.thread.frame("generate.py(41): generate", pre=2.0):
        token = llama.decode(rt, MODEL, CONTEXT + index)
        if synchronous:
            with (
                rt.thread.frame("generate.py(52): next_token", pre=1.0),
                rt.thread.frame("<built-in method item of Tensor object at 0x7f0c5a1f2b60>"),
            ):
                waits.append(item(rt, tensor((1, 1), LONG), "pinned")[1])
    del token


def simulate(synchronous: bool) -> tuple[Session, list[Call]]:
    """Run the program with or without the wait for every token."""
    session = Session(H100, NAME, 72_406, Script("generate.py", 66, 29), False, first_step=8)
    waits: list[Call] = []
    session.run(TOKENS, partial(_token, session, waits, synchronous))
    return session, waits


def build() -> Sample:
    """The sample and its truth."""
    session, waits = simulate(synchronous=True)
    without_wait, _ = simulate(synchronous=False)
    truth = TruthWriter(NAME, session, VERDICT)
    late = late_host(session)
    facts = truth.facts
    return finish(
        NAME,
        session,
        truth.build(
            lost_ns=total(late),
            # The cure (a CUDA graph) leaves the kernels at the spacing of a full queue.
            recoverable_ns=total(facts.idle) - _spacing(session),
            planted=late,
            not_the_cause={
                "host-sync": {
                    "recoverable_us": (facts.length - facts_of(without_wait).length) / 1000,
                    "calls_us": truth.spans([(call.start, call.end) for call in waits]),
                }
            },
        ),
        minutes=36_109,
        trace_id="19F0A6C35BD84E72A8C5D7E30B4F6129",
    )


def _spacing(session: Session) -> int:
    kernels = len(session.machine.recording.activities)
    return round(kernels * session.machine.gpu.spacing_us * 1000)
