"""What several ranks tell together as JSON: who is late, and how fast collectives are."""

from __future__ import annotations

from typing import Any

from whichlayer.analysis.communication.job import Comparison
from whichlayer.analysis.communication.lateness import Cause, RankLateness
from whichlayer.analysis.communication.rank_record import RankRecord
from whichlayer.analysis.communication.rules import straggler
from whichlayer.analysis.communication.transfers import Transfer
from whichlayer.analysis.report import json_values as values


def comparison_fields(comparison: Comparison) -> dict[str, Any]:
    """What several ranks, or the GPUs of one recording, tell together."""
    matching, lateness = comparison.matching, comparison.lateness
    names = [record.name for record in comparison.records]
    return {
        "ranks": values.texts(names),
        "matched": sum(len(matched) for matched in matching.matched),
        "matched_by": sorted({matched.by for matched in matching.matched}),
        "unmatched": matching.unmatched,
        "notes": values.texts(matching.notes),
        "ends_agree_within_us": values.microseconds(lateness.agreement_ns),
        "trusted": lateness.trusted,
        "stragglers": values.texts(names[position] for position in lateness.stragglers),
        "threshold": f"rules.straggler.note = {straggler.RULE.thresholds['note']:.2f}",
        "lateness": [
            {"rank": name, **lateness_fields(one)}
            for name, one in zip(names, lateness.ranks, strict=True)
        ],
        "collectives": [_transfer(one, comparison.records) for one in comparison.transfers],
    }


def lateness_fields(one: RankLateness) -> dict[str, Any]:
    """How late one rank was, and why."""
    return {
        "collectives": one.collectives,
        "lateness_us": values.microseconds(one.lateness_ns),
        "behind_us": values.microseconds(one.behind_ns),
        "last": one.last,
        "waiting_us": values.microseconds(one.waiting_ns),
        "exposed_waiting_us": values.microseconds(one.exposed_waiting_ns),
        "cost_to_others_us": values.microseconds(one.cost_ns),
        "at_first_us": values.microseconds(one.first_ns),
        "cause": None if one.cause is None else _cause(one.cause),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    place = cause.place
    return {
        "rule": cause.rule,
        "spent_us": values.microseconds(cause.spent_ns),
        "gaps_us": values.microseconds(cause.idle_ns),
        "more_gaps_us": values.microseconds(cause.more_idle_ns),
        "more_compute_us": values.microseconds(cause.more_compute_ns),
        "gap": None
        if place is None
        else {
            "start_us": values.microseconds(place.start_ns),
            "end_us": values.microseconds(place.end_ns),
            "cause": place.rule,
            "where": values.place(place.where),
            "evidence": values.texts(place.evidence),
        },
    }


def _transfer(one: Transfer, records: tuple[RankRecord, ...]) -> dict[str, Any]:
    known, algorithm, bus = one.known, one.algbw_gbps, one.busbw_gbps
    return {
        "kind": known.kind,
        "process_group": values.words(known.group),
        "process_group_description": values.words(known.group_text),
        "group_size": len(one.who) if one.assumed else values.integer(known.ranks),
        "group_size_assumed": one.assumed,
        "ranks": values.texts(records[position].name for position in one.who),
        "dtype": known.dtype,
        "bytes": values.integer(one.bytes),
        "calls": one.calls,
        "transfer_us": values.microseconds(one.transfer_ns),
        "longest_us": values.microseconds(one.longest_ns),
        "waiting_us": values.microseconds(one.waiting_ns),
        "exposed_waiting_us": values.microseconds(one.exposed_waiting_ns),
        "algbw_gbps": None if algorithm is None else values.number(algorithm[0]),
        "best_algbw_gbps": None if algorithm is None else values.number(algorithm[1]),
        "busbw_gbps": None if bus is None else values.number(bus[0]),
        "best_busbw_gbps": None if bus is None else values.number(bus[1]),
        "slow": one.slow,
        "why": values.words(one.why),
    }
