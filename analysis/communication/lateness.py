"""Which rank comes late to the collectives, and what the others lose by it.

Ranks leave a collective together, so who lasts longest in it came first. All figures come from
durations of the same collective on several ranks; no clock of one rank is compared with another's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whichlayer.analysis.communication.matching import Matched, Matching
from whichlayer.analysis.communication.rank_record import COMPUTE, Place, RankRecord
from whichlayer.analysis.communication.rules.straggler import RULE
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import thresholds
from whichlayer.analysis.trace.columns import Int64

#: A rank that is behind by this part of the one that is most behind is a straggler as well.
_AS_WELL = 0.5
#: So much of what a rank is behind must be its GPU's own work for that to be the cause.
_MOSTLY = 0.5
#: Ends that differ by no more than this part of what a collective lasts agree.
_AGREE = 0.2
#: Ends that differ by no more than this are equal on clocks that tick in microseconds.
_TICKS_NS = 10_000


@dataclass(frozen=True, slots=True)
class Cause:
    """What a late rank did before the collectives it came late to.

    Attributes:
        rule: the cause of gaps that its GPU lost most to there; ``compute`` where its own
            kernels took that much longer than the middle rank's; None where nothing is known.
        spent_ns: how much time that is, there.
        idle_ns: its gaps there, of all causes.
        more_idle_ns: how much more than those of the middle rank.
        more_compute_ns: how much longer its own kernels ran there than the middle rank's.
        place: the longest gap of that cause before a collective that it was behind at, if kept.
    """

    rule: str | None
    spent_ns: int
    idle_ns: int
    more_idle_ns: int
    more_compute_ns: int
    place: Place | None


@dataclass(frozen=True, slots=True)
class RankLateness:
    """How late one rank was, over all collectives that were matched but each group's first.

    Attributes:
        lateness_ns: sum of longest duration over the ranks minus its own.
        behind_ns: sum of how far it came after the middle one of the ranks.
        last: at how many collectives it was the last.
        collectives: of how many.
        waiting_ns: what it waited in them for later ranks: duration minus the shortest.
        exposed_waiting_ns: the part that nothing hid, at most.
        cost_ns: what the other ranks waited exposed for it, each instant shared among all who had
            not come yet: over all ranks it adds up to their exposed waiting.
        first_ns: its lateness at the first collective of each group, which does not count.
        cause: of being behind; None for a rank that is not.
    """

    lateness_ns: int = 0
    behind_ns: int = 0
    last: int = 0
    collectives: int = 0
    waiting_ns: int = 0
    exposed_waiting_ns: int = 0
    cost_ns: int = 0
    first_ns: int = 0
    cause: Cause | None = None


@dataclass(frozen=True, slots=True)
class Lateness:
    """The lateness of all ranks.

    Attributes:
        ranks: one per record.
        stragglers: positions of the ranks that are late by the rule, the worst first.
        agreement_ns: how far the times from the end of one collective to the end of the next
            differ between ranks, median over the collectives; None where there are none.
            Ranks leave together, so this is small where the matching is right.
        trusted: it is small beside what the collectives last, so that lateness may be believed.
    """

    ranks: tuple[RankLateness, ...]
    stragglers: tuple[int, ...]
    agreement_ns: int | None
    trusted: bool


def find_lateness(records: Sequence[RankRecord], matching: Matching, options: Options) -> Lateness:
    """How late each rank was.

    Args:
        records: one per rank.
        matching: what :func:`~whichlayer.analysis.communication.matching.match` found in them.
        options: with the thresholds of stragglers.
    """
    found = [RankLateness() for _ in records]
    behind = [np.zeros(len(record), np.int64) for record in records]
    differences: list[Int64] = []
    lengths: list[Int64] = []
    for matched, firsts in _with_firsts(matching):
        length = durations(records, matched)
        differences.append(_disagreement(records, matched))
        lengths.append(length.max(axis=1))
        _add(found, behind, records, matched, length, firsts)
    ranks = tuple(
        replace(one, cause=_cause(records, position, matching, behind)) if one.behind_ns else one
        for position, one in enumerate(found)
    )
    spread = np.concatenate(differences) if differences else np.empty(0, np.int64)
    agreement = int(np.median(spread)) if len(spread) else None
    typical = float(np.median(np.concatenate(lengths))) if lengths else 0.0
    trusted = agreement is None or agreement <= max(_AGREE * typical, _TICKS_NS)
    return Lateness(
        ranks, _stragglers(records, ranks, options) if trusted else (), agreement, trusted
    )


def durations(records: Sequence[RankRecord], matched: Matched) -> Int64:
    """How long each collective lasts on each rank: int64 (m, who)."""
    columns = [records[p].duration_ns[matched.at[:, i]] for i, p in enumerate(matched.who)]
    return np.stack(columns, 1)


def _with_firsts(matching: Matching) -> list[tuple[Matched, bool]]:
    """The matched collectives, and whether theirs begin the group's recording."""
    seen: set[object] = set()
    found = []
    for matched in matching.matched:
        found.append((matched, matched.group not in seen))
        seen.add(matched.group)
    return found


def _add(
    found: list[RankLateness],
    behind: list[Int64],
    records: Sequence[RankRecord],
    matched: Matched,
    length: Int64,
    begins: bool,
) -> None:
    """Add what some collectives say of the lateness of their ranks."""
    first, length_after = int(begins), length[int(begins) :]
    longest, shortest = length_after.max(axis=1), length_after.min(axis=1)
    # Of an even number of ranks the earlier of the two middle ones: with two, the other one.
    middle = np.sort(length_after, axis=1)[:, length.shape[1] // 2]
    after = np.maximum(middle[:, None] - length_after, 0)
    waiting = length_after - shortest[:, None]
    exposed = np.stack(
        [records[p].exposed_ns[matched.at[first:, i]] for i, p in enumerate(matched.who)], 1
    )
    bare = np.minimum(exposed, waiting)
    charged = _charge(length_after, bare)
    for i, position in enumerate(matched.who):
        old = found[position]
        found[position] = RankLateness(
            lateness_ns=old.lateness_ns + int((longest - length_after[:, i]).sum()),
            behind_ns=old.behind_ns + int(after[:, i].sum()),
            last=old.last + int((length_after[:, i] == shortest).sum()),
            collectives=old.collectives + len(length_after),
            waiting_ns=old.waiting_ns + int(waiting[:, i].sum()),
            exposed_waiting_ns=old.exposed_waiting_ns + int(bare[:, i].sum()),
            cost_ns=old.cost_ns + charged[i],
            first_ns=old.first_ns + int((length[:first].max(axis=1) - length[:first, i]).sum()),
        )
        behind[position][matched.at[first:, i]] = after[:, i]


def _charge(length: Int64, bare: Int64) -> list[int]:
    """Exposed waiting by who was waited for, each instant shared among all who had not come.

    What a rank waits exposed is taken to be the end of its wait: what hides a wait is work that
    was there when it began.

    Args:
        length: int64 (m, ranks), durations; who lasts longest came first.
        bare: int64 (m, ranks), what each waited exposed.
    """
    ranks = length.shape[1]
    came = length.max(axis=1, keepdims=True) - length
    order = np.argsort(came, axis=1, kind="stable")
    ordered = np.take_along_axis(came, order, axis=1)
    stretch = np.zeros(ordered.shape)
    for rank in range(ranks):
        begins = (ordered[:, -1] - bare[:, rank])[:, None]
        stretch[:, 1:] += np.diff(np.maximum(ordered, begins), axis=1)
    # Between the arrivals k - 1 and k the ranks from k on are missing.
    missing = np.maximum(ranks - np.arange(ranks), 1)
    shares = np.zeros(ordered.shape)
    np.put_along_axis(shares, order, np.cumsum(stretch / missing, axis=1), axis=1)
    return [int(share) for share in shares.sum(axis=0)]


def _disagreement(records: Sequence[RankRecord], matched: Matched) -> Int64:
    """How far ranks differ in the time between the ends of a collective and the next."""
    ends = np.stack([records[p].end_ns[matched.at[:, i]] for i, p in enumerate(matched.who)], 1)
    spacing = np.diff(ends, axis=0)
    return np.asarray(np.ptp(spacing, axis=1), np.int64)


def _stragglers(
    records: Sequence[RankRecord], ranks: Sequence[RankLateness], options: Options
) -> tuple[int, ...]:
    """The ranks that are behind by enough of their window and cost the others enough."""
    limits = thresholds(options, RULE.id)
    least = limits["cost"] * sum(record.window_ns for record in records)
    most = max((one.behind_ns for one in ranks), default=0)
    late = [
        position
        for position, one in enumerate(ranks)
        if one.behind_ns >= limits["note"] * records[position].window_ns > 0
        and one.behind_ns >= _AS_WELL * most
        and one.cost_ns >= least
    ]
    return tuple(sorted(late, key=lambda position: -ranks[position].behind_ns))


def _cause(
    records: Sequence[RankRecord], position: int, matching: Matching, behind: list[Int64]
) -> Cause:
    """What a rank did before the collectives at which it was behind, and the middle rank less."""
    record, mine = records[position], behind[position]
    late = mine > 0
    own = dict(zip(record.spent, record.before_ns[late].sum(axis=0).tolist(), strict=True))
    usual_compute, usual_idle = _usual(records, position, matching, late)
    compute = own.pop(COMPUTE, 0)
    idle = sum(own.values())
    more = idle - usual_idle, compute - usual_compute
    if more[1] >= _MOSTLY * int(mine.sum()):
        return Cause(COMPUTE, compute, idle, *more, None)
    if not idle:
        return Cause(None, 0, idle, *more, None)
    rule = max(own, key=own.__getitem__)
    kept = [place for i, place in record.places.get(rule, {}).items() if late[i]]
    place = max(kept, key=lambda one: one.end_ns - one.start_ns, default=None)
    return Cause(rule, own[rule], idle, *more, place)


def _usual(
    records: Sequence[RankRecord],
    position: int,
    matching: Matching,
    late: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> tuple[int, int]:
    """Compute and gaps of the middle rank before the same collectives."""
    totals = [0, 0]
    for matched in matching.matched:
        if position not in matched.who:
            continue
        rows = late[matched.at[:, matched.who.index(position)]]
        for kind in (0, 1):
            spent = [
                _spent(records[p])[kind][matched.at[rows, i]] for i, p in enumerate(matched.who)
            ]
            middle = np.sort(np.stack(spent, 1), axis=1)[:, len(spent) // 2]
            totals[kind] += int(middle.sum())
    return totals[0], totals[1]


def _spent(record: RankRecord) -> tuple[Int64, Int64]:
    """Compute and gaps before each collective."""
    compute = record.before_ns[:, record.spent.index(COMPUTE)]
    return compute, np.asarray(record.before_ns.sum(axis=1) - compute, np.int64)
