"""The screen is there before the trace is, and leaves cleanly when there is none."""

from __future__ import annotations

import threading

import pytest

from tests.tui.screen import ReadyLoader, text_of
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp, run
from whichlayer.tui.document import open_document
from whichlayer.tui.load import Loader, Stopped
from whichlayer.tui.messages import DocumentOpened, LoadFailed, LoadProgressed


class Gate:
    """A reader that reports half, then waits until the test lets it go on."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.open = threading.Event()
        self.reading = threading.Event()

    def read(self, path: str, progress: Report) -> Trace:
        progress(Progress(50, 100, 1234))
        self.reading.set()
        assert self.open.wait(20)
        progress(Progress(100, 100, 2000))
        return self.trace


async def test_keys_are_answered_while_the_file_is_read(trace: Trace, analysis: Analysis) -> None:
    gate = Gate(trace)
    loader = Loader("big.json", Options(), gate.read, lambda trace, options: analysis)
    app = WhichlayerApp(loader)
    async with app.run_test(size=(120, 40)) as pilot:
        gate.reading.wait(20)
        await pilot.pause()
        header = text_of(app, "header")[0]
        assert "big.json" in header and "reading, 1 234 events" in header and "50%" in header
        await pilot.press("w", "right_square_bracket", "tab", "j", "enter", "v", "question_mark",
                          "escape", "c", "f", "greater_than_sign")  # fmt: skip
        assert "waiting for the analysis" in "\n".join(text_of(app, "kernels"))
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0
    gate.open.set()


def test_a_loader_that_was_stopped_posts_nothing_more(trace: Trace) -> None:
    gate = Gate(trace)
    posted: list[object] = []
    loader = Loader("a.json", Options(), gate.read)
    thread = loader.start(posted.append)
    assert gate.reading.wait(20)
    loader.stop()
    gate.open.set()
    thread.join(20)
    assert not thread.is_alive()
    assert [type(message) for message in posted] == [LoadProgressed]


def test_a_loader_posts_the_trace_before_its_analysis(trace: Trace, analysis: Analysis) -> None:
    posted: list[object] = []
    loader = Loader(
        "a.json", Options(), lambda path, progress: trace, lambda trace, options: analysis
    )
    loader.start(posted.append).join(20)
    opened = [m.document for m in posted if isinstance(m, DocumentOpened)]
    assert [document.analysis for document in opened] == [None, analysis]


def test_whatever_fails_is_posted_not_lost(trace: Trace) -> None:
    def fail(trace: Trace, options: Options) -> Analysis:
        raise ZeroDivisionError("defect")

    posted: list[object] = []
    Loader("a.json", Options(), lambda path, progress: trace, fail).start(posted.append).join(20)
    assert isinstance(posted[-1], LoadFailed)
    assert isinstance(posted[-1].error, ZeroDivisionError)


async def test_the_timeline_is_there_before_the_analysis(trace: Trace) -> None:
    app = WhichlayerApp(ReadyLoader("a.json", Options(), _stop))
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(DocumentOpened(open_document(trace)))
        await pilot.pause()
        assert "ampere_s" in text_of(app, "timeline")[0]
        assert "waiting" in text_of(app, "layers")[0]
        assert "verdict follows" in text_of(app, "verdict")[0]
        assert "analysing" in "\n".join(text_of(app, "region"))
        await pilot.press("right_square_bracket", "full_stop", "c", "v", "l", "v")
        assert "analysing" in "\n".join(text_of(app, "region"))


def _stop(path: str, progress: Report) -> Trace:
    raise Stopped


async def test_what_was_looked_at_is_left_alone_when_the_analysis_comes(
    trace: Trace, analysis: Analysis
) -> None:
    loader = ReadyLoader("a.json", Options(), lambda p, progress: trace, lambda t, o: analysis)
    posted: list[object] = []
    loader.start(posted.append)
    first, second = (m for m in posted if isinstance(m, DocumentOpened))
    app = WhichlayerApp(ReadyLoader("a.json", Options(), _stop))
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(first)
        await pilot.pause()
        await pilot.press("w", "w", "l")
        before = app.look
        app.post_message(second)
        await pilot.pause()
        assert before is not None and app.look is not None
        assert (app.look.port, app.look.cursor_ns) == (before.port, before.cursor_ns)


@pytest.mark.parametrize(
    ("error", "status"), [(TraceError("no.json: no such file"), 2), (RuntimeError("defect"), None)]
)
def test_run_puts_the_screen_away_before_it_says_what_is_wrong(
    error: Exception,
    status: int | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def leave(self: WhichlayerApp) -> None:
        self.error = error

    monkeypatch.setattr(WhichlayerApp, "run", leave)
    if status is None:
        with pytest.raises(RuntimeError, match="defect"):
            run("no.json", Options())
        return
    assert run("no.json", Options()) == status
    assert capsys.readouterr().err == "whichlayer: no.json: no such file\n"


async def test_a_failed_load_ends_the_application(trace: Trace) -> None:
    def fail(path: str, progress: Report) -> Trace:
        raise TraceError("a.json: not JSON")

    app = WhichlayerApp(ReadyLoader("a.json", Options(), fail))
    async with app.run_test() as pilot:
        await pilot.pause()
    assert isinstance(app.error, TraceError) and app.return_code == 2
