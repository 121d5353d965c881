"""Loading in the background: the screen opens at once and answers while a file is read.

A plain daemon thread, not a worker of Textual's: Python waits for those at exit, and ``q``
must end the program at once, however large the file is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from textual.message import Message

from whichlayer.analysis import analyse
from whichlayer.analysis.cache.reuse import keep
from whichlayer.analysis.reader import open_trace
from whichlayer.analysis.reader.progress import Progress
from whichlayer.analysis.report.units import count_text
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.document import Document, open_document, with_analysis
from whichlayer.tui.lanes import shown_rows
from whichlayer.tui.messages import DocumentOpened, LoadFailed, LoadProgressed

#: As many rows as the tallest terminal in use shows.
_PREPARED_ROWS = 80

Post = Callable[[Message], object]


class Stopped(Exception):
    """The screen is gone; nobody wants the result."""


class Loader:
    """Reads and analyses one file, and posts what it knows as soon as it knows it.

    Reader and analysis can be replaced, so that tests decide what is loaded and when.
    """

    def __init__(
        self,
        path: str,
        options: Options,
        read: Callable[..., Trace] = open_trace,
        analyse_trace: Callable[[Trace, Options], Analysis] = analyse,
        cache: bool = False,
    ) -> None:
        """Note what is to be loaded; nothing happens before :meth:`start`.

        With ``cache`` the reader is told to reopen the trace from the user's cache, and what it
        had to read is put there once everything is on the screen.
        """
        self.path = path
        self._options = options
        self._read = read
        self._analyse = analyse_trace
        self._reuse: dict[str, bool] = {"cache": True, "keep": False} if cache else {}
        self._stop = threading.Event()

    def start(self, post: Post) -> threading.Thread:
        """Load in a thread of its own; ``post`` takes messages from any thread."""
        thread = threading.Thread(target=self._run, args=(post,), name="load", daemon=True)
        thread.start()
        return thread

    def stop(self) -> None:
        """End at the next chunk; nothing is posted any more."""
        self._stop.set()

    def _run(self, post: Post) -> None:
        def tell(message: Message) -> None:
            if self._stop.is_set():
                raise Stopped
            post(message)

        def progress(read: Progress) -> None:
            share = read.bytes_read / read.bytes_total if read.bytes_total else None
            tell(LoadProgressed(share, f"reading, {count_text(read.events, 'event')}"))

        try:
            trace = self._read(self.path, progress=progress, **self._reuse)
            document = open_document(trace)
            _prepare(document)
            tell(DocumentOpened(document))
            tell(LoadProgressed(None, "analysing"))
            analysis = self._analyse(trace, self._options)
            tell(DocumentOpened(with_analysis(document, analysis)))
            keep(trace)
        except Stopped:
            return
        # Whatever went wrong has to end the screen, which would wait for ever otherwise; the
        # command line tells known errors from defects.
        except Exception as error:  # noqa: BLE001
            if not self._stop.is_set():
                post(LoadFailed(error))


def _prepare(document: Document) -> None:
    """Work out here, not on the first frame, what the rows of a large screen need."""
    for shown in shown_rows(document.lanes, {}, _PREPARED_ROWS):
        document.lanes[shown.lane].row(shown.depth)
