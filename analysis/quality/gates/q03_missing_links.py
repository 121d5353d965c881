"""Activities whose launch is not in the file: the gaps before them cannot be explained.

More than 5 % is told. Gaps are judged one by one: only those before such an activity are
unattributed. Kernels of a graph that was launched as a whole are not counted. Where a file holds
several processes, activities of which it cannot be told which call launched them are told apart
from these, from the first on: calls of several processes have their number, or only a call of
another process than the rest of their stream has it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whichlayer.analysis.activities import Activities
from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.analysis.quality.gate import Gate, Recording, device_words, percent
from whichlayer.analysis.trace.columns import Bool, Trace
from whichlayer.analysis.trace.undecided import Undecided, undecided

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
        found = undecided(recording.trace, activities.row)
        yield from _undecided(activities, found)
        missing = _unlinked(recording.trace, activities, found.any)
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


def _undecided(activities: Activities, found: Undecided) -> Iterator[TraceWarning]:
    """Activities without a launch although calls have their number, by what that is due to."""
    shared = "have a launch number that several processes used, and nothing tells whose they are"
    foreign = (
        "have the launch number of a call of another process than the rest of their stream, and "
        "nothing tells that it launched them"
    )
    for which, what in ((found.shared, shared), (found.foreign, foreign)):
        if count := int(which.sum()):
            yield TraceWarning(
                GATE.id,
                f"{device_words(activities.number)}: {count} of {len(activities)} activities "
                f"{what}; their launches are not known, and the gaps before them are "
                "unattributed; record each process into a file of its own",
                count,
                severity=Severity.DOUBT,
            )


def _unlinked(trace: Trace, activities: Activities, undecided_too: Bool) -> int:
    """Activities without a launch that are not part of a graph, nor told of already."""
    alone = activities.row[(activities.launch < 0) & ~undecided_too]
    details, counts = np.unique(trace.detail_id[alone], return_counts=True)
    in_graph = [_is_positive(trace.detail_by_id(i).get("graph id")) for i in details.tolist()]
    return int(counts[~np.array(in_graph, np.bool_)].sum())


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
