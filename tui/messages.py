"""What the parts of the screen tell each other; facts in the past tense."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from textual.message import Message

# Types alone: the first picture knows these messages and waits for none of what they carry.
if TYPE_CHECKING:
    from whichlayer.analysis.errors import TraceWarning
    from whichlayer.analysis.results import Finding, KernelGroup
    from whichlayer.tui.document import Document
    from whichlayer.tui.loading import Loading
    from whichlayer.tui.view import View

#: How the runs of the mouse begin that is held down: each has a name of its own.
DRAG = "drag"

#: What the region pane speaks of instead of the cursor.
Subject: TypeAlias = "KernelGroup | Finding | TraceWarning"


class PanesImported(Message):
    """Everything that the screen shows beside its first picture can be made now."""


class LoadProgressed(Message):
    """More of the file has been read, or something else is being done now."""

    def __init__(self, loading: Loading) -> None:
        """Take how far loading is."""
        super().__init__()
        self.loading = loading

    def can_replace(self, message: Message) -> bool:
        """Only the latest progress matters."""
        return isinstance(message, LoadProgressed)


class DocumentOpened(Message):
    """There is something to draw: a part of the trace, all of it, or its analysis as well.

    Attributes:
        document: what there is.
        drawn: set once it is on the screen.
    """

    def __init__(self, document: Document) -> None:
        """Take what there is."""
        super().__init__()
        self.document = document
        self.drawn = threading.Event()

    def can_replace(self, message: Message) -> bool:
        """Who knows more knows all of what was known before."""
        return isinstance(message, DocumentOpened)


class QualityAsked(Message):
    """The user asked how far the recording can be trusted."""


@dataclass
class LoadFailed(Message):
    """The trace cannot be opened; ``error`` is what the loader raised."""

    error: BaseException


@dataclass
class Looked(Message):
    """The user asked for another view; ``noted`` views can be undone, those of a run at once."""

    view: View
    noted: bool = True
    run: str = ""


@dataclass
class StretchChosen(Message):
    """The user asked to see a stretch of time, of a slice or a device where given."""

    start_ns: int
    end_ns: int
    slice_row: int = -1
    device: int = -1


@dataclass
class SpanOpened(Message):
    """The user asked to see exactly this span of a device, with the cursor at an instant in it."""

    start_ns: int
    end_ns: int
    cursor_ns: int
    device: int


@dataclass
class RankOpened(Message):
    """The user asked to see a span of another rank's window."""

    shot_id: int
    span: SpanOpened


@dataclass
class SubjectChosen(Message):
    """A row of a table was put under the table's cursor."""

    subject: Subject | None


@dataclass
class HeadingClicked(Message):
    """The user asked for the kernel table in the order of a column, by its place."""

    column: int


@dataclass
class LaneFolded(Message):
    """The user asked for the next fold of a lane, as a view's edition numbers them."""

    lane: int
    edition: int


@dataclass
class LaneMenuAsked(Message):
    """The user asked what can be done with a lane, as a view's edition numbers them."""

    lane: int
    edition: int


@dataclass
class PanelWanted(Message):
    """The user asked for a panel by its tab."""

    name: str


@dataclass
class PanelFullAsked(Message):
    """The user asked for a panel on the whole screen, or for all parts again."""

    name: str


@dataclass
class PanelsDragged(Message):
    """The title of a panel was dragged to a line of the screen."""

    y: int


class TimelineResized(Message):
    """The timeline has another height, and so room for other rows."""


class FitAsked(Message):
    """The user asked to see what is under the cursor on the whole width."""
