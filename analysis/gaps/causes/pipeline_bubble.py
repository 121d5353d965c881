"""The device waited in a receive for another pipeline stage.

A receive's kernel spins until the data comes. The part of it in which nothing else runs is a
bubble of the schedule, no transfer. One that takes at most ``slow`` times what its size needs,
at the rate of the fastest receive recorded or at least at ``gb_per_s``, is plain
``exposed-comm``; where the size is not recorded, every receive counts as a wait. Exchanges between all (``all_to_all``) use the same kernel and are no receive.
"""

from __future__ import annotations

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="pipeline-bubble",
    layer=Layer.PYTORCH,
    title="waiting for another pipeline stage",
    fix="more, smaller micro-batches, an interleaved or zero-bubble schedule, stages of equal cost",
    thresholds={"note": 0.05, "major": 0.20, "slow": 2.0, "gb_per_s": 10.0, "latency_us": 50.0},
    source="receives of NCCL and RCCL spin on the device until the peer sends",
    example="made: the kernel of a receive of 2,097,152 bytes runs alone for 5 ms, 0.42 GB/s: "
    "it waits for its peer",
)
