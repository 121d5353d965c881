"""Loading in the background: the screen opens at once and fills in while a file is read.

A plain daemon thread, not a worker of Textual's: Python waits for those at exit, and ``q``
must end the program at once, however large the file is.

Nothing here imports NumPy before the thread runs: the first picture does not wait for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from whichlayer.analysis.errors import Severity, TraceWarning
from whichlayer.tui.loading import Clock, Loading, Pace, Stage
from whichlayer.tui.messages import (
    DocumentOpened,
    LoadFailed,
    LoadProgressed,
    PanesImported,
)
from whichlayer.tui.snapshots import Snapshots
from whichlayer.tui.two_threads import short_turns

if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.analysis.reader.progress import Progress
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.trace.columns import Trace
    from whichlayer.tui.ahead import Ahead
    from whichlayer.tui.document import Document

Post = Callable[[Message], object]


class Stopped(Exception):
    """The screen is gone; nobody wants the result."""


class KeptPart(Exception):
    """The user has seen enough: what was read is kept without the rest."""

    def __init__(self, trace: Trace) -> None:
        """Take what was read."""
        super().__init__()
        self.trace = trace


class Loader:
    """Reads and analyses one file, and posts what it knows as soon as it knows it.

    Reader, analysis and clock can be replaced, so that tests decide what is loaded and when.
    """

    #: So long (seconds) the thread waits for the screen to draw what it was given. Drawing all of
    #: it takes the longest of anything there: it gets Python for itself, so that keys do not wait.
    drawing_s = 0.5

    def __init__(
        self,
        path: str,
        options: Options,
        read: Callable[..., Trace] | None = None,
        analyse_trace: Callable[[Trace, Options], Analysis] | None = None,
        cache: bool = False,
        clock: Clock = time.monotonic,
        ahead: Ahead | None = None,
    ) -> None:
        """Note what is to be loaded; nothing happens before :meth:`start`.

        With ``cache`` the reader is told to reopen the trace from the user's cache, and what it
        had to read is put there once everything is on the screen. What was opened ``ahead`` of
        the screen is not opened again.
        """
        self.path = path
        self._options = options
        self._read = read
        self._analyse = analyse_trace
        self._reuse: dict[str, bool] = {"cache": True, "keep": False} if cache else {}
        wanted = {"steps": options.steps, "span_ns": options.span_ns}
        self._wanted = {name: pair for name, pair in wanted.items() if pair is not None}
        self._clock = clock
        self._ahead = ahead
        self._stop = threading.Event()
        self._keep_part = threading.Event()

    @property
    def options(self) -> Options:
        """What was asked for beyond the file."""
        return self._options

    @property
    def maker(self) -> tuple[Options, Callable[[Trace, Options], Analysis]]:
        """What was asked for, and what analyses: for spans that are selected later."""
        from whichlayer.analysis import analyse

        return self._options, self._analyse or analyse

    def start(self, post: Post) -> threading.Thread:
        """Load in a thread of its own; ``post`` takes messages from any thread."""
        thread = threading.Thread(target=self._run, args=(post,), name="load", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """End at the next chunk; nothing is posted any more."""
        self._stop.set()
        if self._ahead is not None:
            self._ahead.stop()

    def keep_part(self) -> None:
        """Stop reading at the next chunk, where the format allows it, and keep what was read."""
        self._keep_part.set()

    def _run(self, post: Post) -> None:
        def tell(message: Message) -> None:
            if self._stop.is_set():
                raise Stopped
            post(message)

        try:
            trace = self._opened_ahead()
            with short_turns():
                self._load(tell, trace)
        except Stopped:
            return
        # Whatever went wrong has to end the screen, which would wait for ever otherwise; the
        # command line tells known errors from defects.
        except Exception as error:  # noqa: BLE001
            if not self._stop.is_set():
                post(LoadFailed(error))

    def _opened_ahead(self) -> Trace | None:
        """What another thread has opened meanwhile, None where the file has to be opened here."""
        if self._ahead is None or not self._ahead.is_kept():
            return None
        _begin_to_import_panes()
        return self._ahead.trace()

    def _load(self, tell: Post, trace: Trace | None) -> None:
        watched = _Watched(tell, self._keep_part, self._clock, self.drawing_s)
        if trace is None:
            trace = self._opened(tell, watched)
        if trace is None:
            return
        from whichlayer.tui.document import Extent, beside_entry, with_analysis
        from whichlayer.tui.first_frame import prepared

        document = prepared(trace, Extent.WHOLE)
        drawn = watched.open(document)
        tell(LoadProgressed(replace(watched.loading, stage=Stage.ANALYSING, events=trace.events)))
        drawn.wait(self.drawing_s)
        from whichlayer.analysis import analyse

        analysis = (self._analyse or analyse)(trace, self._options)
        opened = with_analysis(document, analysis)
        _import_words()
        tell(DocumentOpened(opened))
        tell(LoadProgressed(replace(watched.loading, stage=Stage.READY)))
        if self._reuse:
            from whichlayer.analysis.cache.reuse import keep

            keep(trace, partial(beside_entry, document))

    def _opened(self, tell: Post, watched: _Watched) -> Trace | None:
        """The whole trace; None where only a part was wanted in the end, which is shown then."""
        # What is imported here is not needed for the first picture, which is there by now.
        from whichlayer.analysis import load

        if self._reuse:
            import whichlayer.analysis.cache.reuse  # noqa: F401
        # From here on most is done outside of Python, which is free for other imports.
        _begin_to_import_panes()
        try:
            read: Callable[..., Trace] = self._read or load
            return read(self.path, progress=watched.report, **self._reuse, **self._wanted)
        except KeptPart as part:
            from whichlayer.tui.document import Extent
            from whichlayer.tui.first_frame import prepared

            kept = _marked(part.trace, self.path, watched.loading.share)
            watched.open(prepared(kept, Extent.KEPT_PART))
            tell(LoadProgressed(replace(watched.loading, stage=Stage.STOPPED)))
            return None


class _Watched:
    """What the reader reports to: tells the screen, and shows it what there is so far.

    Attributes:
        loading: what the screen was told last; once reading was stopped, how far it came.
    """

    def __init__(
        self, tell: Post, keep_part: threading.Event, clock: Clock, drawing_s: float
    ) -> None:
        self.loading = Loading()
        self._tell = tell
        self._keep_part = keep_part
        self._clock = clock
        self._drawing_s = drawing_s
        self._pace = Pace(clock)
        self._snapshots = Snapshots(clock)
        self._drawn: threading.Event | None = None
        self._has_panes = False

    def report(self, progress: Progress) -> None:
        """Takes a report of the reader, in the reader's thread."""
        if self._keep_part.is_set() and progress.snapshot is not None:
            self.loading = replace(
                self.loading,
                bytes_read=progress.bytes_read,
                bytes_total=progress.bytes_total,
                events=progress.events,
            )
            raise KeptPart(progress.snapshot())
        loading = self._pace.report(progress)
        if loading is not None:
            self.loading = loading
            self._tell(LoadProgressed(loading))
        if progress.snapshot is None:
            self._show_panes()
        # The next one would be in vain while the screen is busy with the last.
        elif (self._drawn is None or self._drawn.is_set()) and self._snapshots.due(progress):
            self._show(progress)

    def open(self, document: Document) -> threading.Event:
        """Gives the screen something to draw; what is returned is set once it has drawn it."""
        import whichlayer.tui.panes  # noqa: F401  which the screen shows it with

        self._has_panes = True
        opened = DocumentOpened(document)
        self._tell(opened)
        return opened.drawn

    def _show_panes(self) -> None:
        """Has the panes shown although it will take a while before there is something to draw."""
        if not self._has_panes:
            import whichlayer.tui.panes  # noqa: F401

            self._has_panes = True
            self._tell(PanesImported())

    def _show(self, progress: Progress) -> None:
        from whichlayer.tui.document import Extent
        from whichlayer.tui.first_frame import prepared

        assert progress.snapshot is not None
        begun = self._clock()
        document = prepared(progress.snapshot(), Extent.READING)
        made = self._clock()
        if not document.lanes:
            self._snapshots.took(made - begun, None)
            return
        self._drawn = self.open(document)
        self._drawn.wait(self._drawing_s)
        self._snapshots.took(made - begun, self._clock() - made)


def _begin_to_import_panes() -> None:
    threading.Thread(target=_import_panes, name="panes", daemon=True).start()


def _import_panes() -> None:
    """What the document is shown with: imported while the file is opened and its rows prepared."""
    # Whoever needs the panes imports them too, and is told what is wrong.
    with suppress(ImportError):
        import whichlayer.analysis.reader.details  # what is under the cursor is told with it
        import whichlayer.tui.panes  # noqa: F401


def _import_words() -> None:
    """What the panels say an analysis with: imported here, the screen need not stop for it."""
    import whichlayer.analysis.report.advice
    import whichlayer.tui.describe
    import whichlayer.tui.summary  # noqa: F401


def _marked(trace: Trace, path: str, share: float | None) -> Trace:
    """A part of a trace that says that it is one."""
    where = "" if share is None else f" at {share:.0%}"
    message = f"reading was stopped{where}: this is a part of the trace, so there is no verdict"
    warning = TraceWarning("stopped", message, severity=Severity.NO_VERDICT)
    return replace(trace, path=path, warnings=(warning, *trace.warnings))
