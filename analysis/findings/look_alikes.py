"""What a recording cannot tell from a finding's cause, and what its gain takes for granted."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.findings.where import holds_stacks
from whichlayer.analysis.gaps.causes import gc_pause
from whichlayer.analysis.gaps.silent import is_silent
from whichlayer.analysis.quality.effects import less_sure
from whichlayer.analysis.results import Analysis, Finding
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

_CALLS_ALONE = (
    "less sure: only calls are recorded, so that an optimizer's loop, a graph break or a compile is in "
    "it where there is one, while longer silences between calls are unattributed: record operators"
)
_UNNAMED = (
    "an optimizer's loop over its tensors would look the same, since neither its step nor stacks are "
    "recorded"
)
_COLLECTOR = (
    "no garbage collection is recorded here: where the recorder leaves them out (torch before 2.9, or "
    "without record_python_gc_info) a pause of the collector looks the same"
)
_WORKERS = (
    "recoverable if the loader's worker processes keep up with a faster step: what they need for a "
    "batch is only known of batches that were waited for"
)
_OPTIMIZER = re.compile(r"Optimizer\.step#")
_BACKWARD = re.compile(r"^autograd::engine|Backward\d*$")
_BY_WORKERS = re.compile(r"_MultiProcessingDataLoaderIter|: _try_get_data\b")


def with_look_alikes(analysis: Analysis, finding: Finding) -> Finding:
    """The finding with what this recording cannot tell from its cause, trusted less if that is much."""
    trace = analysis.trace
    if finding.rule == "launch-bound":
        if _of_calls_alone(analysis):
            sure = less_sure(finding.confidence)
            return replace(finding, evidence=(*finding.evidence, _CALLS_ALONE), confidence=sure)
        return _with(finding, _UNNAMED) if _hides_optimizers(trace) else finding
    if finding.rule == "python-overhead" and finding.where.file is not None:
        return finding if _collects(analysis) else _with(finding, _COLLECTOR)
    return finding


def _hides_optimizers(trace: Trace) -> bool:
    """Whether something is trained and nothing names the optimizer's step."""
    trains = any(_BACKWARD.search(text) for text in trace.strings)
    named = any(_OPTIMIZER.search(text) for text in trace.strings)
    return trains and not named and not holds_stacks(trace)


def _collects(analysis: Analysis) -> bool:
    """Whether a garbage collection is recorded in the window."""
    trace, window = analysis.trace, analysis.window
    names = [
        i for i, text in enumerate(trace.strings) if gc_pause.marks(text, SliceKind.PYTHON, "")
    ]
    rows = np.flatnonzero(among(trace.name_id, names)) if names else np.empty(0, np.intp)
    inside = (trace.start_ns[rows] < window.end_ns) & (trace.end_ns[rows] > window.start_ns)
    return bool(inside.any())


def _with(finding: Finding, line: str) -> Finding:
    return replace(finding, evidence=(*finding.evidence, line))


def taken_for_granted(trace: Trace, rule: str) -> tuple[str, ...]:
    """What the gain of a finding rests on that is not recorded, as evidence."""
    if rule == "dataloader-wait":
        return ()
    return (_WORKERS,) if any(_BY_WORKERS.search(text) for text in trace.strings) else ()


def _of_calls_alone(analysis: Analysis) -> bool:
    """Whether most late dispatch is of a process that recorded neither operators nor Python."""
    gaps = analysis.gaps
    mine = (gaps.cause == gaps.rule_ids.index("launch-bound")) & (gaps.launch_row >= 0)
    if not mine.any():
        return False
    lanes = analysis.trace.lane_id[gaps.launch_row[mine]]
    length = np.bincount(lanes, (gaps.end_ns - gaps.start_ns)[mine])
    return is_silent(analysis.trace, int(np.argmax(length)))
