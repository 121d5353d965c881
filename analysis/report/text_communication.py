"""Collectives and copies as tables; nothing where there are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from whichlayer.analysis.communication.calls import Overlap, overlaps_of
from whichlayer.analysis.communication.collectives import (
    ONE_RANK,
    CollectiveGroup,
    find_collectives,
)
from whichlayer.analysis.communication.copies import CopyGroup, find_copies
from whichlayer.analysis.communication.job import compare_devices
from whichlayer.analysis.report.text_layout import Column, table, wrap
from whichlayer.analysis.report.units import (
    UNKNOWN,
    bytes_text,
    rate_text,
    share_text,
    time_text,
)
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.text import gpu_text

#: Rows that are shown of each table; what follows is summed up in a line.
_SHOWN = 8
#: Collectives and copies below this share of the window, all together, get no table.
_LEAST_SHARE = 0.001

_FIGURES = (
    Column("calls", 6),
    Column("size", 8),
    Column("time", 8),
    Column("exposed", 8),
    Column("hidden", 8),
)
_COLLECTIVES = (
    Column("", 15, right=False),
    Column("ranks", 5),
    *_FIGURES,
    Column("algbw", 6),
    Column("busbw", 6),
    Column("best", 6),
)
_COPIES = (Column("", 24, right=False), *_FIGURES, Column("GB/s", 6))


def collective_lines(analysis: Analysis) -> list[str]:
    """What collectives cost, and how fast they are; empty where there are none to speak of."""
    groups = find_collectives(analysis)
    if not _matters(analysis, sum(group.total_ns for group in groups)):
        return []
    rows = [_collective_row(analysis, group) for group in groups[:_SHOWN]]
    missing = [line for group in groups[:_SHOWN] if (line := _without_limit(group.why))]
    limits = [f"are {ONE_RANK}"] if any(group.algbw_gbps for group in groups[:_SHOWN]) else []
    return [
        f"COMMUNICATION  {_hidden(o.communication for o in overlaps_of(analysis))}",
        *table(_COLLECTIVES, rows, indent="  "),
        *_rest(groups[_SHOWN:], "collectives"),
        *_notes("–", missing),
        *_notes("GB/s", limits),
        *_notes("late", _late(analysis)),
    ]


def copy_lines(analysis: Analysis) -> list[str]:
    """What copies to and from the host or a peer cost; empty where there are none to speak of."""
    groups = [group for group in find_copies(analysis) if group.exposed_ns is not None]
    if not _matters(analysis, sum(group.total_ns for group in groups)):
        return []
    return [
        f"COPIES  {_hidden(o.copies for o in overlaps_of(analysis))}",
        *table(_COPIES, [_copy_row(analysis, group) for group in groups[:_SHOWN]], indent="  "),
        *_rest(groups[_SHOWN:], "copies"),
        *_notes("–", [group.why for group in groups[:_SHOWN] if group.why]),
    ]


def _late(analysis: Analysis) -> list[str]:
    """Which of several GPUs comes late to the collectives."""
    compared = compare_devices(analysis)
    if compared is None:
        return []
    lateness = compared.lateness
    return [
        f"{compared.records[position].name} comes after the middle one of the GPUs by "
        f"{time_text(lateness.ranks[position].behind_ns)} in all, and the others waited "
        f"{time_text(lateness.ranks[position].cost_ns)} for it"
        for position in lateness.stragglers
    ]


def _notes(mark: str, notes: Sequence[str]) -> list[str]:
    return [line for note in dict.fromkeys(notes) for line in wrap(note, f"  {mark}  ")]


def _matters(analysis: Analysis, total_ns: int) -> bool:
    return total_ns > 0 and total_ns >= _LEAST_SHARE * analysis.budget.total_ns


def _hidden(overlaps: Iterable[Overlap]) -> str:
    known = list(overlaps)
    busy, exposed = sum(one.busy_ns for one in known), sum(one.exposed_ns for one in known)
    if exposed in (0, busy):
        return f"{time_text(busy)}, {'all' if exposed else 'none'} of it exposed"
    return f"{time_text(busy)}, {time_text(exposed)} ({share_text(exposed, busy)}) of it exposed"


def _where(analysis: Analysis, device: int, text: str) -> str:
    """With its GPU where there are several."""
    if len(analysis.devices) == 1:
        return text
    return f"{gpu_text(analysis.devices[device].number)} {text}"


def _collective_row(analysis: Analysis, group: CollectiveGroup) -> tuple[str, ...]:
    algorithm, bus = group.algbw_gbps, group.busbw_gbps
    return (
        _where(analysis, group.device, group.known.kind),
        UNKNOWN if group.known.ranks is None else str(group.known.ranks),
        str(group.calls),
        bytes_text(group.bytes),
        time_text(group.total_ns),
        time_text(group.exposed_ns),
        time_text(group.hidden_ns),
        rate_text(algorithm and algorithm[0]),
        rate_text(bus and bus[0]),
        rate_text(bus and bus[1]),
    )


def _copy_row(analysis: Analysis, group: CopyGroup) -> tuple[str, ...]:
    memory = "" if group.memory is None else f", {group.memory}"
    return (
        _where(analysis, group.device, group.direction + memory),
        str(group.calls),
        bytes_text(group.bytes),
        time_text(group.total_ns),
        time_text(group.exposed_ns),
        time_text(group.hidden_ns),
        rate_text(group.gbps),
    )


def _rest(groups: Sequence[CollectiveGroup | CopyGroup], noun: str) -> list[str]:
    if not groups:
        return []
    total = time_text(sum(group.total_ns for group in groups))
    exposed = time_text(sum(group.exposed_ns or 0 for group in groups))
    return [f"  and {len(groups)} more kinds and sizes of {noun}: {total}, {exposed} exposed"]


def _without_limit(why: str) -> str:
    """What is missing; that all rates are lower bounds is said once for all."""
    return why.split("; the rest is ")[0] if not why.startswith(ONE_RANK) else ""
