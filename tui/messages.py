"""What the parts of the screen tell each other; facts in the past tense."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.results import Finding, KernelGroup
from whichlayer.tui.document import Document
from whichlayer.tui.view import View

#: What the region pane speaks of instead of the cursor.
Subject = KernelGroup | Finding | TraceWarning


class LoadProgressed(Message):
    """More of the file has been read."""

    def __init__(self, done: float | None, doing: str) -> None:
        """Note the share done (None where it cannot be told) and what is being done."""
        super().__init__()
        self.done = done
        self.doing = doing

    def can_replace(self, message: Message) -> bool:
        """Only the latest progress matters."""
        return isinstance(message, LoadProgressed)


@dataclass
class DocumentOpened(Message):
    """The trace is there and can be drawn; or its analysis is there as well."""

    document: Document


class QualityAsked(Message):
    """The user asked how far the recording can be trusted."""


@dataclass
class LoadFailed(Message):
    """The trace cannot be opened; ``error`` is what the loader raised."""

    error: BaseException


@dataclass
class Looked(Message):
    """The user asked for another view; ``noted`` views can be undone."""

    view: View
    noted: bool = True


@dataclass
class StretchChosen(Message):
    """The user asked to see a stretch of time, of a slice or a device where given."""

    start_ns: int
    end_ns: int
    slice_row: int = -1
    device: int = -1


@dataclass
class SpanOpened(Message):
    """The user asked to see exactly this span, with the cursor at an instant in it."""

    start_ns: int
    end_ns: int
    cursor_ns: int


@dataclass
class SubjectChosen(Message):
    """A row of a table was put under the table's cursor."""

    subject: Subject | None


@dataclass
class LaneFolded(Message):
    """The user asked for the next fold of a lane."""

    lane: int


@dataclass
class PanelWanted(Message):
    """The user asked for a panel by its tab."""

    name: str


class TimelineResized(Message):
    """The timeline has another height, and so room for other rows."""


class FitAsked(Message):
    """The user asked to see what is under the cursor on the whole width."""
