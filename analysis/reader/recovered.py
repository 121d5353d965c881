"""What damaged text still gave, and what of it is gone."""

from __future__ import annotations

from dataclasses import dataclass, field

from whichlayer.analysis.reader.events import Event


@dataclass(slots=True)
class Loss:
    """Text that could not be read; how many events it held cannot be known.

    Attributes:
        offset: where the first of it begins.
        reason: why that could not be read.
        places: how many stretches without an event between them there are.
        size: how long they are together, in bytes, separators behind them left out.
    """

    offset: int
    reason: str
    places: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch of the text that holds a number of events."""

    start: int
    end: int
    events: int


@dataclass(slots=True)
class Recovery:
    """What damaged text still gave.

    Attributes:
        events: the events, in order.
        spans: where they stand in the text.
        loss: what is gone, if anything.
        begins_lost: the first lost place stands before the first event.
        ends_lost: the last lost place stands behind the last event.
        repaired: how many spots were repaired.
        repaired_at: where the first of them is, -1 without one.
        consumed: how much of the text is dealt with; what follows is a closing bracket, or
            an event that the end of the text cuts, or nothing.
    """

    events: list[Event] = field(default_factory=list)
    spans: list[Found] = field(default_factory=list)
    loss: Loss | None = None
    begins_lost: bool = False
    ends_lost: bool = False
    repaired: int = 0
    repaired_at: int = -1
    consumed: int = 0
