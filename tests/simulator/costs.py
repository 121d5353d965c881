"""What things cost: distributions with the medians and spreads of real recordings.

Every figure is (median, 90th percentile) in microseconds of a lognormal, read off public
recordings of the card named: launch calls, launch latency into an empty queue, time inside a
leaf operator and between operators. Everything below the microsecond is drawn, never rounded.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

US = 1000
MS = 1_000_000
NORMAL_90 = 1.2816

Spread = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Machine:
    """One host with one kind of GPU; spreads in microseconds."""

    name: str
    call: Spread
    latency: Spread
    spacing: Spread
    operator: Spread
    between: Spread
    rocm: bool = False


MACHINES = (
    Machine("v100", (9, 14), (11, 16), (1.2, 1.9), (14, 30), (7, 18)),
    Machine("a100", (6, 8), (8, 10), (1.2, 1.8), (10, 26), (6, 13)),
    Machine("h100", (3.2, 4.5), (6.5, 8.5), (1.0, 1.9), (8, 20), (4.5, 14)),
    Machine("b200", (6.6, 7.6), (9.6, 10.4), (0.6, 1.0), (9, 24), (8, 24)),
    Machine("mi300", (3.2, 4.2), (12.7, 13.9), (0.0, 0.0), (8, 20), (3.5, 13), rocm=True),
)


class Draw:
    """Repeatable draws for one machine; results in nanoseconds."""

    def __init__(self, seed: int, machine: Machine, stacks: bool) -> None:
        self.random = random.Random(seed)
        self.machine = machine
        self.slowdown = 1.6 if stacks else 1.0  # recording stacks stretches Python

    def spread(self, spread: Spread) -> int:
        """A lognormal draw with this median and 90th percentile."""
        median, ninth = spread
        if median <= 0:
            return 0
        sigma = math.log(ninth / median) / NORMAL_90
        return int(median * US * math.exp(self.random.gauss(0.0, sigma)))

    def around(self, ns: int, share: float = 0.15) -> int:
        """A size that varies by about ``share``."""
        return int(ns * math.exp(self.random.gauss(0.0, share)))

    def call(self) -> int:
        return self.spread(self.machine.call)

    def latency(self) -> int:
        """From a launch call's start to the kernel's, with an empty queue: never absurd."""
        drawn = self.spread(self.machine.latency)
        return min(drawn, int(3 * self.machine.latency[0] * US))

    def spacing(self) -> int:
        return min(self.spread(self.machine.spacing), 3 * US)

    def operator(self) -> int:
        """Time inside an operator beside its launch; one in a hundred is slow."""
        slow = 4 if self.random.random() < 0.01 else 1
        return slow * self.spread(self.machine.operator)

    def between(self) -> int:
        """Time between two operators."""
        return int(self.slowdown * self.spread(self.machine.between))
