"""Several elementwise operators in a row, each reading what the one before has written.

Three or more pointwise or norm operators follow each other on a thread, each taking a tensor of
the shape that the one before it made, and no compiler made them. Fused into one kernel, what
lies between them is never stored and loaded again, and all but one launch vanish. The loss is what
they take beyond the fused kernel's own traffic at 85 % of the bandwidth. Where gradients are
computed each result is still counted as written once, since the backward pass may need it.
A norm that is slow for its own work (under 60 %) is left to the rules about slow kernels. Which
tensor an operator takes is told by its shape alone: neighbours that only look as if one read what
the other wrote count too, and gain less.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="unfused-elementwise",
    layer=Layer.RUNTIME,
    title="elementwise operators in a row that one kernel may do",
    fix="torch.compile the module (it fuses what reads each other's results), or call the fused "
    "operator that does the same",
    thresholds={"least": 3.0, "bandwidth": 0.85, "gain": 1.25},
    source="whichlayer's design: measured time less external bytes at 85 % of the bandwidth",
    example="Qwen on an H100: a cast, pow and mul follow each other on one tensor; 464 calls, "
    "6.77 ms need not be, 14 % of the window",
)
RANK: Final = 14


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Never by itself: chains are found across operators, see ``elementwise_chains``."""
    return False
