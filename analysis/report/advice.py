"""What to record next time: only what would answer a question that this trace leaves open."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.findings.where import NO_FRAME
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.recorded import Recorded, find_recorded
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.analysis.trace.undecided import undecided

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

_STACKS = "with_stack=True: names the file and line behind a gap or a kernel"
_SHAPES = "record_shapes=True: bytes and flops of kernels come from operator shapes"

_LINKS = (
    "the launch of every kernel: record from before it, with a warm-up step in the schedule, and "
    "keep args.correlation: without it operator, shapes and what delayed a kernel are unknown"
)
_SYNCS = (
    "experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True): what queued kernels "
    "waited for"
)

_NO_GPU = (
    "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]: without GPU activity there is no "
    "verdict"
)
_NO_KERNELS = (
    "torch.cuda.synchronize() before the profiler stops, and no other profiler beside it: the "
    "launches are recorded, their kernels are not"
)

_NSIGHT_LINKS = (
    "nsys profile --trace=cuda,nvtx, started before the work is launched: without its launch "
    "operator and cause of delay of a kernel are unknown"
)
_NSIGHT_SYNCS = "nsys profile --cuda-event-trace=true: what queued kernels waited for"
#: What Nsight Systems records itself when it is asked for.
_NSIGHT = {_LINKS: _NSIGHT_LINKS, _SYNCS: _NSIGHT_SYNCS}

#: One wording for one thing: what a place asks for reads as it does elsewhere in the report.
_KNOWN = (
    ("with_stack=True", _STACKS),
    ("record_shapes=True", _SHAPES),
    ("the launch is not in the file", _LINKS),
    ("enable_cuda_sync_events", _SYNCS),
    ("--cuda-event-trace", _SYNCS),
)

_MINIMUM_SHARE = 0.01
"""Time below this share of the window is not worth another recording."""


def recording_advice(analysis: Analysis) -> tuple[str, ...]:
    """One line per thing that is missing, with what it would tell; empty if nothing is.

    Empty too where another recording is no answer: the end of the file is missing, or the
    program that wrote it is none of PyTorch's profiler and recorded no GPU.
    """
    if not analysis.devices:
        return _without_gpu(analysis)
    lines = _missing(analysis, find_recorded(analysis.trace))
    places = [one.where.record for one in analysis.findings if one.where.record != NO_FRAME]
    unknown = [one.fix for one in analysis.findings if one.rule == "unattributed"]
    lines += [_in_one_wording(asked) for asked in (*places, *unknown) if asked]
    if analysis.trace.producer == "nsight":
        own = [_NSIGHT[line] for line in lines if line in _NSIGHT]
        own += [line for line in lines if "nsys profile" in line]
        lines = [line for line in lines if line not in _NSIGHT and "nsys profile" not in line]
    else:
        own = []
    if analysis.trace.producer != "pytorch" and lines:
        lines.insert(0, "PyTorch's profiler: its trace holds what this one cannot")
    lines = own + lines
    return tuple(dict.fromkeys(lines))


def _in_one_wording(asked: str) -> str:
    return next((line for setting, line in _KNOWN if setting in asked), asked)


def _without_gpu(analysis: Analysis) -> tuple[str, ...]:
    """What to do for a GPU verdict; the reader has said where there cannot be one."""
    warned = {warning.code for warning in analysis.trace.warnings}
    if analysis.trace.producer != "pytorch" or warned & {"Q1", "truncated"}:
        return ()
    return (_NO_KERNELS if _holds_launches(analysis.trace) else _NO_GPU,)


def _holds_launches(trace: Trace) -> bool:
    names = np.unique(trace.name_id[trace.kind == SliceKind.RUNTIME])
    return any("Launch" in trace.strings[int(name)] for name in names)


def _missing(analysis: Analysis, recorded: Recorded) -> list[str]:
    lines = []
    ours = analysis.trace.producer == "pytorch"
    if ours and not recorded.steps and not analysis.trace.cut_off:
        lines.append(
            "prof.step() after every step: the window is then whole steps, not first to last "
            "activity"
        )
    budget = analysis.budget
    worth = _MINIMUM_SHARE * budget.total_ns
    if ours and not recorded.launches:
        lines.append(
            "activities with ProfilerActivity.CPU: a gap's cause is read from the launch after it"
        )
    if not recorded.shapes and budget.unjudged_ns > worth:
        lines.append(_SHAPES)
    if recorded.launches and _unlinked_ns(analysis) > worth:
        lines.append(_LINKS)
    if not (analysis.trace.kind == SliceKind.GPU_SYNC).any() and _queued_ns(analysis) > worth:
        lines.append(_SYNCS)
    above = sum(budget.gap_ns.get(layer, 0) for layer in (Layer.PYTORCH, Layer.UNKNOWN))
    if not recorded.stacks and above > worth:
        lines.append(_STACKS)
    return lines


def _unlinked_ns(analysis: Analysis) -> int:
    """Time of the window that is unjudged, or a gap of unknown cause, for want of a launch."""
    gaps, activities, trace = analysis.gaps, analysis.activities, analysis.trace
    unlinked = (trace.launch[activities.row] < 0) & ~activities.judged
    unlinked &= ~undecided(trace, activities.row).any
    busy = int(activities.owned_ns[unlinked].sum())
    unknown = (gaps.layer == Layer.UNKNOWN) & (gaps.launch_row < 0) & (gaps.next_row >= 0)
    unknown[unknown] = ~undecided(trace, gaps.next_row[unknown]).any
    return busy + int((gaps.end_ns - gaps.start_ns)[unknown].sum())


def _queued_ns(analysis: Analysis) -> int:
    """Gaps of unknown cause before work that had been launched in time."""
    gaps = analysis.gaps
    queued = (gaps.layer == Layer.UNKNOWN) & (gaps.launch_row >= 0)
    queued[queued] = analysis.trace.end_ns[gaps.launch_row[queued]] <= gaps.start_ns[queued]
    return int((gaps.end_ns - gaps.start_ns)[queued].sum())
