"""Analyses windows beside the screen, one after another: the one that is wanted most comes first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.memory import give_back_freed_memory
from whichlayer.tui.live.shots import Judged, Shot, judged_of
from whichlayer.tui.two_threads import short_turns

if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.trace.columns import Trace
    from whichlayer.tui.document import Document


@dataclass
class ShotAnalysed(Message):
    """A window is ready for the screen, or ``error`` says why it never will be."""

    shot: Shot
    document: Document | None
    judged: Judged | None
    error: str = ""


@dataclass
class ShotBegun(Message):
    """A window is being analysed now."""

    shot_id: int


class Analyst:
    """A thread that takes windows from a list that may change at any time."""

    def __init__(
        self,
        options: Options,
        post: Callable[[Message], object],
        read: Callable[..., Trace] | None = None,
        analyse: Callable[[Trace, Options], Analysis] | None = None,
    ) -> None:
        """Prepare.

        Args:
            options: of the analyses.
            post: takes messages from any thread.
            read: in place of :func:`whichlayer.analysis.load`.
            analyse: in place of :func:`whichlayer.analysis.analyse`.
        """
        self._options = options
        self._post = post
        self._read, self._analyse = read, analyse
        self._changed = threading.Condition()
        self._queue: list[Shot] = []
        self._busy: Shot | None = None
        self._stopped = False

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="windows", daemon=True).start()

    def stop(self) -> None:
        """End after the window that is being analysed; nothing is posted any more."""
        with self._changed:
            self._stopped = True
            self._queue = []
            self._changed.notify_all()

    def want(self, shots: Sequence[Shot]) -> None:
        """These are to be analysed, the first one first, in place of those wanted before."""
        with self._changed:
            self._queue = [shot for shot in shots if shot != self._busy]
            self._changed.notify_all()

    def _next(self) -> Shot | None:
        with self._changed:
            self._busy = None
            while not (self._queue or self._stopped):
                self._changed.wait()
            if self._stopped:
                return None
            self._busy = self._queue.pop(0)
            return self._busy

    def _run(self) -> None:
        while (shot := self._next()) is not None:
            self._tell(ShotBegun(shot.id))
            try:
                with short_turns():
                    document, judged = self._opened(shot)
                self._tell(ShotAnalysed(shot, document, judged))
            # One window that cannot be read must not end all: its cell says why.
            except (TraceError, OSError, ValueError) as error:
                self._tell(ShotAnalysed(shot, None, None, _reason(error)))
            except Exception as error:  # noqa: BLE001
                reason = f"a defect of whichlayer: {type(error).__name__}: {error}"
                self._tell(ShotAnalysed(shot, None, None, reason))
            # For hours windows come and go: what lies free between the pieces that stay is not ours.
            give_back_freed_memory()

    def _opened(self, shot: Shot) -> tuple[Document, Judged]:
        from whichlayer.analysis import analyse, load
        from whichlayer.tui.document import Extent, with_analysis
        from whichlayer.tui.first_frame import prepared

        trace = (self._read or load)(str(shot.path))
        document = prepared(trace, Extent.WHOLE)
        analysis = (self._analyse or analyse)(trace, self._options)
        return with_analysis(document, analysis), judged_of(analysis)

    def _tell(self, message: Message) -> None:
        if not self._stopped:
            self._post(message)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return " ".join(str(error).split())
