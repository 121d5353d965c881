"""Activities whose launch is not in the file: the gaps before them cannot be explained.

More than 5 % is told. Gaps are judged one by one: only those before such an activity are
unattributed. Kernels of a graph that was launched as a whole are not counted. Where a file holds
several processes that number their calls alike, activities of which it cannot be told whose they
are count too, and are told from the first on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording, device_words, percent
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

#: Share of a device's activities that may be without a launch.
MAX_UNLINKED = 0.05

GATE = Gate(
    "Q3",
    "launches are missing",
    thresholds={"unlinked": MAX_UNLINKED},
    source="measured: tools that drop such kernels flip host wait to kernel wait",
    example="Qwen on an H100: 509 of 1707 activities (30 %) have no launch in the file",
)


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning for each device beyond the threshold."""
    how = ": schedule(warmup=2), ProfilerActivity.CPU"
    if recording.trace.producer != "pytorch":
        nsight = recording.trace.producer == "nsight"
        how = ": nsys profile --trace=cuda,nvtx, without --delay" if nsight else ""
    limit = recording.limit(GATE, "unlinked")
    for activities in recording.devices:
        if undecided := _undecided(recording.trace, activities):
            yield TraceWarning(
                GATE.id,
                f"{device_words(activities.number)}: {undecided} of {len(activities)} activities "
                "have a launch number that several processes used, and nothing tells whose they "
                "are; they have no launch, and the gaps before them are unattributed; record "
                "each process into a file of its own",
                undecided,
                severity=Severity.DOUBT,
            )
        missing = _unlinked(recording.trace, activities)
        share = missing / len(activities)
        if share > limit:
            yield TraceWarning(
                GATE.id,
                f"{device_words(activities.number)}: {missing} of {len(activities)} activities "
                f"({percent(share)}, threshold {percent(limit)}) have no launch in the "
                "file; only the gaps before those are unattributed; begin the recording before "
                f"the work is launched{how}",
                missing,
            )


def _undecided(trace: Trace, activities: Activities) -> int:
    """Activities without a launch although calls of several processes have their number."""
    alone = activities.row[(activities.launch < 0) & (trace.correlation[activities.row] > 0)]
    threads = np.array([lane.kind == LaneKind.CPU_THREAD for lane in trace.lanes], np.bool_)
    names = {lane.pid for lane in trace.lanes if lane.kind == LaneKind.CPU_THREAD}
    if len(names) < 2 or not len(alone):
        return 0
    calls = (trace.kind == SliceKind.RUNTIME) & ~trace.stray & threads[trace.lane_id]
    return int(np.isin(trace.correlation[alone], trace.correlation[calls]).sum())


def _unlinked(trace: Trace, activities: Activities) -> int:
    """Activities without a launch that are not part of a graph."""
    alone = activities.row[activities.launch < 0]
    details, counts = np.unique(trace.detail_id[alone], return_counts=True)
    in_graph = [_is_positive(trace.detail_by_id(i).get("graph id")) for i in details.tolist()]
    return int(counts[~np.array(in_graph, np.bool_)].sum())


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
