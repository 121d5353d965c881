"""What to record next time: only what would answer a question that this trace leaves open."""

from __future__ import annotations

import re

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.recorded import Recorded, find_recorded
from whichlayer.analysis.results import Analysis

#: The recording that answers everything this tool asks, ready to copy.
RECORDING_SNIPPET = (
    "from torch.profiler import ProfilerActivity, profile, schedule",
    "",
    "with profile(",
    "    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],",
    "    schedule=schedule(wait=1, warmup=2, active=3),",
    '    on_trace_ready=lambda prof: prof.export_chrome_trace("trace.json.gz"),',
    "    record_shapes=True,",
    "    with_stack=True,",
    ") as prof:",
    "    for batch in loader:",
    "        train_step(batch)",
    "        prof.step()",
)

_SETTING = re.compile(r"\b\w+=True\b")

_MINIMUM_SHARE = 0.01
"""Time below this share of the window is not worth another recording."""


def recording_advice(analysis: Analysis) -> tuple[str, ...]:
    """One line per thing that is missing, with what it would tell; empty if nothing is."""
    lines = _missing(analysis, find_recorded(analysis.trace))
    for finding in analysis.findings:
        named = set(_SETTING.findall(finding.where.record))
        if named and any(named <= set(_SETTING.findall(line)) for line in lines):
            continue
        lines.append(finding.where.record)
    return tuple(line for line in dict.fromkeys(lines) if line)


def _missing(analysis: Analysis, recorded: Recorded) -> list[str]:
    lines = []
    if not recorded.gpu:
        lines.append(
            "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]: "
            "without GPU activity there is no verdict"
        )
    if not recorded.steps:
        lines.append(
            "prof.step() after every step: the window is then whole steps, not first to last "
            "activity"
        )
    budget = analysis.budget
    worth = _MINIMUM_SHARE * budget.total_ns
    if recorded.gpu and not recorded.launches:
        lines.append(
            "activities with ProfilerActivity.CPU: a gap's cause is read from the launch after it"
        )
    if not recorded.shapes and budget.unjudged_ns > worth:
        lines.append("record_shapes=True: bytes and flops of kernels come from operator shapes")
    above = sum(budget.gap_ns.get(layer, 0) for layer in (Layer.PYTORCH, Layer.UNKNOWN))
    if not recorded.stacks and above > worth:
        lines.append("with_stack=True: names the file and line behind a gap")
    return lines
