"""ResNet-18 training that waits for its loader: ``num_workers=0``, every image on the main thread.

The profiled program (``train.py`` and ``dataset.py``)::

    train.py   38  def main():
               61      loader = DataLoader(train_set, batch_size=128, pin_memory=True)   # planted
               66      for images, labels in loader:
               67          train_step(images, labels)
    dataset.py 24  def __getitem__(self, index):    # decode, crop, flip: 0.3 ms a sample
"""

from __future__ import annotations

from functools import partial

from sample_traces.generator import resnet
from sample_traces.generator.devices import A100
from sample_traces.generator.engine import backward
from sample_traces.generator.loaders import next_from_workers, next_in_process
from sample_traces.generator.optimisers import foreach_sgd, zero_grad
from sample_traces.generator.pointwise import cast
from sample_traces.generator.records import OpEvent
from sample_traces.generator.sample import Sample, finish
from sample_traces.generator.session import Script, Session
from sample_traces.generator.tensors import BYTE, FLOAT, LONG, Tensor, channels_last, tensor
from sample_traces.generator.transfers import to_device
from sample_traces.generator.truth import TruthWriter, Verdict, facts_of, starved, total

NAME = "dataloader_bound"
BATCH = 128
STEPS = 5
#: Microseconds for one sample in ``__getitem__``.
SAMPLE_COST = 285.0

VERDICT = Verdict(
    rule="dataloader-wait",
    layer="runtime",
    side="above-cuda",
    where=[
        {"file": "dataset.py", "line": 24, "function": "__getitem__"},
        {"file": "dataset.py", "line": 37, "function": "decode"},
        {"file": "train.py", "line": 38, "function": "main"},
    ],
    summary="num_workers=0: the main thread makes every batch while the GPU waits",
)


def make_sample(session: Session) -> Tensor:
    """One item of the data set, made on the calling thread."""
    thread = session.rt.thread
    image = tensor((3, 224, 224), BYTE)
    with thread.frame("dataset.py(24): __getitem__", pre=8.0):
        with (
            thread.frame("dataset.py(37): decode", pre=6.0),
            thread.frame("PIL/Image.py(2251): resize", pre=4.0),
        ):
            thread.spend(SAMPLE_COST * 0.8, "sample")
        with session.rt.op("aten::permute", tensor((224, 224, 3), BYTE), [2, 0, 1], pre=2.0):
            pass
        thread.spend(SAMPLE_COST * 0.1, "sample")
    return image


def _step(session: Session, calls: list[OpEvent], in_process: bool, index: int) -> None:
    rt = session.rt
    images = tensor((BATCH, 3, 224, 224), BYTE)
    labels = tensor((BATCH,), LONG)
    if in_process:
        calls.append(next_in_process(rt, BATCH, partial(make_sample, session), labels))
    else:
        calls.append(next_from_workers(rt, 160.0, pinned=True))
    with rt.thread.frame("train.py(44): train_step", pre=3.0):
        to_device(rt, images, pinned=True)
        to_device(rt, labels, pinned=True)
        x = cast(rt, channels_last(BATCH, 3, 224, 224, BYTE), FLOAT)
        zero_grad(rt, "SGD")
        logits = resnet.forward(rt, x)
        resnet.loss_of(rt, logits, labels)
        backward(rt)
        foreach_sgd(rt, resnet.parameters())


def simulate(in_process: bool) -> tuple[Session, list[OpEvent]]:
    """Run the program with or without the planted cause."""
    session = Session(A100, NAME, 48_213, Script("train.py", 79, 38), True, first_step=3)
    calls: list[OpEvent] = []
    session.run(STEPS, partial(_step, session, calls, in_process))
    return session, calls


def build() -> Sample:
    """The sample and its truth."""
    session, calls = simulate(in_process=True)
    cured, _ = simulate(in_process=False)
    facts = facts_of(session)
    waits = starved(facts, [(call.start, call.end) for call in calls])
    truth = TruthWriter(NAME, session, VERDICT)
    return finish(
        NAME,
        session,
        truth.build(
            lost_ns=total(waits),
            recoverable_ns=facts.length - facts_of(cured).length,
            planted=waits,
            loader_calls_us=truth.spans([(call.start, call.end) for call in calls]),
        ),
        minutes=21_714,
        trace_id="5B0C1F6E2D7A4C0B9E1A7C4D2F836A90",
    )
