"""A folder is followed: what is complete is told once, what is not is waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from whichlayer.analysis.follow.folder import PATIENCE_S, SETTLED_S, Changes, FolderWatch

WHOLE = '{"traceEvents": []}'


class Watched:
    """A folder and a clock of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 1000.0
        self.watch = FolderWatch(str(folder), lambda: self.now, lambda: int(self.now * 1e9))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, ns=(int(self.now * 1e9),) * 2)
        return path

    def look(self, after: float = 0.0) -> Changes:
        self.now += after
        return self.watch.look()


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def names(changes: tuple[object, ...]) -> list[str]:
    return [os.path.basename(getattr(one, "path", str(one))) for one in changes]


def test_a_file_appears_once_it_has_settled_and_then_never_again(watched: Watched) -> None:
    watched.write("a.json", WHOLE)
    first = watched.look()
    assert names(first.writing) == ["a.json"] and not first.ready
    second = watched.look(SETTLED_S + 0.1)
    assert names(second.ready) == ["a.json"] and not second.writing
    assert watched.look(5) == Changes()


def test_a_file_that_grows_is_waited_for_and_shown_as_such(watched: Watched) -> None:
    for end in range(1, len(WHOLE) + 1):
        watched.write("a.json", WHOLE[:end])
        changes = watched.look(0.3)
        assert names(changes.writing) == ["a.json"] and not changes.ready
    assert names(watched.look(SETTLED_S + 0.1).ready) == ["a.json"]


def test_a_file_without_an_end_that_rests_is_no_trace_yet_but_is_shown_at_last(
    watched: Watched,
) -> None:
    watched.write("a.json", WHOLE[:-1])
    watched.look()
    assert names(watched.look(SETTLED_S + 1).writing) == ["a.json"]
    assert names(watched.look(SETTLED_S + 1).writing) == ["a.json"]
    assert names(watched.look(PATIENCE_S).ready) == ["a.json"]


def test_what_was_there_before_is_told_at_once_the_oldest_first(watched: Watched) -> None:
    for name in ("b.json", "a.json", "c.json.gz"):
        watched.write(name, WHOLE)
        watched.now += 5
    watched.now += 60
    assert names(watched.look().ready) == ["b.json", "a.json", "c.json.gz"]


def test_deleted_renamed_and_rewritten_files_are_told(watched: Watched) -> None:
    for name in ("gone.json", "old.json", "same.json"):
        watched.write(name, WHOLE)
    watched.look(60)
    (watched.folder / "gone.json").unlink()
    (watched.folder / "old.json").rename(watched.folder / "new.json")
    watched.write("same.json", WHOLE + " ")
    watched.look()
    changes = watched.look(SETTLED_S + 0.1)
    assert names(changes.rewritten) == ["same.json"]
    other = Watched(watched.folder)
    other.write("x.json", WHOLE)
    other.look(60)
    (watched.folder / "x.json").rename(watched.folder / "y.json")
    (watched.folder / "gone2.json").write_text(WHOLE)
    moved = other.look()
    assert [(os.path.basename(old), os.path.basename(new.path)) for old, new in moved.moved] == [
        ("x.json", "y.json")
    ]
    assert not moved.removed
    (watched.folder / "y.json").unlink()
    assert names(other.look().removed) == ["y.json"]


def test_folders_in_it_count_and_hidden_files_and_notes_do_not(watched: Watched) -> None:
    watched.write("rank0/a.json", WHOLE)
    watched.write(".b.json", WHOLE)
    watched.write("a.json.whichlayer.json", WHOLE)
    watched.write("notes.txt", WHOLE)
    (watched.folder / "loop").symlink_to(watched.folder)
    assert names(watched.look(60).ready) == ["a.json"]


def test_a_folder_that_goes_is_told_and_comes_back(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "runs")
    assert watched.look().failure
    (tmp_path / "runs").mkdir()
    watched.write("a.json", WHOLE)
    assert names(watched.look(60).ready) == ["a.json"]
