"""One rank comes late to the collectives, and the others wait for it.

A collective takes as long as its last rank makes it: who comes first waits in it longest, who
comes last hardly at all. A rank's lateness is therefore the longest duration over the ranks
minus its own; no clocks are compared. A rank is a straggler if it is behind the middle one of the
ranks, over all collectives, by at least ``note`` of its window, and the others waited for it, with
nothing else to do, for at least ``cost`` of the windows of all. The first collective of a recording
does not count: the ranks need not have begun to record at the same time.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="straggler",
    layer=Layer.UNKNOWN,
    title="a rank comes late to the collectives",
    fix="look at what that rank does before them: its own report names the cause",
    thresholds={"note": 0.05, "major": 0.10, "cost": 0.01},
    source="ours; lateness by durations alone, as collectives end together on all ranks",
    example="DLRM on eight V100s: rank 7 is behind the middle one by 1.81 ms over 7 "
    "collectives and the last at 4 of them; 7.06 ms of the others' time, 5.5 %",
)
