"""The collectives of a window, alike ones together, with their bandwidths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.communication.calls import Calls, calls_of
from whichlayer.analysis.communication.collective_kinds import (
    ALL_GATHER,
    BARRIER,
    EVEN,
    GATHER,
    bus_factor,
)
from whichlayer.analysis.communication.metadata import OF_OPERATOR, Collective, Described, describe
from whichlayer.analysis.results import Analysis, Role
from whichlayer.analysis.trace.columns import Int32, Int64

#: What a bandwidth of one rank is; said once in a report and with every entry in JSON.
ONE_RANK = (
    "a lower bound: one rank's time holds its wait for the others; record all ranks and "
    "report on their folder"
)
_RECORD_SIZE = "record with PyTorch 2.2 or newer, which writes size, type and group of each"


@dataclass(frozen=True, slots=True)
class CollectiveGroup:
    """Collectives of one device that are described alike.

    Attributes:
        device: index into ``Analysis.devices``.
        known: what they are.
        kernels: the names of their kernels, the commonest first.
        calls: how many.
        total_ns: their time in the window, one after the other.
        exposed_ns, hidden_ns, shared_ns: its parts: alone on the device; beside compute;
            counted with another collective.
        bytes: size of one call as nccl-tests counts it, or None.
        algbw_gbps, busbw_gbps: (median, best) over the calls, or None.
        streams: stream numbers.
        why: what is missing for the figures that are None, and what to record; else what
            limits them.
    """

    device: int
    known: Collective
    kernels: tuple[str, ...]
    calls: int
    total_ns: int
    exposed_ns: int
    hidden_ns: int
    shared_ns: int
    bytes: int | None
    algbw_gbps: tuple[float, float] | None
    busbw_gbps: tuple[float, float] | None
    streams: tuple[int, ...]
    why: str


def find_collectives(analysis: Analysis) -> tuple[CollectiveGroup, ...]:
    """The collectives of all devices, most exposed first, then most time."""
    found: list[CollectiveGroup] = []
    for device in range(len(analysis.devices)):
        calls = calls_of(analysis, device, Role.COMM)
        if len(calls):
            found += _groups(analysis, device, calls)
    found.sort(key=lambda group: (-group.exposed_ns, -group.total_ns, group.device))
    return tuple(found)


def _groups(analysis: Analysis, device: int, calls: Calls) -> list[CollectiveGroup]:
    described: Described = describe(analysis.trace, calls.row, calls.launch)
    order = np.argsort(described.index, kind="stable")
    ends = np.cumsum(np.bincount(described.index, minlength=len(described.known)))
    members = np.split(order, ends[:-1])
    return [
        _group(analysis, device, calls, known, mine)
        for known, mine in zip(described.known, members, strict=True)
    ]


def _group(
    analysis: Analysis, device: int, calls: Calls, known: Collective, mine: NDArray[np.intp]
) -> CollectiveGroup:
    trace, size = analysis.trace, known.bytes
    names, counts = np.unique(trace.name_id[calls.row[mine]], return_counts=True)
    commonest = names[np.argsort(-counts, kind="stable")].tolist()
    algorithm = bandwidths(size, calls.duration_ns[mine])
    factor = None if known.ranks is None else bus_factor(known.kind, known.ranks)
    if known.ranks == 1:
        algorithm = None
    bus = None if algorithm is None or factor is None else _scaled(algorithm, factor)
    return CollectiveGroup(
        device=device,
        known=known,
        kernels=tuple(trace.strings[name] for name in commonest),
        calls=len(mine),
        total_ns=int(calls.inside_ns[mine].sum()),
        exposed_ns=int(calls.exposed_ns[mine].sum()),
        hidden_ns=int(calls.hidden_ns[mine].sum()),
        shared_ns=int(calls.shared_ns[mine].sum()),
        bytes=size,
        algbw_gbps=algorithm,
        busbw_gbps=bus,
        streams=tuple(np.unique(calls.stream[mine]).tolist()),
        why=_unlaunched(analysis, known, calls.launch[mine])
        or reason(known, algorithm is not None, bus is not None),
    )


def _unlaunched(analysis: Analysis, known: Collective, launch: Int32) -> str:
    """Why nothing is told of collectives that no call of their own launched, else empty."""
    if known.source or known.kind == BARRIER:
        return ""
    if (launch < 0).all():
        return "the launch is not in the file: record from before it, with a warm-up step"
    trace = analysis.trace
    names = np.unique(trace.name_id[launch[launch >= 0]]).tolist()
    if all("GraphLaunch" in trace.strings[name] for name in names):
        return "launched by a graph, of which no sizes are recorded: see its eager warm-up"
    return ""


def bandwidths(size: int | None, duration_ns: Int64) -> tuple[float, float] | None:
    """Median and best algorithm bandwidth in GB/s, of the calls that take any time."""
    timed = duration_ns[duration_ns > 0]
    if not size or not len(timed):
        return None
    rates = size / timed
    return float(np.median(rates)), float(rates.max())


def _scaled(rates: tuple[float, float], factor: float) -> tuple[float, float]:
    return rates[0] * factor, rates[1] * factor


def reason(known: Collective, has_algorithm: bool, has_bus: bool) -> str:
    """Why figures of a collective are missing and what to record, or what limits them."""
    if known.kind == BARRIER:
        return "a barrier moves nothing"
    if known.ranks == 1:
        return "a group of one rank moves nothing between ranks"
    if has_bus:
        uneven = "" if known.kind in EVEN else "; taken as if all ranks gave as much as this one"
        return ONE_RANK + uneven
    if has_algorithm:
        if known.ranks is None and known.source == OF_OPERATOR:
            return (
                f"how many ranks take part is not recorded outside of NCCL; the rest is {ONE_RANK}"
            )
        if known.ranks is None:
            return f"the size of the group is not recorded: {_RECORD_SIZE}; the rest is {ONE_RANK}"
        return f"no bus bandwidth is defined for {known.kind}; the rest is {ONE_RANK}"
    if known.given is None and known.got is None:
        missing = "the size is not recorded"
        return f"{missing}: {_RECORD_SIZE}; in older ones set record_shapes=True"
    if known.dtype is None:
        return f"the type of the elements is not recorded or not known: {_RECORD_SIZE}"
    if known.kind in (ALL_GATHER, GATHER) and known.ranks is None:
        return (
            f"what all ranks give together is not recorded, nor how many they are: {_RECORD_SIZE}"
        )
    if known.bytes == 0:
        return "an empty message"
    if known.bytes is None:
        return f"no size is defined for {known.kind}: which collective it is is not recorded"
    return "its kernels last no time: the clock's ticks are too coarse"
