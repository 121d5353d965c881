"""Traces in the cache are opened ahead of the screen; all others are left to the loader."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis import load
from whichlayer.analysis.cache import reuse
from whichlayer.analysis.cache.presence import may_be_kept
from whichlayer.analysis.reader.progress import Report
from whichlayer.analysis.results import Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.ahead import Ahead
from whichlayer.tui.load import Loader
from whichlayer.tui.messages import DocumentOpened, LoadFailed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of a test, in which traces of any size are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(reuse, "FEWEST_EVENTS", 0)
    return tmp_path / "home" / "whichlayer"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A trace that was never opened."""
    host = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "dur": 5}
    events = [{**host, "ts": 10 * number} for number in range(3)]
    found = tmp_path / "trace.json"
    found.write_text(json.dumps({"traceEvents": events}))
    return found


@pytest.fixture
def kept(folder: Path, path: Path) -> Path:
    """A trace that is in the cache."""
    load(str(path), cache=True)
    assert len(list(folder.iterdir())) == 1
    return path


def begun(path: Path) -> Ahead:
    ahead = Ahead(str(path))
    ahead.start()
    return ahead


def no_reader(path: str, progress: Report, **_: object) -> Trace:
    raise AssertionError("it was opened already")


def opened(path: Path, ahead: Ahead, **options: Any) -> list[DocumentOpened]:
    """The documents that a loader posts."""
    messages: list[Any] = []
    loader = Loader(str(path), Options(), cache=True, ahead=ahead, **options)
    loader.start(messages.append).join()
    assert not [one for one in messages if isinstance(one, LoadFailed)]
    return [one for one in messages if isinstance(one, DocumentOpened)]


def test_what_is_in_the_cache_is_opened_ahead_and_not_once_more(kept: Path) -> None:
    ahead = begun(kept)
    assert ahead.is_kept()
    documents = [one.document for one in opened(kept, ahead, read=no_reader)]
    assert [one.analysis is None for one in documents] == [True, False]
    assert {id(one.trace) for one in documents} == {id(ahead.trace())}
    assert len(documents[0].trace) == 3


def test_what_is_not_in_the_cache_is_read_by_the_loader(folder: Path, path: Path) -> None:
    ahead = begun(path)
    assert not ahead.is_kept() and ahead.trace() is None
    assert len(opened(path, ahead)[-1].document.trace) == 3


def test_an_entry_that_cannot_be_trusted_is_left_to_the_loader(folder: Path, kept: Path) -> None:
    (entry,) = folder.iterdir()
    data = bytearray(entry.read_bytes())
    data[-1] ^= 1
    entry.write_bytes(data)
    ahead = begun(kept)
    assert ahead.is_kept() and ahead.trace() is None
    assert len(opened(kept, ahead)[-1].document.trace) == 3


def test_whatever_fails_ahead_is_left_to_the_loader(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str) -> Trace | None:
        raise MemoryError

    monkeypatch.setattr(reuse, "reopen", fail)
    ahead = begun(kept)
    assert ahead.trace() is None
    assert opened(kept, ahead)


def test_what_is_stopped_is_not_opened(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "reopen", pytest.fail)
    ahead = Ahead(str(kept))
    Loader(str(kept), Options(), ahead=ahead).stop()
    ahead.start()
    assert ahead.trace() is None


def test_turns_are_as_before_once_it_is_opened(kept: Path) -> None:
    before = sys.getswitchinterval()
    assert begun(kept).trace() is not None
    assert sys.getswitchinterval() == pytest.approx(before)


def test_a_pipe_is_not_waited_for(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert not may_be_kept(str(tmp_path / "pipe"))


def test_what_is_no_path_is_not_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert may_be_kept(str(kept))
    for other in (kept.parent, kept / "inside", kept.with_name("a\0b")):
        assert not may_be_kept(str(other))
    monkeypatch.setenv("WHICHLAYER_CACHE_SIZE", "0")
    assert not may_be_kept(str(kept))
