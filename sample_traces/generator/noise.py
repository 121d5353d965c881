"""Repeatable noise: the same seed gives the same trace on every machine and Python version."""

from __future__ import annotations

import random


class Noise:
    """Independent random channels, so that removing one call leaves all other draws alone.

    Only ``Random.random`` and plain arithmetic are used: both are the same everywhere, which
    ``gauss`` and the functions of ``math`` do not promise.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._channels: dict[str, random.Random] = {}

    def uniform(self, channel: str) -> float:
        """The channel's next draw from [0, 1)."""
        return self._source(channel).random()

    def normal(self, channel: str) -> float:
        """About a standard normal draw: the sum of twelve uniform draws, between -6 and 6."""
        draw = self._source(channel).random
        return sum([draw() for _ in range(12)]) - 6.0

    def around(self, value: float, spread: float, channel: str) -> float:
        """``value`` with a relative standard deviation of ``spread``, cut off at three."""
        return value * (1.0 + spread * max(-3.0, min(3.0, self.normal(channel))))

    def host(self, value: float, channel: str) -> float:
        """A host duration: 12 % of spread and now and then (1 in 150) a hiccup of 2 to 5 times."""
        duration = self.around(value, 0.12, channel)
        if self.uniform(channel) < 1 / 150:
            duration *= 2.0 + 3.0 * self.uniform(channel)
        return duration

    def _source(self, channel: str) -> random.Random:
        source = self._channels.get(channel)
        if source is None:
            source = self._channels[channel] = random.Random(f"{self._seed}/{channel}")
        return source
