"""What to change about exposed communication, by what the recording tells of its purpose.

Buckets and prefetching are settings of training. Where a recording holds operators or marks of
its steps and no backward pass, an all-reduce joins the parts of a tensor-parallel layer: the
layer waits for it, and no setting of DDP or FSDP bears on it. A message of a few bytes is none
of a layer's or a gradient's, and what goes to one other rank is a pipeline's or a ring's.
"""

from __future__ import annotations

import re

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.communication.collective_kinds import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    COMBINE,
    DISPATCH,
    GATHER,
    OTHER,
    RECEIVE,
    REDUCE,
    REDUCE_SCATTER,
    SEND,
    SEND_RECEIVE,
    kind_of,
)
from whichlayer.analysis.communication.metadata import collective_at
from whichlayer.analysis.gaps.remembered import once_per_trace
from whichlayer.analysis.steps.model import Phase
from whichlayer.analysis.steps.phase_names import phase_of
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.steps import engine_steps

TENSOR_PARALLEL = (
    "tensor parallel: a one-shot all-reduce or one fused with the norm after it; a second "
    "micro-batch to overlap it with; fewer ranks in the group"
)
EXCHANGE = (
    "overlap the exchange: start it as soon as its data is there, and run what does not need it (the "
    "dense part, a second micro-batch) meanwhile; fewer bytes (narrower type), even splits"
)
BARRIER = (
    "no barrier() in the loop: all ranks and their hosts wait there for the slowest; compare the "
    "ranks (whichlayer report FOLDER) to see which that is"
)
POINT_TO_POINT = (
    "between pipeline stages: more, smaller micro-batches in a 1F1B or interleaved schedule, so that "
    "sends and receives (isend, irecv) run beside another micro-batch's work; stages of equal cost. "
    "In a ring: send the next block before computing this one"
)
SMALL = (
    "a few bytes cost a meeting of all ranks, whatever the links: put such values into one tensor, "
    "exchange them every N steps or at the end, or with async_op=True and read them later"
)
OBJECTS = (
    "objects are pickled, and their sizes exchanged first, while all ranks wait: gather tensors "
    "instead, or the objects once, at the end"
)
METRICS = (
    "exchange metrics every N steps or once at the end, their sums instead of all predictions, or "
    "with async_op=True and read them later"
)
#: Below this nothing but single values is exchanged: metrics, norms, flags, sizes. One row of
#: activations of a layer that is worth splitting has more.
SMALL_BYTES = 1024
_TELLING = (SliceKind.ANNOTATION, SliceKind.PYTHON, SliceKind.CPU_OP)
#: Kernels of a backward pass or an optimizer: all that a graph's launch shows of training.
_TRAINS = re.compile(r"backward|bwd|dgrad|wgrad|adam", re.IGNORECASE)
#: All-reduces that only engines of inference bring along.
_OF_ENGINES = re.compile(r"cross_device_reduce|trtllm\w*allreduce|lamport", re.IGNORECASE)
_VAGUE = (OTHER, SEND_RECEIVE)
_EXCHANGES = (ALL_TO_ALL, DISPATCH, COMBINE)
_BARRIER = re.compile(r"^(c10d|nccl):+\w*barrier|distributed_c10d\.py\(\d+\): \w*barrier$")
#: Python frames that name a collective; others may be called anything (``__torch_dispatch__``).
_COLLECTIVE_FRAME = re.compile(
    r"(?:^|/)torch/distributed/(?:distributed_c10d|_functional_collectives|nn/functional)"
    r"\.py\(\d+\): (?P<function>\w+)$"
)
_OBJECTS = re.compile(r"distributed_c10d\.py\(\d+\): \w*_object(_list)?$")
_METRICS = re.compile(
    r"(^|/)(torchmetrics|torcheval)/|[^/]*metrics?[^/]*\.py\(\d+\): |\): \w*metrics?(_\w*)?$"
    r"|\): (synchronize_between_processes|reduce_(dict|loss|losses))$"
)
_FEW = frozenset({ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, GATHER})
_SHARDED = re.compile(r"FSDP|fully_shard|_fsdp", re.IGNORECASE)


def communication_fix(trace: Trace, row: int) -> str | None:
    """What to do about one collective; None where nothing more than usual is known.

    Args:
        trace: the recording.
        row: the collective: its kernel, or its operator on a thread.
    """
    launch = int(trace.launch[row])
    up = trace.enclosing(row if launch < 0 else launch)
    if any(_BARRIER.search(trace.name(one)) for one in (row, *up)):
        return BARRIER
    kind = _kind(trace, [row, *up])
    if kind in _EXCHANGES or kind == SEND_RECEIVE:
        return EXCHANGE
    if kind in (SEND, RECEIVE):
        return POINT_TO_POINT
    if kind in _FEW and (told := _of_values(trace, row, up)) is not None:
        return told
    if trains(trace) or not _joins_parts(kind, [trace.name(one) for one in (row, *up)]):
        return None
    known = _OF_ENGINES.search(trace.name(row)) or _serves(trace)
    return TENSOR_PARALLEL if known or _forward_is_seen(trace, [row, *up]) else None


def _joins_parts(kind: str, names: list[str]) -> bool:
    """Whether an all-reduce, or the all-gather or reduce-scatter of a sharded sequence."""
    sharded = any(_SHARDED.search(one) for one in names)
    return kind == ALL_REDUCE or (kind in (ALL_GATHER, REDUCE_SCATTER) and not sharded)


def _kind(trace: Trace, rows: list[int]) -> str:
    """What a collective is, by its kernel, else by the operators and marks around its launch."""
    kinds = [kind_of(_naming(trace, one)) for one in rows]
    vague = SEND_RECEIVE if SEND_RECEIVE in kinds else OTHER
    return next((kind for kind in kinds if kind not in _VAGUE), vague)


def _naming(trace: Trace, row: int) -> str:
    """What of a slice's name may name a collective."""
    name = trace.name(row)
    if trace.kind[row] != SliceKind.PYTHON:
        return name
    frame = _COLLECTIVE_FRAME.search(name.replace("\\", "/"))
    return frame["function"] if frame else ""


def _of_values(trace: Trace, row: int, up: list[int]) -> str | None:
    """What to do about a collective of objects or of single values; None for any other."""
    if any(_SHARDED.search(trace.name(one)) for one in up):
        return None
    frames, in_layer = _frames_within_layer(trace, up)
    if any(_OBJECTS.search(name) for name in frames):
        return OBJECTS
    size = collective_at(trace, row).bytes
    # Layers of training exchange few bytes too, in every step (statistics of a batch norm).
    if size is not None and 0 < size < SMALL_BYTES:
        return None if in_layer and trains(trace) else SMALL
    return METRICS if any(_METRICS.search(name) for name in frames) else None


def _frames_within_layer(trace: Trace, up: list[int]) -> tuple[list[str], bool]:
    """Python frames around a collective up to a model's pass, and whether there is one."""
    frames: list[str] = []
    for one in up:
        name, kind = trace.name(one).replace("\\", "/"), SliceKind(int(trace.kind[one]))
        if phase_of(kind, name) in (Phase.FORWARD, Phase.BACKWARD):
            return frames, True
        if kind == SliceKind.PYTHON:
            frames.append(name)
    return frames, False


def _forward_is_seen(trace: Trace, rows: list[int]) -> bool:
    """Whether operators or the model are recorded around it: a backward pass would be as well."""
    kinds = [SliceKind(int(trace.kind[row])) for row in rows]
    return SliceKind.CPU_OP in kinds or any(
        phase_of(kind, trace.name(row)) == Phase.FORWARD
        for kind, row in zip(kinds, rows, strict=True)
    )


@once_per_trace
def _serves(trace: Trace) -> bool:
    """Whether a serving engine marks its runs of the model."""
    return bool(engine_steps(trace))


@once_per_trace
def trains(trace: Trace) -> bool:
    """Whether anything of a backward pass or an optimizer is recorded."""
    telling = among(trace.kind, (*_TELLING, SliceKind.KERNEL))
    keys = np.unique(trace.name_id[telling].astype(np.int64) * 256 + trace.kind[telling])
    for key in keys.tolist():
        kind, name = SliceKind(key % 256), trace.strings[key // 256]
        if kind == SliceKind.KERNEL:
            if _TRAINS.search(name):
                return True
        elif phase_of(kind, name) in (Phase.BACKWARD, Phase.OPTIMIZER):
            return True
    return False
