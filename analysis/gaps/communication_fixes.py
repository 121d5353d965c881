"""What to change about exposed communication, by what the recording tells of its purpose.

Buckets and prefetching are settings of training. Where a recording holds operators or marks of
its steps and no backward pass, an all-reduce joins the parts of a tensor-parallel layer: the
layer waits for it, and no setting of DDP or FSDP bears on it.
"""

from __future__ import annotations

import re

import numpy as np

from whichlayer.analysis.communication.collective_kinds import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    COMBINE,
    DISPATCH,
    OTHER,
    REDUCE_SCATTER,
    SEND_RECEIVE,
    kind_of,
)
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
_TELLING = (SliceKind.ANNOTATION, SliceKind.PYTHON, SliceKind.CPU_OP)
#: Kernels of a backward pass or an optimizer: all that a graph's launch shows of training.
_TRAINS = re.compile(r"backward|bwd|dgrad|wgrad|adam", re.IGNORECASE)
#: All-reduces that only engines of inference bring along.
_OF_ENGINES = re.compile(r"cross_device_reduce|trtllm\w*allreduce|lamport", re.IGNORECASE)
_VAGUE = (OTHER, SEND_RECEIVE)
_EXCHANGES = (ALL_TO_ALL, DISPATCH, COMBINE)
_BARRIER = re.compile(r"^(c10d|nccl):+\w*barrier|distributed_c10d\.py\(\d+\): \w*barrier$")
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
    if _kind(trace.name(row), [trace.name(one) for one in up]) in _EXCHANGES:
        return EXCHANGE
    if trains(trace) or not _joins_parts(trace.name(row), [trace.name(one) for one in up]):
        return None
    known = _OF_ENGINES.search(trace.name(row)) or _serves(trace)
    return TENSOR_PARALLEL if known or _forward_is_seen(trace, [row, *up]) else None


def _joins_parts(name: str, around: list[str]) -> bool:
    """Whether an all-reduce, or the all-gather or reduce-scatter of a sharded sequence."""
    kind = _kind(name, around)
    sharded = any(_SHARDED.search(one) for one in (name, *around))
    return kind == ALL_REDUCE or (kind in (ALL_GATHER, REDUCE_SCATTER) and not sharded)


def _kind(name: str, around: list[str]) -> str:
    """What a collective is, by its kernel, else by the operators and marks around its launch."""
    kinds = (kind_of(one) for one in (name, *around))
    return next((kind for kind in kinds if kind not in _VAGUE), OTHER)


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
    telling = np.isin(trace.kind, (*_TELLING, SliceKind.KERNEL))
    keys = np.unique(trace.name_id[telling].astype(np.int64) * 256 + trace.kind[telling])
    for key in keys.tolist():
        kind, name = SliceKind(key % 256), trace.strings[key // 256]
        if kind == SliceKind.KERNEL:
            if _TRAINS.search(name):
                return True
        elif phase_of(kind, name) in (Phase.BACKWARD, Phase.OPTIMIZER):
            return True
    return False
