"""One gap piece in words: owner, cause, fix, place, and evidence to verify on the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from whichlayer.analysis.findings.where import main_frame, record_place, where_of
from whichlayer.analysis.gaps.accounted import share_line
from whichlayer.analysis.gaps.catalogue import cause_rules, fix_of
from whichlayer.analysis.gaps.communication_fixes import communication_fix
from whichlayer.analysis.gaps.graph_breaks import place_of_break
from whichlayer.analysis.gaps.loader_fixes import loader_fix
from whichlayer.analysis.gaps.lost_work import lost_line
from whichlayer.analysis.gaps.parameter_copies import PARAMETER_FIX, holder_of, place_in
from whichlayer.analysis.gaps.proofs import behind_line, microseconds, proof_lines
from whichlayer.analysis.gaps.surroundings import chain_line, meanwhile_lines, thread_name
from whichlayer.analysis.gaps.sync_fixes import small_copy_fix, sync_fix
from whichlayer.analysis.gaps.unrecorded import (
    holds_host,
    record_launch,
    record_sync,
    record_thread,
    unattributed_fix,
)
from whichlayer.analysis.gaps.waits import Wait, wait_line, wait_of_row
from whichlayer.analysis.kernels.names import short_name
from whichlayer.analysis.results import Analysis, GapKind, Gaps, GapText, Where
from whichlayer.analysis.text import clean, size_text
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

# Members of an IntEnum are looked up slowly, and compared with NumPy's numbers more slowly.
_IDLE, _CPU_THREAD = int(GapKind.IDLE), LaneKind.CPU_THREAD
#: Causes in which a thread only looks idle, or busy, while another one held it up.
_LOOKS_IDLE = ("dataloader-wait", "launch-bound", "python-overhead", "unattributed")
#: Causes in which a piece is made of many calls, the culprit the longest.
_MANY_CALLS = ("launch-bound", "python-overhead")
#: Causes that are copies to the device.
_FROM_HOST = ("h2d-exposed", "h2d-pageable")
#: A launch call that takes longer than this is told with what it took.
SLOW_CALL_NS = 100_000
#: Shorter pieces are not looked at for what other threads did.
LOOKED_AT_NS = 200_000


def explain_gap(analysis: Analysis, index: int) -> GapText:
    """What is told about one piece of ``analysis.gaps``."""
    trace, gaps = analysis.trace, analysis.gaps
    rule = cause_rules()[gaps.rule(index)]
    culprit = _culprit(trace, gaps, index)
    return GapText(
        rule=rule.id,
        layer=rule.layer,
        title=rule.title,
        fix=_fix(trace, gaps, index, culprit),
        where=_where(trace, gaps, index, culprit, analysis.options.source_roots),
        evidence=tuple(_evidence(analysis, index, culprit)),
    )


def _fix(trace: Trace, gaps: Gaps, index: int, culprit: int) -> str:
    rule = gaps.rule(index)
    if rule == "unattributed":
        return unattributed_fix(trace, gaps, index)
    if culprit < 0:
        return fix_of(rule, "")
    if rule in _FROM_HOST and holder_of(trace, culprit) >= 0:
        return PARAMETER_FIX
    if rule == "exposed-comm" and (told := communication_fix(trace, culprit)) is not None:
        return told
    if rule == "dataloader-wait" and (told := loader_fix(trace, gaps, index, culprit)) is not None:
        return told
    if rule == "host-sync" and (told := sync_fix(trace, culprit)) is not None:
        return told
    if rule == "h2d-pageable" and (told := small_copy_fix(trace, culprit)) is not None:
        return told
    around = tuple(trace.name(row) for row in trace.enclosing(culprit))
    return fix_of(rule, trace.name(culprit), around)


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
    return row >= 0 and trace.lanes[trace.lane_id.item(row)].kind == _CPU_THREAD


def _where(trace: Trace, gaps: Gaps, index: int, culprit: int, roots: Sequence[str]) -> Where:
    where = _place(trace, gaps, index, culprit, roots)
    if culprit < 0 or gaps.rule(index) not in _FROM_HOST:
        return where
    holder = holder_of(trace, culprit)
    return where if holder < 0 else place_in(trace, holder, where)


def _place(trace: Trace, gaps: Gaps, index: int, culprit: int, roots: Sequence[str]) -> Where:
    broken = place_of_break(trace.name(culprit)) if culprit >= 0 else None
    if broken is not None:
        return replace(where_of(trace, culprit, roots), file=clean(broken[0]), line=broken[1])
    launch = int(gaps.launch_row[index])
    for row in (culprit, launch):
        if _on_cpu(trace, row):
            return where_of(trace, row, roots)
    if culprit >= 0 and _on_cpu(trace, int(trace.launch[culprit])):
        return where_of(trace, int(trace.launch[culprit]), roots)
    following = int(gaps.next_row[index])
    missing = launch < 0 and following >= 0
    return Where(record=record_launch(trace, following) if missing else record_place(trace))


def _evidence(analysis: Analysis, index: int, culprit: int) -> list[str]:
    trace, gaps, rule = analysis.trace, analysis.gaps, analysis.gaps.rule(index)
    start, end = int(gaps.start_ns[index]), int(gaps.end_ns[index])
    if gaps.kind.item(index) != _IDLE:
        ran = _ran(trace, int(gaps.next_row[index]), end - start)
        return [*ran, *proof_lines(trace, gaps, index, culprit)]
    following, launch = int(gaps.next_row[index]), int(gaps.launch_row[index])
    lines = [f"idle {microseconds(end - start)}{_before(trace, following)}"]
    if rule == "unattributed" and (odd := _odd_time(trace, culprit)):
        return [*lines, odd]
    lost = lost_line(trace, start, end, following) if rule == "unattributed" else None
    if lost is not None:
        return [*lines, lost]
    own = int(gaps.culprit_row[index])
    lines += _launch_lines(trace, (start, end), following, launch, own, rule)
    behind = behind_line(trace, culprit, launch, end)
    if behind is not None:
        lines.append(behind)
    elif rule == "unattributed" and culprit >= 0 and culprit != launch:
        lines.append(_where_it_was(trace, culprit))
    elif culprit >= 0 and culprit != launch and rule != "graph-break":
        lines += _culprit_lines(trace, culprit, launch, start, end)
        lines += _share_lines(trace, rule, culprit, launch, (start, end))
    lines += proof_lines(trace, gaps, index, culprit)
    if rule in _LOOKS_IDLE and launch >= 0 and end - start >= LOOKED_AT_NS:
        until = max(min(int(trace.start_ns[launch]), end), start)
        if wait_of_row(trace, culprit) == Wait.SLEEP:
            return lines
        lane = int(trace.lane_id[culprit if _on_cpu(trace, culprit) else launch])
        lines += meanwhile_lines(trace, lane, start, until)
    return lines


def _ran(trace: Trace, row: int, length: int) -> list[str]:
    """The collective or copy that ran alone: its stream, time, size, and its launch."""
    lane = trace.lanes[int(trace.lane_id[row])]
    duration = int(trace.end_ns[row] - trace.start_ns[row])
    name = short_name(trace.name(row))
    line = f"{microseconds(length)} in which only {name} ran, on stream {lane.stream}"
    size = trace.detail(row).get("bytes")
    facts = []
    if duration > length:
        facts.append(f"{microseconds(duration)} in all")
    if isinstance(size, int) and size > 0 and duration > 0:
        facts.append(f"{size_text(size)} at {size / duration:.1f} GB/s")
    lines = [f"{line}: {', '.join(facts)}" if facts else line]
    launch = int(trace.launch[row])
    if launch < 0:
        return [*lines, record_launch(trace, row)]
    begun, ran = int(trace.start_ns[launch]), int(trace.start_ns[row])
    call, who = clean(trace.name(launch)), thread_name(trace, launch)
    took = microseconds(int(trace.end_ns[launch]) - begun)
    when = f"{microseconds(ran - begun)} before it ran" if ran >= begun else "later than it ran"
    return [*lines, f"launched by {call} ({took}) on {who}, {when}"]


def _odd_time(trace: Trace, row: int) -> str:
    """An activity before its own launch, beside which nobody is charged; else empty."""
    launch = int(trace.launch[row]) if row >= 0 else -1
    early = int(trace.start_ns[launch] - trace.start_ns[row]) if launch >= 0 else 0
    if early <= 0:
        return ""
    name = short_name(trace.name(row))
    return f"{name} starts {microseconds(early)} before its launch, so that its time is wrong [Q4]"


def _before(trace: Trace, following: int) -> str:
    if following < 0:
        return ", after which nothing runs in the recording"
    lane = trace.lanes[int(trace.lane_id[following])]
    return f" before {short_name(trace.name(following))} on stream {lane.stream}"


def _launch_lines(
    trace: Trace, piece: tuple[int, int], following: int, launch: int, culprit: int, rule: str
) -> list[str]:
    if launch < 0 and rule != "unattributed":
        return []
    start = piece[0]
    told = wait_of_row(trace, culprit) in (Wait.SLEEP, Wait.MESSAGE, Wait.PROCESS)
    if following < 0:
        if told:
            return []
        return [f"nothing is recorded on the step's thread meanwhile: {record_thread(trace)}"]
    if launch < 0:
        return [record_launch(trace, following)]
    line = _launch_line(trace, piece, launch)
    if rule != "unattributed":
        return [line]
    if int(trace.start_ns[launch]) > start:
        if told:
            return [line]
        if holds_host(trace, culprit):
            return [line, _held(trace, culprit)]
        what = "no call, operator or work in Python" if culprit >= 0 else "nothing"
        return [
            line,
            f"{what} is recorded on that thread meanwhile: {record_thread(trace, launch)}",
        ]
    if int(trace.end_ns[launch]) > start:
        return [line, "why the call took so long is not recorded"]
    return [line, "what the queued work waited for is not recorded: " + record_sync(trace)]


def _launch_line(trace: Trace, piece: tuple[int, int], launch: int) -> str:
    """The launch that ends a piece: its call, thread, time, and how long it took if that tells."""
    start = piece[0]
    began, returned = int(trace.start_ns[launch]), int(trace.end_ns[launch])
    call = clean(trace.name(launch))
    who = thread_name(trace, launch)
    if began > start:
        slow = returned - began >= SLOW_CALL_NS
        took = f" and took {microseconds(returned - began)}" if slow else ""
        return f"its launch {call} on {who} began {microseconds(began - start)} into the gap{took}"
    when = f"had begun {microseconds(start - began)} before"
    if began == start:
        when = "began with the gap"
    took = f" and took {microseconds(returned - began)}" if returned > start else ""
    return f"its launch {call} on {who} {when}{took}"


def _held(trace: Trace, row: int) -> str:
    length = microseconds(int(trace.end_ns[row] - trace.start_ns[row]))
    return (
        f"{clean(trace.name(row))} ({length}) on {thread_name(trace, row)} held the host longer "
        "than dispatch takes; what it did is not recorded"
    )


def _culprit_lines(trace: Trace, culprit: int, launch: int, start: int, end: int) -> list[str]:
    if wait_of_row(trace, culprit) is not None:
        return [wait_line(trace, culprit, thread_name(trace, culprit))]
    chain = chain_line(trace, culprit)
    lines = [_culprit_line(trace, culprit, start, end), *([chain] if chain else [])]
    if launch >= 0 and _on_cpu(trace, culprit) and _hands_over(trace, culprit, launch):
        waiting, working = thread_name(trace, launch), thread_name(trace, culprit)
        lines.append(f"{waiting}, which made the launch, had to wait for {working}")
    return lines


def _share_lines(
    trace: Trace, rule: str, culprit: int, launch: int, piece: tuple[int, int]
) -> list[str]:
    """What a piece consists of; one that a wait is charged with consists of what came after it."""
    start, end = piece
    if rule not in _MANY_CALLS or not _on_cpu(trace, culprit) or trace.end_ns[culprit] <= start:
        return []
    until = max(min(int(trace.start_ns[launch]), end), start) if launch >= 0 else end
    shares = share_line(trace, culprit, start, until, microseconds(until - start))
    return [shares] if shares else []


def _where_it_was(trace: Trace, row: int) -> str:
    """The slice that a thread was in, which does not tell what it did there."""
    if wait_of_row(trace, row) is not None:
        return wait_line(trace, row, thread_name(trace, row))
    return chain_line(trace, row) or f"inside {clean(trace.name(row))}"


def _hands_over(trace: Trace, culprit: int, launch: int) -> bool:
    return bool(trace.lane_id[culprit] != trace.lane_id[launch])


def _culprit_line(trace: Trace, culprit: int, start: int, end: int) -> str:
    name = clean(trace.name(culprit))
    begin, finish = int(trace.start_ns[culprit]), int(trace.end_ns[culprit])
    length = microseconds(finish - begin)
    what = {
        SliceKind.PYTHON: "Python frame",
        SliceKind.ANNOTATION: "annotation",
        SliceKind.RUNTIME: "call",
        SliceKind.CPU_OP: "operator",
    }.get(SliceKind(int(trace.kind[culprit])), "event")
    on = f" on {thread_name(trace, culprit)}"
    if finish <= start:
        return f"the {what} {name}{on} ({length}) had emptied the queue {microseconds(start - finish)} before"
    return f"the {what} {name} ({length}){on} held the host meanwhile"
