"""The cache as users meet it: on the command line, and behind the screen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from whichlayer.analysis.cache import reuse
from whichlayer.analysis.cache.location import SIZE_VARIABLE
from whichlayer.analysis.results import Options
from whichlayer.tui import cli
from whichlayer.tui.load import Loader
from whichlayer.tui.messages import DocumentOpened, LoadFailed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of a test, in which traces of any size are kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(reuse, "FEWEST_EVENTS", 0)
    return tmp_path / "home" / "whichlayer"


def write_trace(path: Path, count: int = 3) -> Path:
    host = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "dur": 5}
    events = [{**host, "ts": 10 * number, "args": {}} for number in range(count)]
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small trace."""
    return write_trace(tmp_path / "trace.json")


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status and what was written."""
    capfd.readouterr()
    status = cli.main(arguments)
    out, err = capfd.readouterr()
    return status, out, err


def test_a_report_keeps_the_trace_and_the_next_one_is_the_same(
    folder: Path, path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = said(capfd, "report", str(path), "--format", "json")
    assert len(list(folder.iterdir())) == 1
    monkeypatch.delattr("whichlayer.analysis.reader.opening._read")
    assert said(capfd, "report", str(path), "--format", "json") == first


def test_no_cache_neither_reads_nor_writes_it(
    folder: Path, path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert said(capfd, "report", str(path), "--no-cache")[0] == cli.FINE
    assert not folder.parent.exists()
    said(capfd, "report", str(path))
    (entry,) = folder.iterdir()
    entry.write_bytes(b"not to be looked at")
    os.utime(entry, (5, 5))
    assert said(capfd, "report", str(path), "--no-cache")[0] == cli.FINE
    assert (entry.read_bytes(), entry.stat().st_mtime) == (b"not to be looked at", 5)


def test_the_cache_is_listed_with_what_will_not_be_used(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("kept", "gone", "changed", "evil\x1b[31m"):
        said(capfd, "report", str(write_trace(tmp_path / f"{name}.json")))
    (tmp_path / "gone.json").unlink()
    write_trace(tmp_path / "changed.json", 4)
    (folder / ("f" * 32 + ".columns")).write_bytes(b"nothing")
    status, out, err = said(capfd, "cache")
    first, *lines = out.splitlines()
    assert (status, err) == (cli.FINE, "")
    assert str(folder) in first and "5 traces" in first and "4.0 GiB" in first
    assert SIZE_VARIABLE in first
    told = {line.split("  ")[-1].strip() if line.endswith(")") else "" for line in lines}
    assert told == {"", "(gone)", "(changed)", "(damaged)"}
    assert any("evil\\x1b[31m.json" in line for line in lines) and "\x1b" not in out
    assert all("just now" in line for line in lines)


@pytest.mark.parametrize("arguments", [("clear",), ("--clear",)])
def test_clearing_says_how_much_is_freed(
    folder: Path, path: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    said(capfd, "report", str(path))
    status, out, _ = said(capfd, "cache", *arguments)
    assert status == cli.FINE and "1 trace removed" in out and "KiB freed" in out
    assert not list(folder.iterdir())
    assert "0 traces removed, 0 bytes freed" in said(capfd, "cache", *arguments)[1]


def test_a_cache_that_is_not_there_yet_is_listed_as_empty(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = said(capfd, "cache")
    assert status == cli.FINE and "0 traces, 0 bytes" in out
    assert not folder.exists()


def test_why_there_is_no_cache_is_told(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SIZE_VARIABLE, "lots")
    assert f"{SIZE_VARIABLE} is not understood" in said(capfd, "cache")[1]
    monkeypatch.setenv(SIZE_VARIABLE, "0")
    assert f"no more traces are kept: {SIZE_VARIABLE} is 0" in said(capfd, "cache")[1]
    monkeypatch.delenv(SIZE_VARIABLE)
    folder.mkdir(parents=True, mode=0o700)
    used = shutil.disk_usage(folder)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda folder: used._replace(free=0))
        assert "no more traces are kept: the disk is almost full" in said(capfd, "cache")[1]
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda folder, mode: False)
        assert "no more traces are kept: the folder is read-only" in said(capfd, "cache")[1]
    folder.chmod(0o777)
    status, out, _ = said(capfd, "cache")
    assert status == cli.FINE and "no cache: " in out and "others may write" in out
    status, out, err = said(capfd, "cache", "clear")
    assert (status, out) == (cli.WRONG_INPUT, "") and err.count("\n") == 1


def test_an_unknown_action_is_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = said(capfd, "cache", "empty")
    assert (status, out) == (cli.WRONG_INPUT, "") and "empty" in err


def posted(loader: Loader) -> list[Any]:
    """What a loader posts until it ends."""
    messages: list[Any] = []
    loader.start(messages.append).join()
    assert not [one for one in messages if isinstance(one, LoadFailed)]
    return messages


def test_the_screen_keeps_the_trace_after_all_is_shown_and_reopens_it(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def post(message: object) -> None:
        if isinstance(message, DocumentOpened) and message.document.analysis is not None:
            shown.set()
        assert shown.is_set() or not folder.exists()

    shown = threading.Event()
    Loader(str(path), Options(), cache=True).start(post).join()
    assert shown.is_set() and len(list(folder.iterdir())) == 1
    monkeypatch.delattr("whichlayer.analysis.reader.opening._read")
    opened = [
        m for m in posted(Loader(str(path), Options(), cache=True)) if isinstance(m, DocumentOpened)
    ]
    assert len(opened[-1].document.trace) == 3 and opened[-1].document.analysis is not None


def test_the_screen_without_a_cache_touches_none(folder: Path, path: Path) -> None:
    posted(Loader(str(path), Options()))
    assert not folder.parent.exists()


def test_programs_one_after_another_share_the_cache(tmp_path: Path) -> None:
    """From end to end, with a trace that is large enough to be kept."""
    home = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "home")}
    path = write_trace(tmp_path / "large.json", reuse.FEWEST_EVENTS)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "whichlayer", *arguments]
        done = subprocess.run(command, env=home, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout

    first = run("report", str(path))
    assert "1 trace, " in run("cache") and str(path) in run("cache")
    assert run("report", str(path)) == first == run("report", str(path), "--no-cache")
    assert "1 trace removed" in run("cache", "clear")
