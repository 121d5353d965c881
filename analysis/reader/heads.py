"""What stands before an event's times: phase, category, name, process and thread."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from whichlayer.analysis.reader.events import ABSENT, DECODE_ERRORS, Event
from whichlayer.analysis.reader.recurring import Recurring
from whichlayer.analysis.trace.classify import kind_of_category
from whichlayer.analysis.trace.columns import Int32, UInt8

_DECODER: Final = msgspec.json.Decoder(Event)


class Heads(Recurring[Event]):
    """The heads seen so far of complete events, each with the comma behind it.

    They mean events without times and arguments.
    """

    def __init__(self) -> None:
        super().__init__(_event)
        self._kind: UInt8 = np.zeros(0, np.uint8)

    def kinds(self, number: Int32) -> UInt8:
        """The ``SliceKind`` of the category of each event, given its head."""
        new = [kind_of_category(event.cat) for event in self.meanings[len(self._kind) :]]
        if new:
            self._kind = np.append(self._kind, np.array(new, np.uint8))
        return self._kind[number]


def _event(head: bytes) -> Event | None:
    try:
        event = _DECODER.decode(b"{%b}" % head.removesuffix(b","))
    except DECODE_ERRORS:
        return None
    timeless = event.ts is ABSENT and event.dur is ABSENT and event.args is ABSENT
    return event if event.ph == "X" and timeless and head.endswith(b",") else None
