"""The screen is there before the trace is, and leaves cleanly when there is none."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

from tests.tui.screen import LARGE, MEDIUM, SMALL, ReadyLoader, screen_of, text_of
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.progress import Progress, Report
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp, run
from whichlayer.tui.document import Extent, open_document
from whichlayer.tui.load import Loader, Post, Stopped
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.messages import DocumentOpened, LoadFailed, LoadProgressed, PanesImported
from whichlayer.tui.widgets.panel import Panel

MEGA = 10**6


class Gate:
    """A reader that reports half, then waits until the test lets it go on."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.open = threading.Event()
        self.reading = threading.Event()

    def read(self, path: str, progress: Report) -> Trace:
        progress(Progress(50 * MEGA, 100 * MEGA, 1234))
        self.reading.set()
        assert self.open.wait(20)
        progress(Progress(100 * MEGA, 100 * MEGA, 2000))
        return self.trace


class Time:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_keys_are_answered_while_the_file_is_read(trace: Trace, analysis: Analysis) -> None:
    gate = Gate(trace)
    loader = Loader("big.json", Options(), gate.read, lambda trace, options: analysis)
    app = WhichlayerApp(loader)
    async with app.run_test(size=LARGE) as pilot:
        assert await asyncio.to_thread(gate.reading.wait, 20)
        await pilot.pause()
        header = text_of(app, "header")[0]
        assert "big.json" in header and "reading 50%" in header
        line = text_of(app, "verdict")[0]
        assert "50%  50 of 100 MB" in line and "1 234 events" in line
        await pilot.press("w", "right_square_bracket", "tab", "j", "enter", "v", "question_mark",
                          "escape", "c", "f", "greater_than_sign")  # fmt: skip
        for panel in ("kernels", "region", "gaps", "findings", "layers"):
            assert "reading …" in "\n".join(text_of(app, panel)), panel
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
    assert [type(message) for message in posted] == [LoadProgressed, PanesImported]


def loaded(loader: Loader) -> list[object]:
    """What a loader posts, all of it."""
    posted: list[object] = []
    loader.drawing_s = 0.0
    loader.start(posted.append).join(20)
    return posted


def test_a_loader_posts_the_trace_before_its_analysis(trace: Trace, analysis: Analysis) -> None:
    posted = loaded(
        Loader("a.json", Options(), lambda path, progress: trace, lambda trace, options: analysis)
    )
    opened = [m.document for m in posted if isinstance(m, DocumentOpened)]
    assert [document.analysis for document in opened] == [None, analysis]
    assert {document.extent for document in opened} == {Extent.WHOLE}
    stages = [m.loading.stage for m in posted if isinstance(m, LoadProgressed)]
    assert stages == [Stage.ANALYSING, Stage.READY]


def test_while_analysing_header_and_line_count_the_same_events(
    trace: Trace, analysis: Analysis
) -> None:
    def read(path: str, progress: Report) -> Trace:
        progress(Progress(MEGA, MEGA, 3))
        return trace

    posted = loaded(Loader("a.json", Options(), read, lambda trace, options: analysis))
    told = [m.loading for m in posted if isinstance(m, LoadProgressed)]
    (analysing,) = (one for one in told if one.stage is Stage.ANALYSING)
    assert analysing.events == trace.events != 3


def test_threads_take_shorter_turns_only_while_something_is_loaded(
    trace: Trace, analysis: Analysis
) -> None:
    sys.setswitchinterval(before := 0.005)
    during: list[float] = []

    def read(path: str, progress: Report) -> Trace:
        during.append(sys.getswitchinterval())
        return trace

    loaded(Loader("a.json", Options(), read, lambda trace, options: analysis))
    assert during[0] < before == pytest.approx(sys.getswitchinterval())


def reads_with_snapshots(
    trace: Trace, analysis: Analysis, passed: list[float], cost: float = 0.0
) -> Loader:
    """A loader of a file whose reader reports after each of some seconds, out of 100 in all."""
    clock = Time()

    def snapshot() -> Trace:
        clock.now += cost
        return trace

    def read(path: str, progress: Report) -> Trace:
        begun = clock.now
        for seconds in passed:
            clock.now = max(clock.now, begun + seconds)
            progress(Progress(round(seconds * MEGA), 100 * MEGA, 1000, snapshot))
        return trace

    return Loader("a.json", Options(), read, lambda trace, options: analysis, clock=clock)


class Screen:
    """Takes what is posted, as the screen does."""

    def __init__(self) -> None:
        self.parts: list[DocumentOpened] = []

    def __call__(self, message: object) -> None:
        if isinstance(message, DocumentOpened):
            message.drawn.set()
            if message.document.extent is Extent.READING:
                self.parts.append(message)


@pytest.mark.parametrize(
    ("passed", "cost", "parts"),
    [
        ([0.1], 0.0, 1),
        ([0.1, 0.2, 0.3, 0.4], 0.0, 1),
        ([0.1, 0.7, 0.8, 1.3], 0.0, 3),
        ([1, 2, 3, 20, 21, 22], 1.0, 2),
        ([99.8, 99.9], 0.0, 0),
        ([1, 98], 1.0, 1),
    ],
)
def test_snapshots_come_at_once_then_seldom_and_never_at_the_end(
    trace: Trace, analysis: Analysis, passed: list[float], cost: float, parts: int
) -> None:
    screen = Screen()
    reads_with_snapshots(trace, analysis, passed, cost).start(screen).join(20)
    assert len(screen.parts) == parts


def test_no_snapshot_is_made_while_the_screen_is_busy_with_the_last(
    trace: Trace, analysis: Analysis
) -> None:
    posted = loaded(reads_with_snapshots(trace, analysis, [1, 2, 3, 4, 5]))
    opened = [m.document.extent for m in posted if isinstance(m, DocumentOpened)]
    assert opened == [Extent.READING, Extent.WHOLE, Extent.WHOLE]


def test_progress_is_told_four_times_a_second_at_most(trace: Trace, analysis: Analysis) -> None:
    posted = loaded(reads_with_snapshots(trace, analysis, [0.01 * n for n in range(100)]))
    told = [m.loading for m in posted if isinstance(m, LoadProgressed)]
    assert 3 <= sum(loading.stage is Stage.READING for loading in told) <= 4


def test_whatever_fails_is_posted_not_lost(trace: Trace) -> None:
    def fail(trace: Trace, options: Options) -> Analysis:
        raise ZeroDivisionError("defect")

    posted = loaded(Loader("a.json", Options(), lambda path, progress: trace, fail))
    assert isinstance(posted[-1], LoadFailed)
    assert isinstance(posted[-1].error, ZeroDivisionError)


def no_reader(path: str, progress: Report) -> Trace:
    """A reader for screens that get their documents from the test."""
    raise Stopped


@pytest.mark.parametrize("size", [SMALL, MEDIUM, LARGE])
async def test_the_first_picture_has_lines_and_keys_and_then_becomes_the_screen(
    trace: Trace, analysis: Analysis, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screen_of(trace, analysis, size) as (app, _):
        whole = [text_of(app, pane.id) for pane in app.panes if pane.id]
    monkeypatch.delitem(sys.modules, "whichlayer.tui.panes")
    loader = WaitingLoader("runs/step.json", Options(), lambda p, progress: trace,
                           lambda t, options: analysis)  # fmt: skip
    app = WhichlayerApp(loader)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert [pane.id for pane in app.panes] == ["header", "verdict", "opening", "footer"]
        assert [line.strip() for line in text_of(app, "opening")[:4]] == [
            "overview", "time", "LAYERS", "",
        ]  # fmt: skip
        assert "opening …" in text_of(app, "verdict")[0]
        assert "q quit" in text_of(app, "footer")[0]
        await pilot.press("w", "tab", "j", "question_mark", "escape", *"TTTT", "escape")
        loader.go_on()
        await pilot.pause()
        assert [text_of(app, pane.id) for pane in app.panes if pane.id] == whole


@pytest.mark.parametrize(("size", "shown"), [(SMALL, 1), (MEDIUM, 3), (LARGE, 4)])
async def test_panes_that_come_after_the_first_picture_have_their_places(
    size: tuple[int, int], shown: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: str, progress: Report) -> Trace:
        progress(Progress(1, 0, 0))
        raise Stopped

    monkeypatch.delitem(sys.modules, "whichlayer.tui.panes")
    loader = WaitingLoader("-", Options(), read)
    app = WhichlayerApp(loader)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        loader.go_on()
        await pilot.pause()
        assert sum(panel.display for panel in app.query(Panel)) == shown
        assert len({pane.label_cells for pane in app.panes}) == 1
        assert text_of(app, "overview")[0].startswith(" overview")
        assert app.focused is app.query_one("#timeline")


async def test_escape_stops_reading_before_there_are_panes(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []
    monkeypatch.delitem(sys.modules, "whichlayer.tui.panes")
    loader = WaitingLoader("a.json", Options(), no_reader)
    monkeypatch.setattr(loader, "keep_part", lambda: kept.append(True))
    app = WhichlayerApp(loader)
    async with app.run_test() as pilot:
        await pilot.press("escape")
        assert not kept
        app.post_message(LoadProgressed(Loading(Stage.READING, 1, 9, 5, can_stop=True)))
        await pilot.pause()
        await pilot.press("escape")
        assert kept == [True]


class WaitingLoader(ReadyLoader):
    """Loads when the test says so."""

    def start(self, post: Post) -> threading.Thread:
        """Do nothing yet."""
        self._post = post
        return threading.Thread()

    def go_on(self) -> None:
        """Load."""
        super().start(self._post)


async def test_the_timeline_is_there_before_the_analysis(trace: Trace) -> None:
    app = WhichlayerApp(ReadyLoader("a.json", Options(), no_reader))
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(DocumentOpened(open_document(trace)))
        await pilot.pause()
        assert "ampere_s" in text_of(app, "timeline")[0]
        assert "analysing …" in text_of(app, "layers")[0]
        assert "analysing …" in "\n".join(text_of(app, "region"))
        await pilot.press("right_square_bracket", "full_stop", "c", "v", "l", "v")
        assert "analysing …" in "\n".join(text_of(app, "region"))


def opened_twice(trace: Trace, analysis: Analysis) -> tuple[DocumentOpened, DocumentOpened]:
    """What the screen is told of a trace: that it is read, then that it is analysed."""
    posted = loaded(
        Loader("a.json", Options(), lambda p, progress: trace, lambda t, options: analysis)
    )
    first, second = (m for m in posted if isinstance(m, DocumentOpened))
    return first, second


async def test_what_was_looked_at_is_left_alone_when_the_analysis_comes(
    trace: Trace, analysis: Analysis
) -> None:
    first, second = opened_twice(trace, analysis)
    app = WhichlayerApp(ReadyLoader("a.json", Options(), no_reader))
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


async def test_a_word_that_the_analysis_is_missing_goes_when_it_comes(
    trace: Trace, analysis: Analysis
) -> None:
    first, second = opened_twice(trace, analysis)
    app = WhichlayerApp(ReadyLoader("a.json", Options(), no_reader))
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(first)
        await pilot.pause()
        await pilot.press("o")
        assert "not there yet" in text_of(app, "footer")[0]
        app.post_message(second)
        await pilot.pause()
        assert "q quit" in text_of(app, "footer")[0]
