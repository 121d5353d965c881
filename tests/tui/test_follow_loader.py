"""A growing file on the screen: read again when it has changed; the view stays where it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.message import Message

from tests.tui.growing import file_order, known_of
from tests.tui.recording import Slice, build_analysis, build_trace
from tests.tui.screen import MEDIUM, view_of
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.follow.growth import FileState
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.follow_app import FollowingApp
from whichlayer.tui.follow_loader import (
    GROWING,
    READING,
    READY,
    UNFINISHED,
    UNREADABLE,
    Followed,
    FollowLoader,
    _may_begin,
)
from whichlayer.tui.messages import DocumentOpened, LoadFailed


class Growing:
    """A file of so many bytes; whoever asks too often is told to stop."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes: Iterator[int] = iter(sizes)
        self.size = 0
        self.loader: FollowLoader | None = None
        self.reads: list[int] = []

    def state(self, path: str) -> FileState | None:
        size = next(self.sizes, None)
        if size is None:
            assert self.loader is not None
            self.loader.stop()
            return None
        self.size = size
        return FileState((1, 1), size, size)

    def read(self, path: str, progress: object = None) -> Trace:
        self.reads.append(self.size)
        if self.size % 10 == 3:
            raise TraceError("torn")
        return build_trace()


class Quick(FollowLoader):
    drawing_s = 0.0

    def run(self, post: list[Message]) -> None:
        self._run(lambda message: post.append(message))


def analyses(trace: Trace, options: Options) -> Analysis:
    return build_analysis(trace)


def followed(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[Growing, list[Message]]:
    monkeypatch.setattr("whichlayer.tui.follow_loader.LOOK_S", 0.001)
    monkeypatch.setattr("whichlayer.tui.follow_loader._PAUSES", 0)
    file = Growing(sizes)
    loader = Quick("runs/t.json", Options(), file.read, analyses, file.state)
    file.loader = loader
    told: list[Message] = []
    loader.run(told)
    return file, told


def test_a_file_is_read_once_for_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    file, told = followed([10, 10, 20, 20, 20, 30], monkeypatch)
    assert file.reads == [10, 20, 30]
    assert sum(isinstance(one, DocumentOpened) for one in told) == 4  # the first one twice
    assert said(told)[0] == GROWING


def said(told: list[Message]) -> list[str]:
    return [one.state for one in told if isinstance(one, Followed)]


class Slow(Growing):
    """Reading takes ten seconds of its clock, a look half a second; the file is a real one."""

    def __init__(self, path: Path, texts: list[str]) -> None:
        super().__init__([])
        self.path, self.texts = path, iter(texts)
        self.seconds = 0.0

    def state(self, path: str) -> FileState | None:
        self.seconds += 0.5
        text = next(self.texts, None)
        if text is None:
            assert self.loader is not None
            self.loader.stop()
            return None
        self.path.write_text(text, encoding="utf-8")
        self.size = len(text)
        return FileState((1, 1), self.size, self.size)

    def read(self, path: str, progress: object = None) -> Trace:
        self.seconds += 10
        return super().read(path, progress)


def followed_slowly(
    path: Path, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[Slow, list[str]]:
    monkeypatch.setattr("whichlayer.tui.follow_loader.LOOK_S", 0.001)
    file = Slow(path, texts)
    loader = Quick(str(path), Options(), file.read, analyses, file.state, lambda: file.seconds)
    file.loader = loader
    told: list[Message] = []
    loader.run(told)
    return file, said(told)


PART, MORE, WHOLE = '[{"ph": "X"} ,', '[{"ph": "X"}, {"ph": "X"},', '[{"ph": "X"}, {"ph": "X"}]'


def test_a_file_is_read_at_once_when_it_has_its_end_and_is_never_said_to_grow_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, states = followed_slowly(
        tmp_path / "t.json", [PART, PART, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE], monkeypatch
    )
    assert file.reads == [len(PART), len(WHOLE)]
    assert states == [GROWING, "changed: read again in 39 s", READING, READY]


def test_a_change_is_told_at_the_next_look_and_counted_down_until_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, states = followed_slowly(tmp_path / "t.json", [PART, PART, *[MORE] * 100], monkeypatch)
    assert file.reads == [len(PART), len(MORE)]
    waits = [f"changed: read again in {left} s" for left in range(39, 0, -1)]
    assert states[: len(waits) + 2] == [GROWING, *waits, READING]
    assert states[len(waits) + 2 :] == [UNFINISHED], "it has rested meanwhile, without an end"


def test_a_file_that_is_complete_from_the_start_is_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, states = followed_slowly(tmp_path / "t.json", [WHOLE] * 9, monkeypatch)
    assert file.reads == [len(WHOLE)] and states == [READY]


def test_what_cannot_be_read_now_is_read_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    file, told = followed([10, 23, 23, 40], monkeypatch)
    assert file.reads == [10, 23, 23, 40]
    assert not any(isinstance(one, LoadFailed) for one in told)
    assert said(told)[:2] == [READING, UNREADABLE]


def test_a_file_that_has_only_just_been_begun_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file, told = followed([3, 3, 3, 50], monkeypatch)
    assert file.reads == [3, 50] and not any(isinstance(one, LoadFailed) for one in told)
    file, told = followed([5003, 5003], monkeypatch)
    assert any(isinstance(one, LoadFailed) for one in told)


class Once(FollowLoader):
    """Reads at once, and again only when the test says so."""

    drawing_s = 0.0

    def _follow(self, *arguments: object) -> None:
        return

    def start(self, post: object) -> threading.Thread:
        self._run(post)  # type: ignore[arg-type]
        return threading.Thread()


def grown(slices: list[Slice], by_ns: int) -> list[Slice]:
    """The recording, and one more slice long after it."""
    last = max(slices, key=lambda one: one[4])
    return [*slices, (*last[:3], last[4] + by_ns - 1000, last[4] + by_ns, 0, -1)]


async def test_the_view_stays_and_its_end_is_followed() -> None:
    slices = file_order()
    trace, longer = known_of(slices), known_of(grown(slices, 5_000_000))
    now = [trace]
    loader = Once("t.json", Options(), lambda path, progress=None: now[0], analyses)
    app = FollowingApp(loader)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        for key in ("home", "w", "w", "w"):
            await pilot.press(key)
        before = view_of(app).port
        now[0] = longer
        loader._read_again(app.post_message)
        await pilot.pause()
        after = view_of(app).port
        assert (after.start_ns, after.end_ns) == (before.start_ns, before.end_ns)
        assert after.high_ns > before.high_ns
        await pilot.press("end")
        span = view_of(app).port.span_ns
        now[0] = known_of(grown(slices, 9_000_000))
        loader._read_again(app.post_message)
        await pilot.pause()
        port = view_of(app).port
        assert port.end_ns == port.high_ns and port.span_ns == span


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("", True),
        ("  \n", True),
        ('{"traceEvents": [', True),
        ("[", True),
        ("\ufeff[", True),
        ("hello", False),
        ('{"a": 1}', False),
        ("[1, 2]", False),
    ],
)
def test_only_what_may_still_become_a_trace_is_waited_for(
    text: str, begins: bool, tmp_path: Path
) -> None:
    path = tmp_path / "new.json"
    path.write_text(text, encoding="utf-8")
    assert _may_begin(str(path)) is begins
