"""Bookmarks on disk: found again, never lost, nobody else's file overwritten."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from whichlayer.tui import samples
from whichlayer.tui.notes_file import NotesFile, new_bookmark


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "whichlayer" / "notes"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "a.json"
    path.parent.mkdir()
    path.write_text("{}")
    return path


def names(path: Path) -> list[str]:
    return [mark.name for mark in NotesFile(str(path)).read()]


def test_bookmarks_are_found_again_in_order_of_time(trace: Path) -> None:
    notes = NotesFile(str(trace))
    notes.add(new_bookmark("later [bold]\x1b", 2_000))
    notes.add(new_bookmark("früher", -5, 10, "GPU0 s7"))
    assert names(trace) == ["früher", "later [bold]\x1b"]
    assert trace.with_name("a.json.whichlayer.json").exists()
    assert (
        os.listdir(trace.parent) == ["a.json", "a.json.whichlayer.json"]
        or len(os.listdir(trace.parent)) == 2
    )
    notes.remove(notes.read()[0])
    assert names(trace) == ["later [bold]\x1b"]


def test_two_screens_lose_nothing_of_each_other(trace: Path) -> None:
    one, other = NotesFile(str(trace)), NotesFile(str(trace))
    one.read()
    other.read()
    one.add(new_bookmark("one", 1))
    other.add(new_bookmark("other", 2))
    one.remove(one.read()[0])
    assert names(trace) == ["other"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", "damaged"),
        ("[" * 100_000, "damaged"),
        ("\x00\xff", "damaged"),
        ('{"my": "notes"}', "no file of notes"),
        ("[]", "no file of notes"),
        ('{"whichlayer_notes": 2, "bookmarks": []}', "of another version"),
    ],
)
def test_what_is_not_ours_is_kept_aside_and_told(trace: Path, text: str, wrong: str) -> None:
    path = trace.with_name("a.json.whichlayer.json")
    path.write_text(text)
    notes = NotesFile(str(trace))
    assert notes.read() == []
    assert wrong in notes.told
    assert path.read_text() == text, "reading changes nothing"
    for number in (1, 2):
        path.write_text(text)
        notes.add(new_bookmark("mine", 1))
        assert f"kept as {path.name}.kept-{number}" in notes.told
        assert path.with_name(f"{path.name}.kept-{number}").read_text() == text
    assert names(trace) == ["mine"]


def test_odd_bookmarks_are_passed_over(trace: Path) -> None:
    path = trace.with_name("a.json.whichlayer.json")
    good = {"id": "a", "name": "good", "clock_ns": 5}
    odd = [good, None, 7, {"name": 3, "clock_ns": 1}, {"name": "x", "clock_ns": 1e300},
           {"name": "x", "clock_ns": 2**70}, {"name": "x", "clock_ns": True},
           {"name": "ok", "clock_ns": 9, "span_ns": "long", "lane": [], "id": 4}]  # fmt: skip
    path.write_text(json.dumps({"whichlayer_notes": 1, "bookmarks": odd}))
    assert names(trace) == ["good", "ok"]


def test_a_crash_while_writing_leaves_the_old_file(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = NotesFile(str(trace))
    notes.add(new_bookmark("first", 1))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("whichlayer.tui.notes_file.os.fsync", fail)
        with pytest.raises(OSError, match="No space"):
            notes.add(new_bookmark("second", 2))
    assert names(trace) == ["first"]
    assert len(os.listdir(trace.parent)) == 2, "nothing is left behind"
    assert [mark.name for mark in notes.read()] == ["first", "second"], "kept on the screen"


def test_where_the_folder_is_read_only_notes_are_the_users_own(
    trace: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whichlayer.tui.notes_file.os.access", lambda path, how: False)
    notes = NotesFile(str(trace))
    notes.add(new_bookmark("mine", 1))
    (kept,) = state.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert names(trace) == ["mine"]
    assert os.listdir(trace.parent) == ["a.json"]


def test_a_pipe_has_notes_as_long_as_the_screen_is_open() -> None:
    notes = NotesFile("-")
    notes.add(new_bookmark("here", 1))
    assert notes.path is None
    assert [mark.name for mark in notes.read()] == ["here"]
    notes.remove(notes.read()[0])
    assert notes.read() == []


def test_notes_on_a_sample_of_the_package_are_the_users_own(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = samples.sample_path("launch_bound_decode")
    beside = sample.with_name(sample.name + ".whichlayer.json")
    assert not beside.exists()
    notes = NotesFile(str(sample))
    notes.add(new_bookmark("mine", 1))
    assert notes.where == str(state)
    monkeypatch.setenv("HOME", str(state.parent.parent.parent))
    assert notes.where == "~/state/whichlayer/notes"
    assert not beside.exists() and names(sample) == ["mine"]
    (kept,) = state.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_beside_a_trace_the_name_of_the_file_is_told(trace: Path) -> None:
    assert NotesFile(str(trace)).where == "a.json.whichlayer.json"
    assert NotesFile("-").where == ""
