"""Problems that only the ranks of a job together show: stragglers, and slow links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from whichlayer.analysis.communication.lateness import RankLateness
from whichlayer.analysis.communication.rank_record import COMPUTE
from whichlayer.analysis.communication.rules import comm_slow, straggler
from whichlayer.analysis.communication.transfers import Transfer
from whichlayer.analysis.gaps.catalogue import cause_rules
from whichlayer.analysis.gaps.proofs import microseconds
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Finding, Where
from whichlayer.analysis.settings import enabled, threshold, used

if TYPE_CHECKING:
    from whichlayer.analysis.communication.job import Comparison

_MORE_WORK = "balance the work of the ranks, or look at that rank's GPU: clocks, thermals, sharing"


def job_findings(comparison: Comparison, options: Options) -> tuple[Finding, ...]:
    """The findings of a job, those that cost most first.

    Args:
        comparison: of its ranks.
        options: with the speed of the links.
    """
    total = sum(record.window_ns for record in comparison.records)
    late = comparison.lateness.stragglers if enabled(options, straggler.RULE.id) else ()
    found = [_straggler(comparison, position, total, options) for position in late]
    slow = [one for one in comparison.transfers if one.slow]
    if slow and options.link_gbps is not None and enabled(options, comm_slow.RULE.id):
        found.append(_slow(slow, total, options.link_gbps, options))
    return tuple(sorted(found, key=lambda finding: -finding.time_ns))


def _straggler(comparison: Comparison, position: int, total_ns: int, options: Options) -> Finding:
    record = comparison.records[position]
    late = comparison.lateness.ranks[position]
    cause = late.cause
    layer, fix, where = Layer.UNKNOWN, straggler.RULE.fix, Where()
    behind = f"behind the middle rank by {microseconds(late.behind_ns)}"
    cost = f"of what the others waited exposed {microseconds(late.cost_ns)} are its own"
    evidence = [
        f"{behind} over {late.collectives} collectives, the last at {late.last} of them",
        f"{cost}; waits for several late ranks are shared among them",
    ]
    if cause is not None and cause.rule == COMPUTE:
        fix = _MORE_WORK
        evidence.append(
            f"its own kernels ran {microseconds(cause.more_compute_ns)} longer before them than "
            "those of the middle rank"
        )
    elif cause is not None and cause.rule in cause_rules():
        rule = cause_rules()[cause.rule]
        layer, fix = rule.layer, rule.fix
        evidence.append(
            f"before them its GPU had gaps of {microseconds(cause.idle_ns)}, "
            f"{microseconds(cause.more_idle_ns)} more than that of the middle rank; "
            f"{microseconds(cause.spent_ns)} are {rule.id}"
        )
        if cause.place is not None:
            where = cause.place.where
            evidence += cause.place.evidence
    share = late.behind_ns / record.window_ns if record.window_ns else 0.0
    return Finding(
        rule=straggler.RULE.id,
        layer=layer,
        title=f"{record.name} comes late to the collectives",
        time_ns=late.cost_ns,
        recoverable_ns=None,
        share=late.cost_ns / total_ns if total_ns else 0.0,
        fix=fix,
        where=where,
        evidence=tuple(evidence),
        regions=(),
        confidence=_confidence(late),
        threshold=_threshold(share, options),
    )


#: A rank that was late at fewer collectives than this is so by a hint.
_FEW = 10


def _confidence(late: RankLateness) -> str:
    return "low" if late.collectives < _FEW else "medium"


def _threshold(share: float, options: Options) -> str:
    name = "major" if share >= threshold(options, straggler.RULE.id, "major") else "note"
    return used(options, straggler.RULE.id, name)


def _slow(slow: Sequence[Transfer], total_ns: int, link_gbps: float, options: Options) -> Finding:
    """All collectives that are slow together; time is what is exposed above the links' speed."""
    time, evidence = 0, []
    for one in slow:
        if one.busbw_gbps is None:
            continue
        lost = 1 - one.busbw_gbps[0] / link_gbps
        time += int(lost * one.exposed_transfer_ns)
        evidence.append(
            f"{one.known.kind} of {one.bytes or 0:,} bytes on {len(one.who)} ranks: "
            f"{one.busbw_gbps[0]:.1f} of {link_gbps:.0f} GB/s bus bandwidth over {one.calls} calls"
        )
    return Finding(
        rule=comm_slow.RULE.id,
        layer=comm_slow.RULE.layer,
        title=comm_slow.RULE.title,
        time_ns=time,
        recoverable_ns=None,
        share=time / total_ns if total_ns else 0.0,
        fix=comm_slow.RULE.fix,
        where=Where(),
        evidence=tuple(evidence),
        regions=(),
        confidence="medium",
        threshold=used(options, comm_slow.RULE.id, "busbw_share"),
    )
