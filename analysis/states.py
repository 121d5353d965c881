"""What a stretch of a device's time is, and what an activity counts as: codes of columns.

Apart from :mod:`whichlayer.analysis.results`, whose many tables take longer to import than the
screen has before it draws a timeline.
"""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """What a stretch of a device's time is."""

    AT_ROOF = 0  # a judged kernel without loss
    SLOW = 1  # a judged kernel that loses time
    UNJUDGED = 2  # a kernel whose bytes and flops are unknown
    GAP = 3
    SPACING = 4  # idle up to the launch floor
    EDGE = 5  # outside every step, or outside the window


class Role(IntEnum):
    """What a GPU activity counts as."""

    COMPUTE = 0
    COMM = 1
    COPY = 2
