"""What the user means by "this": the chosen finding or kernel, else what the cursor is on."""

from __future__ import annotations

from dataclasses import dataclass, field

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.findings.where import where_of
from whichlayer.analysis.gaps.explain import explain_gap
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.delay_text import judged_delay
from whichlayer.analysis.results import Analysis, Finding, KernelGroup, Where
from whichlayer.analysis.trace.kinds import GPU_WORK
from whichlayer.tui.document import Document
from whichlayer.tui.messages import Subject
from whichlayer.tui.view import View


@dataclass(frozen=True, slots=True)
class AtHand:
    """What keys that explain, copy or open act on.

    Attributes:
        name: what it is, in few words.
        layer: its owner, or None.
        rule: the cause or rule, or empty.
        fix: what to change, or empty.
        where: the place in the code.
        counters: a command that reads hardware counters, or empty.
        words: what of the glossary is about its numbers.
        finding: the finding itself, where it is one.
        judged: what the launch delay of GPU work was, in sentences, or empty.
    """

    name: str
    layer: Layer | None = None
    rule: str = ""
    fix: str = ""
    where: Where = field(default_factory=Where)
    counters: str = ""
    words: tuple[str, ...] = ()
    finding: Finding | None = None
    judged: str = ""


_OF_GAP = ("gap", "launch spacing", "recoverable")
_OF_KERNEL = ("ideal", "roof", "bytes", "occupancy", "waves", "unjudged")
_OF_LAUNCH = ("launch delay", "queue depth", "launch latency")
_OF_FINDING = ("time lost", "recoverable", "confidence")


def at_hand(
    document: Document, view: View, subject: Subject | None, slice_row: int
) -> AtHand | None:
    """What is chosen in a table, else the slice at the cursor, else the gap there.

    Args:
        document: the recording.
        view: what is looked at.
        subject: what a table speaks of.
        slice_row: trace row of the slice at the cursor, or -1.
    """
    analysis = document.analysis
    if analysis is None:
        return None
    if isinstance(subject, Finding):
        return of_finding(subject)
    if isinstance(subject, TraceWarning):
        return AtHand(subject.message, rule=subject.code)
    if isinstance(subject, KernelGroup):
        return _of_group(analysis, subject)
    gap = _of_gap(document, view)
    if slice_row < 0:
        return gap
    if document.trace.kind[slice_row] not in GPU_WORK:
        return _of_call(document, slice_row, gap)
    return _of_work(document, analysis, slice_row)


def of_finding(finding: Finding) -> AtHand:
    """A finding as what keys act on."""
    return AtHand(finding.title, finding.layer, finding.rule, finding.fix, finding.where,
                  words=_OF_FINDING, finding=finding)  # fmt: skip


def _of_group(analysis: Analysis, group: KernelGroup) -> AtHand:
    launch = int(analysis.trace.launch[int(group.rows[0])]) if len(group.rows) else -1
    where = where_of(analysis.trace, launch, analysis.options.source_roots)
    return AtHand(group.short_name, group.layer, group.rule, "", where, group.counters, _OF_KERNEL)


def _of_gap(document: Document, view: View) -> AtHand | None:
    analysis = document.analysis
    if analysis is None or view.device >= len(document.gaps):
        return None
    gaps = document.gaps[view.device]
    place = gaps.at(view.cursor_ns)
    if place < 0:
        return None
    text = explain_gap(analysis, int(gaps.index[place]))
    return AtHand(text.title, text.layer, text.rule, text.fix, text.where, words=_OF_GAP)


def _of_work(document: Document, analysis: Analysis, row: int) -> AtHand:
    activity = document.activity_of(row)
    group = int(analysis.activities.group[activity]) if activity >= 0 else -1
    where = where_of(analysis.trace, int(analysis.trace.launch[row]), analysis.options.source_roots)
    judged = _judged(document, row)
    if group < 0:
        words = (*_OF_LAUNCH, *_OF_KERNEL)
        return AtHand(document.names.short(row), where=where, words=words, judged=judged)
    one = analysis.kernels[group]
    return AtHand(one.short_name, one.layer, one.rule, "", where, one.counters,
                  (*_OF_KERNEL, *_OF_LAUNCH), judged=judged)  # fmt: skip


def _judged(document: Document, row: int) -> str:
    """The launch delay of GPU work, or of the first that a call launched."""
    analysis = document.analysis
    if analysis is None or document.links is None:
        return ""
    if document.trace.kind[row] not in GPU_WORK:
        launched = document.launched_by(row)
        if not len(launched):
            return ""
        row = int(launched[0])
    activity = document.activity_of(row)
    queued = document.links.queued(activity) if activity >= 0 else None
    return judged_delay(analysis, row, None if queued is None else queued.before)


def _of_call(document: Document, row: int, gap: AtHand | None) -> AtHand:
    """A call off the GPU; what the device lost meanwhile is told with it."""
    analysis = document.analysis
    assert analysis is not None
    where = where_of(document.trace, row, analysis.options.source_roots)
    name, judged = document.names.short(row), _judged(document, row)
    if gap is None:
        return AtHand(name, where=where, words=_OF_LAUNCH, judged=judged)
    words = (*_OF_GAP, *_OF_LAUNCH)
    return AtHand(name, gap.layer, gap.rule, gap.fix, where, words=words, judged=judged)
