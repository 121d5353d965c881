"""A recording without GPU activity has no GPU verdict.

Where kernel launches were recorded and no kernel was, the capture went wrong: another
profiler held the GPU's counters, or the recording stopped before the kernels were written.
Without launches it is a recording of the CPU alone. Either way the timeline is shown, and
nothing is said of the GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording
from whichlayer.analysis.quality.launch_calls import launch_rows

GATE = Gate(
    "Q1",
    "no kernels were recorded",
    source="pytorch/kineto#996: sessions with launches whose kernels never arrive",
    example="a timeline of an accelerator whose events have no category of GPU work: shown, "
    "with no GPU verdict",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning where no device has any activity, unless the reader gave one."""
    trace = recording.trace
    if recording.devices or any(warning.code == GATE.id for warning in trace.warnings):
        return
    launches = len(launch_rows(trace))
    if trace.cut_off:
        text = "no GPU activity before the cut: profilers write it last, so no GPU verdict"
    elif launches:
        text = (
            "capture problem: kernel launches but no kernels, so no GPU verdict; another profiler "
            "may have held the GPU's counters, or the recording stopped before the kernels were "
            "flushed: record alone, and call torch.cuda.synchronize() before the profiler stops"
        )
    else:
        text = (
            "CPU-only recording: no GPU activity, so no GPU verdict; for one, record with "
            "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
        )
    yield TraceWarning(GATE.id, text, max(launches, 1), severity=Severity.NO_VERDICT)
