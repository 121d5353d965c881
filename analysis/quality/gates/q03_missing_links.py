"""Activities whose launch is not in the file: the gaps before them cannot be explained.

More than 5 % is told. Gaps are judged one by one: only those before such an activity are
unattributed. Kernels of a graph that was launched as a whole are not counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording, device_words, percent
from whichlayer.analysis.trace.columns import Trace

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


def _unlinked(trace: Trace, activities: Activities) -> int:
    """Activities without a launch that are not part of a graph."""
    alone = activities.row[activities.launch < 0]
    details, counts = np.unique(trace.detail_id[alone], return_counts=True)
    in_graph = [_is_positive(trace.detail_by_id(i).get("graph id")) for i in details.tolist()]
    return int(counts[~np.array(in_graph, np.bool_)].sum())


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
