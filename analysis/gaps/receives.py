"""Receives that spin: which point-to-point kernels waited for their peer.

The kernel of a receive runs from its launch until the data has come. NCCL uses one kernel for
sends, receives and exchanges between all; what tells them apart is the operator or annotation
around the launch, or the arguments of the kernel. Where nothing does, a recording in which
exchanges between all are named holds those, any other receives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.among import among
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import thresholds
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_KERNEL = re.compile(r"(nccl|rccl)\w*_?(SendRecv|Recv)", re.IGNORECASE)
_RECEIVE = re.compile(
    r"\bi?recv(_any_source)?_?\b|sendrecv|send_recv|batch_isend_irecv", re.IGNORECASE
)
_SEND = re.compile(r"\bi?send_?\b", re.IGNORECASE)
_COALESCED = re.compile(r"^nccl:coalesced|^c10d::.*coalesc", re.IGNORECASE)
_EXCHANGE = re.compile(r"all_?to_?all|all_?gather|reduce_scatter|gather|scatter", re.IGNORECASE)
_COLLECTIVE_OP = re.compile(r"^(c10d::|record_param_comms|nccl:)")
_BYTES = {"byte": 1, "char": 1, "bool": 1, "half": 2, "bfloat16": 2, "short": 2, "int": 4,
    "float": 4, "long": 8, "double": 8, "float8_e4m3fn": 1, "float8_e5m2": 1}  # fmt: skip


def spinning_receives(trace: Trace, options: Options) -> frozenset[int]:
    """The trace rows of receives that took far longer than their data needs."""
    rows = np.flatnonzero((trace.kind == SliceKind.KERNEL) & _named(trace, _KERNEL))
    if not len(rows):
        return frozenset()
    exchanges = any(_EXCHANGE.search(text) and _COLLECTIVE_OP.match(text) for text in trace.strings)
    chosen = [row for row in rows.tolist() if _receives(trace, row, exchanges)]
    if not chosen:
        return frozenset()
    size = np.array([_bytes(trace.detail(row)) for row in chosen], np.float64)
    duration = (trace.end_ns[chosen] - trace.start_ns[chosen]).astype(np.float64)
    spins = _spins(size, np.maximum(duration, 1.0), thresholds(options, "pipeline-bubble"))
    return frozenset(row for row, spin in zip(chosen, spins.tolist(), strict=True) if spin)


def _receives(trace: Trace, row: int, exchanges: bool) -> bool:
    """Whether a point-to-point kernel receives from one peer."""
    told = trace.detail(row).get("Collective name")
    names = [told] if isinstance(told, str) and told else []
    launch = int(trace.launch[row])
    if launch >= 0:
        around = (trace.name(up) for up in trace.enclosing(launch))
        names += [name for name in around if _COLLECTIVE_OP.match(name)]
    if any(_EXCHANGE.search(name) for name in names):
        return False
    if any(_RECEIVE.search(name) or _COALESCED.search(name) for name in names):
        return True
    if any(_SEND.search(name) for name in names):
        return False
    return not exchanges


def received_bytes(trace: Trace, row: int) -> int | None:
    """How much a receive got, None where that is not recorded."""
    size = _bytes(trace.detail(row))
    return None if np.isnan(size) else int(size)


def _bytes(detail: Mapping[str, Any]) -> float:
    """How much was received, NaN where that is not recorded."""
    count, kind = detail.get("Out msg nelems"), detail.get("dtype")
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0:
        count = detail.get("In msg nelems")
    width = _BYTES.get(str(kind).lower())
    if not isinstance(count, int) or isinstance(count, bool) or count <= 0 or width is None:
        return float("nan")
    return float(count) * width


def _spins(
    size: NDArray[np.float64], duration: NDArray[np.float64], limits: Mapping[str, float]
) -> NDArray[np.bool_]:
    """Whether receives took longer than their size explains: bool (n,).

    Args:
        size: bytes, NaN where unknown: such a receive has nothing that explains its time.
        duration: nanoseconds.
        limits: thresholds of ``pipeline-bubble``.
    """
    unknown = np.isnan(size)
    if unknown.all():
        return unknown
    rate = np.where(unknown, 0.0, size / duration)
    # As fast as the fastest of this recording, and no slower than any link between stages.
    fastest = max(float(rate.max()), limits["gb_per_s"])
    expected = limits["latency_us"] * 1e3 + size / fastest
    return np.asarray(unknown | (duration > limits["slow"] * expected))


def _named(trace: Trace, pattern: re.Pattern[str]) -> NDArray[np.bool_]:
    ids = [i for i, text in enumerate(trace.strings) if pattern.search(text)]
    return among(trace.name_id, ids) if ids else np.zeros(len(trace), np.bool_)
