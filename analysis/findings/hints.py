"""Findings about the whole recording: what explains time that other findings hold."""

from __future__ import annotations

from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.kernels.rule_modules import kernel_rule_modules
from whichlayer.analysis.quality.effects import doubts, lowered, reasons
from whichlayer.analysis.results import Analysis, Finding, Region
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import enabled, used
from whichlayer.analysis.trace.kinds import GPU_WORK

#: At most this many regions are given with a hint.
MAX_REGIONS = 50


def collect_hints(analysis: Analysis) -> list[Finding]:
    """What rules about a whole recording find: no time of their own, so nothing counts twice."""
    found = []
    for module in kernel_rule_modules():
        if not hasattr(module, "find") or not enabled(analysis.options, module.RULE.id):
            continue
        hint = module.find(analysis)
        if hint is not None:
            found.append(_finding(analysis, module.RULE, hint))
    return found


def _finding(analysis: Analysis, rule: Rule, hint: Hint) -> Finding:
    trace = analysis.trace
    index_of = {device.number: i for i, device in enumerate(analysis.devices)}
    regions = []
    for row in hint.rows[:MAX_REGIONS]:
        device = index_of.get(trace.lanes[int(trace.lane_id[row])].device, 0)
        regions.append(Region(int(trace.start_ns[row]), int(trace.end_ns[row]), device))
    lead = hint.rows[0]
    place = int(trace.launch[lead]) if trace.kind[lead] in GPU_WORK else lead
    name = next(iter(rule.thresholds), None)
    gates = doubts(analysis.warnings)
    return Finding(
        rule=rule.id,
        layer=rule.layer,
        title=rule.title,
        time_ns=0,
        recoverable_ns=None,
        share=0.0,
        fix=hint.fix or rule.fix,
        where=where_of(trace, place, analysis.options.source_roots),
        evidence=(*hint.evidence, *reasons(gates, from_gap=False)),
        regions=tuple(regions),
        confidence=lowered("medium", gates, False),
        threshold="" if name is None else used(analysis.options, rule.id, name),
    )
