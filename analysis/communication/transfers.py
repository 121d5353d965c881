"""How fast collectives are once every rank is there: the shortest duration over the ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whichlayer.analysis.communication.collective_kinds import bus_factor
from whichlayer.analysis.communication.collectives import bandwidths, reason
from whichlayer.analysis.communication.lateness import durations
from whichlayer.analysis.communication.matching import Matched, Matching
from whichlayer.analysis.communication.metadata import Collective
from whichlayer.analysis.communication.rank_record import RankRecord
from whichlayer.analysis.communication.rules.comm_slow import RULE
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import thresholds
from whichlayer.analysis.trace.columns import Int64

_UNEVEN = "the ranks give different amounts, for which no bandwidth is defined"


@dataclass(frozen=True, slots=True)
class Transfer:
    """Collectives of one kind, group, size and type, over all of their ranks.

    Attributes:
        known: what they are, as the first of the ranks recorded it.
        who: positions of the ranks in the list of records.
        calls: how many.
        bytes: size of one call as nccl-tests counts it, or None.
        transfer_ns: shortest duration over the ranks, median over the calls.
        longest_ns: longest duration over the ranks, median over the calls.
        waiting_ns: what all ranks together waited for later ones.
        exposed_waiting_ns: the part that nothing hid, at most.
        exposed_transfer_ns: of what all ranks spent in the transfers themselves, the part that
            nothing hid, at most.
        algbw_gbps, busbw_gbps: (median, best) by the shortest durations, or None.
        assumed: the size of the group is not recorded; all ranks of the job are taken for it.
        slow: less than half of the links' speed; None where that cannot be told.
        why: what is missing for figures that are None.
    """

    known: Collective
    who: tuple[int, ...]
    calls: int
    bytes: int | None
    transfer_ns: int
    longest_ns: int
    waiting_ns: int
    exposed_waiting_ns: int
    exposed_transfer_ns: int
    algbw_gbps: tuple[float, float] | None
    busbw_gbps: tuple[float, float] | None
    assumed: bool
    slow: bool | None
    why: str


def find_transfers(
    records: Sequence[RankRecord],
    matching: Matching,
    world_size: int | None,
    options: Options,
) -> tuple[Transfer, ...]:
    """The collectives of a job, those with the most waiting first.

    Args:
        records: one per rank.
        matching: what was matched in them.
        world_size: how many ranks the job has, or None.
        options: with what one GPU's links can send, and from when on a collective is slow.
    """
    rows: dict[tuple[Collective, tuple[int, ...]], list[tuple[Matched, Int64]]] = {}
    for matched in matching.matched:
        first = records[matched.who[0]]
        index = first.index[matched.at[:, 0]]
        for code in np.unique(index).tolist():
            key = first.known[code], matched.who
            rows.setdefault(key, []).append((matched, np.flatnonzero(index == code)))
    found = [
        _transfer(records, known, who, parts, world_size, options)
        for (known, who), parts in rows.items()
    ]
    return tuple(sorted(found, key=lambda one: -one.waiting_ns))


def _transfer(
    records: Sequence[RankRecord],
    known: Collective,
    who: tuple[int, ...],
    parts: Sequence[tuple[Matched, Int64]],
    world_size: int | None,
    options: Options,
) -> Transfer:
    length = np.concatenate([durations(records, matched)[rows] for matched, rows in parts])
    exposed = np.concatenate([_exposed(records, matched)[rows] for matched, rows in parts])
    shortest = length.min(axis=1)
    waiting = length - shortest[:, None]
    assumed = known.ranks is None and world_size == len(who)
    ranks = len(who) if assumed else known.ranks
    even = _is_even(records, parts)
    algorithm = bandwidths(known.bytes, shortest) if even and ranks != 1 else None
    factor = None if ranks is None else bus_factor(known.kind, ranks)
    bus = None if algorithm is None or factor is None else _scaled(algorithm, factor)
    why = "" if bus else _UNEVEN if not even else _missing(known, algorithm is not None)
    return Transfer(
        known=known,
        who=who,
        calls=len(length),
        bytes=known.bytes if even else None,
        transfer_ns=int(np.median(shortest)),
        longest_ns=int(np.median(length.max(axis=1))),
        waiting_ns=int(waiting.sum()),
        exposed_waiting_ns=int(np.minimum(waiting, exposed).sum()),
        exposed_transfer_ns=int(np.minimum(shortest[:, None], exposed).sum()),
        algbw_gbps=algorithm,
        busbw_gbps=bus,
        assumed=assumed,
        slow=_is_slow(known.bytes, bus, options),
        why=why,
    )


def _missing(known: Collective, has_algorithm: bool) -> str:
    return reason(known, has_algorithm, False).split("; the rest is ")[0]


def _exposed(records: Sequence[RankRecord], matched: Matched) -> Int64:
    columns = [records[p].exposed_ns[matched.at[:, i]] for i, p in enumerate(matched.who)]
    return np.stack(columns, 1)


def _is_even(records: Sequence[RankRecord], parts: Sequence[tuple[Matched, Int64]]) -> bool:
    """Whether all ranks gave as much at each call."""
    sizes = {
        records[p].known[code].bytes
        for matched, rows in parts
        for i, p in enumerate(matched.who)
        for code in np.unique(records[p].index[matched.at[rows, i]]).tolist()
    }
    return len(sizes) == 1


def _scaled(rates: tuple[float, float], factor: float) -> tuple[float, float]:
    return rates[0] * factor, rates[1] * factor


def _is_slow(size: int | None, bus: tuple[float, float] | None, options: Options) -> bool | None:
    if bus is None or options.link_gbps is None or size is None:
        return None
    limits = thresholds(options, RULE.id)
    return size >= limits["large_mb"] * 1e6 and bus[0] < limits["busbw_share"] * options.link_gbps
