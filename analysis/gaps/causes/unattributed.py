"""The recording cannot tell why the device was idle.

No launch in the file, nothing recorded on the launching thread, or a wait whose reason
was not recorded. Said rather than guessed, with what to record next time.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="unattributed",
    layer=Layer.UNKNOWN,
    title="the recording cannot tell",
    fix="record more: see the evidence",
    thresholds={"note": 0.05},
    source="ours",
    example="an A100, recorded without stacks: idle for 13.335 s after the last kernel, and "
    "nothing recorded on the step's thread meanwhile",
)
