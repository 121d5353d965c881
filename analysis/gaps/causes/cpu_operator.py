"""The launching thread ran operators on CPU tensors for a long stretch.

An operator without a single runtime call inside works in host memory; while it runs it
launches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from whichlayer.analysis.gaps.offload import OFFLOAD_FIX, runs_on_cpu
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule(
    id="cpu-operator",
    layer=Layer.PYTORCH,
    title="operators on CPU tensors in the step",
    fix="run it on the device, or move it into the loader's workers",
    thresholds={"note": 0.05, "min_us": 200.0},
    source="ours",
    example="TimeSformer on an MI300X: aten::to works on a CPU tensor for 20.85 ms before the "
    "batch is copied, and the device is idle as long: 5.3 % of the window",
)


def fix_for(culprit: str, around: Sequence[str]) -> str:
    """The fix, by whether it is an optimizer that was put there."""
    if runs_on_cpu((culprit, *around)):
        return OFFLOAD_FIX
    if any(name.startswith("Optimizer.step#") for name in around):
        return "keep the parameters that it updates on the device; if they are offloaded: " + (
            "overlap the update with the next step, or run it less often"
        )
    return RULE.fix
