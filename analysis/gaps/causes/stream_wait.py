"""The kernel was queued in time and waited for other work of the device to end.

Usually an event of another stream. What is left after that work ended is the cost of the
event itself; nothing here is the host's.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="stream-wait",
    layer=Layer.NONE,
    title="queued behind other work of the device",
    fix="nothing by itself; see stream and event use, record_stream",
    source="ours",
    example="an MI210: 15 µs in 2 pieces in which a queued kernel waited for another "
    "stream's; nobody's",
)
