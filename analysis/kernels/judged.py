"""What was judged, kept for whoever asks why a rule did not apply."""

from __future__ import annotations

from dataclasses import dataclass

from whichlayer.analysis.kernels.measure import Measured
from whichlayer.analysis.kernels.ruling import Ruling
from whichlayer.analysis.quick_values import quick


@quick
@dataclass(frozen=True, slots=True)
class JudgedCalls:
    """One population of calls with what was said of it.

    Attributes:
        measured: its figures, over the whole recording.
        ruling: what was said.
        owned_ns: what its calls own of the window, each instant counted once.
    """

    measured: Measured
    ruling: Ruling
    owned_ns: int

    def lost_ns(self, ruling: Ruling) -> float:
        """What they would lose of the window by some ruling."""
        time = self.measured.time_ns
        if not ruling.judged or time <= ruling.roof_ns or time <= 0:
            return 0.0
        return self.owned_ns * max(0.0, time - ruling.ideal_ns) / time
