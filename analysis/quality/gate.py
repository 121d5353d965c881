"""What a gate is: one test of how far a recording can be trusted.

A gate is one small module of :mod:`whichlayer.analysis.quality.gates`: its docstring explains
it to users, its ``GATE`` names it, and ``check(recording)`` yields a warning where it fires.
Adding a gate means adding a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import threshold

if TYPE_CHECKING:  # the screen tells how severe warnings are before any of these is needed
    from whichlayer.analysis.activities import Activities
    from whichlayer.analysis.gaps.calibrate import Calibration
    from whichlayer.analysis.gaps.host import Marks
    from whichlayer.analysis.kernels.peaks import DeviceMatch
    from whichlayer.analysis.results import KernelGroup, Window
    from whichlayer.analysis.trace.columns import Trace


class Effect(IntEnum):
    """What a gate does to the findings where it fires as a doubt."""

    NONE = 0
    LOWER = 1  # each finding is trusted one step less
    GAPS_LOW = 2  # findings from gaps are hints
    ALL_LOW = 3  # every finding is a hint


@dataclass(frozen=True, slots=True)
class Gate:
    """One test of a recording.

    Attributes:
        id: the word that users read and type: ``Q4``.
        title: what is wrong with the recording, in a few words.
        effect: what it does to findings where it fires as a doubt.
        caveat: what it says beside the verdict then, or empty.
        thresholds: named settings with their defaults.
        source: where the condition or the thresholds come from.
        example: what it looks like, as with rules.
    """

    id: str
    title: str
    effect: Effect = Effect.NONE
    caveat: str = ""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """What gates look at: a trace, and what the analysis is about to rest on.

    ``devices``, ``calibrations`` and ``matches`` are of one length, in the same order.
    """

    trace: Trace
    devices: Sequence[Activities]
    calibrations: Sequence[Calibration]
    matches: Sequence[DeviceMatch]
    marks: Marks
    window: Window
    kernels: Sequence[KernelGroup]
    options: Options = field(default_factory=Options)

    def limit(self, gate: Gate, name: str) -> float:
        """The value in force of one of a gate's thresholds."""
        return threshold(self.options, gate.id, name)


def device_words(number: int) -> str:
    """A device with its number as recorded, where there is one."""
    return f"device {number}" if number >= 0 else "the device"


def percent(share: float) -> str:
    """A share in words; small ones keep a decimal, so that none reads as its threshold.

    >>> percent(0.024), percent(0.05), percent(0.31)
    ('2.4 %', '5 %', '31 %')
    """
    digits = f"{100 * share:.1f}" if share < 0.1 else f"{100 * share:.0f}"
    return f"{digits.removesuffix('.0')} %"
