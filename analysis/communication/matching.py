"""Which collectives of several ranks are the same one: by what was recorded, never by clocks.

Within a process group by its sequence number where every rank recorded it; else within a step, and
all outside of steps, by their order, if every rank has the same kinds and sizes in the same order;
else kind and size by order where every rank has as many. What is left cannot be matched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.communication.collective_kinds import ALL_WAIT, EVEN
from whichlayer.analysis.communication.metadata import Collective
from whichlayer.analysis.communication.rank_record import RankRecord
from whichlayer.analysis.text import plural

#: What tells groups apart: name, description, size, members.
Group = tuple[str, str, int | None, tuple[int, ...]]
#: What collectives that are the same one have alike on all ranks.
Signature = tuple[str, int | None, int | None, str | None]


@dataclass(frozen=True, slots=True)
class Matched:
    """Collectives of one process group that were found on the same ranks.

    Attributes:
        group: its name, description, size and members, as far as recorded.
        who: positions in the list of records.
        at: int64 (m, who), the index of each collective in each rank's record, in order.
        by: ``sequence``, ``order``, or ``size`` for the order of one kind and size.
    """

    group: Group
    who: tuple[int, ...]
    at: NDArray[np.int64]
    by: str

    def __len__(self) -> int:
        return len(self.at)


@dataclass(slots=True)
class Matching:
    """Everything that was matched, and what could not be.

    Attributes:
        matched: groups and the ranks they were found on.
        unmatched: how many collectives, counted on all ranks, have no counterpart.
        notes: why, in lines.
    """

    matched: list[Matched] = field(default_factory=list)
    unmatched: int = 0
    notes: list[str] = field(default_factory=list)

    def leave(self, count: int, why: str) -> None:
        """Count collectives as unmatched."""
        if count:
            self.unmatched += count
            if why not in self.notes:
                self.notes.append(why)


def match(records: Sequence[RankRecord]) -> Matching:
    """Find the collectives that several ranks took part in.

    Args:
        records: one per rank, of one job.
    """
    result = Matching()
    members: dict[Group, dict[int, list[int]]] = {}
    for position, record in enumerate(records):
        groups = [_group(known) for known in record.known]
        all_wait = [known.kind in ALL_WAIT for known in record.known]
        for i, index in enumerate(record.index.tolist()):
            if not all_wait[index]:
                kind = record.known[index].kind
                result.leave(1, f"{kind} is not compared: not every rank waits for all others")
            else:
                members.setdefault(groups[index], {}).setdefault(position, []).append(i)
    for group, who in members.items():
        if not (group[0] or group[2] or group[3]):
            result.notes.append(
                "process groups are not recorded: collectives are taken for those of one group of "
                "all ranks; record with PyTorch 2.2 or newer"
            )
        _match_group(result, records, group, who)
    return result


def _group(known: Collective) -> Group:
    return known.group, known.group_text, known.ranks, known.members


def _signature(known: Collective) -> Signature:
    even = known.kind in EVEN
    return known.kind, known.given if even else None, known.got if even else None, known.dtype


def _match_group(
    result: Matching, records: Sequence[RankRecord], group: Group, who: dict[int, list[int]]
) -> None:
    if len(who) < 2:
        ((position, mine),) = who.items()
        called = f"group {group[0]}" if group[0] else "their group"
        result.leave(
            len(mine),
            f"of {called} only {records[position].name} is here: its {len(mine)} collectives "
            "have no counterpart",
        )
        return
    positions = tuple(who)
    if all((records[p].sequence[who[p]] >= 0).all() for p in positions):
        _by_sequence(result, records, group, who)
        return
    split = {p: _by_step(records[p], who[p]) for p in positions}
    for step in dict.fromkeys(step for steps in split.values() for step in steps):
        there = {p: split[p].get(step, []) for p in positions}
        _by_order(result, records, group, there, "" if step < 0 else f" of step {step}")


def _by_step(record: RankRecord, mine: Iterable[int]) -> dict[int, list[int]]:
    steps: dict[int, list[int]] = {}
    for i in mine:
        steps.setdefault(int(record.step[i]), []).append(i)
    return steps


def _by_sequence(
    result: Matching, records: Sequence[RankRecord], group: Group, who: dict[int, list[int]]
) -> None:
    """By number; several of one number, in one call of the group, by their order in it."""
    keyed: list[dict[tuple[int, int, Signature], int]] = []
    for position, mine in who.items():
        record, seen, keys = records[position], Counter[int](), {}
        for i in mine:
            number = int(record.sequence[i])
            keys[number, seen[number], _signature(record.known[record.index[i]])] = i
            seen[number] += 1
        keyed.append(keys)
    common = [key for key in keyed[0] if all(key in keys for keys in keyed[1:])]
    lone = sum(len(keys) - len(common) for keys in keyed)
    result.leave(lone, "some collectives were recorded on some of the ranks only")
    _add(result, group, tuple(who), [[keys[key] for keys in keyed] for key in common], "sequence")


def _by_order(
    result: Matching,
    records: Sequence[RankRecord],
    group: Group,
    who: dict[int, list[int]],
    when: str,
) -> None:
    signatures = {
        p: [_signature(records[p].known[records[p].index[i]]) for i in mine]
        for p, mine in who.items()
    }
    first = next(iter(signatures.values()))
    if all(other == first for other in signatures.values()):
        _add(
            result,
            group,
            tuple(who),
            [list(one) for one in zip(*who.values(), strict=True)],
            "order",
        )
        return
    for signature in dict.fromkeys(one for mine in signatures.values() for one in mine):
        mine = {
            p: [i for i, one in zip(who[p], signatures[p], strict=True) if one == signature]
            for p in who
        }
        counts = {p: len(found) for p, found in mine.items()}
        if len(set(counts.values())) == 1:
            _add(
                result,
                group,
                tuple(who),
                [list(one) for one in zip(*mine.values(), strict=True)],
                "size",
            )
            continue
        low, high = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
        result.leave(
            sum(counts.values()),
            f"{signature[0]}{when} cannot be matched: {records[high].name} recorded "
            f"{plural(counts[high], 'call')}, {records[low].name} {counts[low]}",
        )


def _add(
    result: Matching, group: Group, who: tuple[int, ...], rows: Sequence[Sequence[int]], by: str
) -> None:
    if rows:
        result.matched.append(Matched(group, who, np.array(rows, np.int64), by))
