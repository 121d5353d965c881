"""One gap piece in words: owner, cause, fix, place, and evidence to verify on the timeline."""

from __future__ import annotations

from whichlayer.analysis.findings.where import RECORD_STACKS, main_frame, where_of
from whichlayer.analysis.gaps.catalogue import cause_rules, fix_of
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.results import Analysis, GapKind, Gaps, GapText, Where
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

_RECORD_LAUNCH = (
    "the launch is not in the file: record from before it, with a warm-up step in the schedule"
)
_RECORD_SYNC = "record with _ExperimentalConfig(enable_cuda_sync_events=True)"


def explain_gap(analysis: Analysis, index: int) -> GapText:
    """What is told about one piece of ``analysis.gaps``."""
    trace, gaps = analysis.trace, analysis.gaps
    rule = cause_rules()[gaps.rule(index)]
    culprit = _culprit(trace, gaps, index)
    name = trace.name(culprit) if culprit >= 0 else ""
    return GapText(
        rule=rule.id,
        layer=rule.layer,
        title=rule.title,
        fix=fix_of(rule.id, name),
        where=_where(trace, gaps, index, culprit),
        evidence=tuple(_evidence(analysis, index, culprit)),
    )


def _culprit(trace: Trace, gaps: Gaps, index: int) -> int:
    """The slice that explains a piece; for Python, the frame that fills most of it."""
    culprit = int(gaps.culprit_row[index])
    launch = int(gaps.launch_row[index])
    if gaps.rule(index) != "python-overhead" or launch < 0:
        return culprit
    lane = int(trace.lane_id[culprit if culprit >= 0 else launch])
    frame = main_frame(trace, lane, int(gaps.start_ns[index]), int(gaps.end_ns[index]))
    return frame if frame >= 0 else culprit


def _on_cpu(trace: Trace, row: int) -> bool:
    return row >= 0 and trace.lanes[int(trace.lane_id[row])].kind == LaneKind.CPU_THREAD


def _where(trace: Trace, gaps: Gaps, index: int, culprit: int) -> Where:
    launch = int(gaps.launch_row[index])
    for row in (culprit, launch):
        if _on_cpu(trace, row):
            return where_of(trace, row)
    if culprit >= 0 and _on_cpu(trace, int(trace.launch[culprit])):
        return where_of(trace, int(trace.launch[culprit]))
    missing = launch < 0 and int(gaps.next_row[index]) >= 0
    return Where(record=_RECORD_LAUNCH if missing else RECORD_STACKS)


def microseconds(ns: int) -> str:
    """A duration for people: µs below a millisecond, ms below a second."""
    if abs(ns) < 1_000_000:
        return f"{ns / 1e3:,.1f} µs"
    return f"{ns / 1e6:,.2f} ms" if abs(ns) < 1_000_000_000 else f"{ns / 1e9:,.3f} s"


def _evidence(analysis: Analysis, index: int, culprit: int) -> list[str]:
    trace, gaps = analysis.trace, analysis.gaps
    start, end = int(gaps.start_ns[index]), int(gaps.end_ns[index])
    lines = []
    if gaps.kind[index] != GapKind.IDLE:
        return [_ran(trace, int(gaps.next_row[index]), end - start)]
    following, launch = int(gaps.next_row[index]), int(gaps.launch_row[index])
    lines.append(f"idle {microseconds(end - start)}{_before(trace, following)}")
    lines += _launch_lines(trace, start, following, launch, gaps.rule(index))
    if culprit >= 0 and culprit != launch:
        lines.append(_culprit_line(trace, culprit, start, end))
    return lines


def _ran(trace: Trace, row: int, length: int) -> str:
    lane = trace.lanes[int(trace.lane_id[row])]
    line = (
        f"{microseconds(length)} in which only {short_name(trace.name(row))} "
        f"ran, on stream {lane.stream}"
    )
    size = trace.detail(row).get("bytes")
    duration = int(trace.end_ns[row] - trace.start_ns[row])
    if isinstance(size, int) and size > 0 and duration > 0:
        line += f": {size:,} bytes at {size / duration:.1f} GB/s"
    return line


def _before(trace: Trace, following: int) -> str:
    if following < 0:
        return ", after which nothing runs in the recording"
    lane = trace.lanes[int(trace.lane_id[following])]
    return f" before {short_name(trace.name(following))} on stream {lane.stream}"


def _launch_lines(trace: Trace, start: int, following: int, launch: int, rule: str) -> list[str]:
    if launch < 0 and rule != "unattributed":
        return []
    if following < 0:
        return [f"nothing is recorded on the step's thread meanwhile: {RECORD_STACKS}"]
    if launch < 0:
        return [_RECORD_LAUNCH]
    began = int(trace.start_ns[launch])
    call = clean(trace.name(launch))
    thread = trace.lanes[int(trace.lane_id[launch])]
    who = clean(thread.name or str(thread.tid))
    if began > start:
        line = f"its launch {call} on {who} began {microseconds(began - start)} into the gap"
    else:
        line = f"its launch {call} on {who} had begun {microseconds(start - began)} before"
    if rule != "unattributed":
        return [line]
    if began > start:
        return [line, f"nothing is recorded on that thread meanwhile: {RECORD_STACKS}"]
    if int(trace.end_ns[launch]) > start:
        return [line, "the call had not returned: why it took so long is not recorded"]
    return [line, "what the queued work waited for is not recorded: " + _RECORD_SYNC]


def _culprit_line(trace: Trace, culprit: int, start: int, end: int) -> str:
    name = clean(trace.name(culprit))
    begin, finish = int(trace.start_ns[culprit]), int(trace.end_ns[culprit])
    length = microseconds(finish - begin)
    lane = trace.lanes[int(trace.lane_id[culprit])]
    what = {
        SliceKind.PYTHON: "Python frame",
        SliceKind.ANNOTATION: "annotation",
        SliceKind.RUNTIME: "call",
        SliceKind.CPU_OP: "operator",
    }.get(SliceKind(int(trace.kind[culprit])), "event")
    on = f" on {clean(lane.name or str(lane.tid))}"
    if finish <= start:
        return f"the {what} {name}{on} ({length}) had emptied the queue {microseconds(start - finish)} before"
    return f"the {what} {name} ({length}){on} held the host meanwhile"
