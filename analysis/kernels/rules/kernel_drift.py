"""The same kernel with the same shapes becomes slower as the recording goes on.

In the later half of the recorded steps it takes more than 1.1 times as long as in the earlier
half, by the medians of at least ten calls each, and three in four of the later calls take longer
than an ordinary earlier one. Falling clocks (heat, power limits) or a neighbour on the card are
the usual reasons. Nothing else explains the loss, which is what calls take beyond an earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE: Final = Rule(
    id="kernel-drift",
    layer=Layer.CUDA,
    title="kernels become slower during the recording",
    fix="watch clocks, temperature and power (nvidia-smi -q -d PERFORMANCE,CLOCK), lock the clocks",
    thresholds={"slower": 1.1, "calls": 10.0, "steps": 4.0, "least_us": 2.0},
    source="whichlayer's design: medians over halves of the recorded steps",
    example="made: a kernel of 50 µs in the first two steps takes 60 µs in the last two: 1.20 "
    "times as long, ten calls in each half",
)
RANK: Final = 60


def applies(measured: Measured, settings: Mapping[str, float]) -> bool:
    """Whether later calls are slower than earlier ones by more than noise."""
    return measured.drift is not None and measured.drift > settings["slower"]


def ideal_ns(measured: Measured) -> float:
    """What an earlier call took, or a well-made one takes if that is longer."""
    return max(measured.earlier_ns, measured.ideal_ns(measured.rate))


def reason(measured: Measured) -> str:
    """The figures that decided."""
    return f"{measured.drift or 0:.2f} times as long in the later half of the steps"
