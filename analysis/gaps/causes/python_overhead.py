"""The launching thread ran Python that calls no operator for a long stretch.

Preprocessing, logging, checkpoints, tokenisation, list building: host work on the critical
path that launches nothing. Short stretches between operators are dispatch, not this.
"""

from __future__ import annotations

from collections.abc import Sequence

from whichlayer.analysis.gaps.offload import OFFLOAD_FIX, runs_on_cpu
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="python-overhead",
    layer=Layer.PYTORCH,
    title="Python that launches nothing",
    fix="move it out of the step: do it once, in the loader's workers, in another thread, or "
    "on the device",
    thresholds={"note": 0.05, "min_us": 200.0},
    source="ours",
    example="TimeSformer on an H100: Python without an operator for 215.33 ms before the "
    "batch is copied; 220.75 ms in 6 pieces, 58 % of the window",
)


def fix_for(culprit: str, around: Sequence[str]) -> str:
    """The fix; an optimizer that updates on the CPU shows as Python that launches nothing."""
    return OFFLOAD_FIX if runs_on_cpu((culprit, *around)) else RULE.fix
