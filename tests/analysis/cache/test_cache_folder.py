"""Where the cache is, how it is bounded, and that it may go at any time."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.cache.conftest import entries_of
from tests.support.whole_trace import everything
from whichlayer.analysis import load
from whichlayer.analysis.cache import contents, entries, location, reuse
from whichlayer.analysis.cache.location import DEFAULT_LIMIT, locate
from whichlayer.analysis.cache.mounts import is_local
from whichlayer.analysis.errors import TraceError


def copies(path: Path, count: int) -> list[Path]:
    """The same trace under several names."""
    made = [path.with_name(f"copy{number}.json") for number in range(count)]
    for copy in made:
        shutil.copy(path, copy)
    return made


def names(folder: Path) -> set[str]:
    """The traces whose entries are there, by file name."""
    told = [reuse.describe(entry) for entry in entries_of(folder)]
    return {Path(one[0]).name for one in told if one is not None}


def use(path: Path, folder: Path, at_s: float) -> None:
    """Open a trace, as if at that time."""
    before = set(entries_of(folder))
    load(path, cache=True)
    (entry,) = set(entries_of(folder)) - before
    os.utime(entry, (at_s, at_s))


def test_the_folder_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/a/b")
    assert locate().folder == Path("/a/b/whichlayer")
    monkeypatch.setenv("HOME", "/home/me")
    for told in ("", "relative/folder"):
        monkeypatch.setenv("XDG_CACHE_HOME", told)
        assert locate().folder == Path("/home/me/.cache/whichlayer")


def test_without_a_home_there_is_no_cache(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda text: text)
    assert (
        locate().folder is None and locate().usable is None and "XDG_CACHE_HOME" in locate().refusal
    )
    assert len(load(path, cache=True))


@pytest.mark.parametrize(
    ("text", "limit"),
    [("0", 0), ("1000", 1000), ("500M", 500 << 20), ("1.5 GiB", 3 << 29), ("2tb", 2 << 40),
     ("", DEFAULT_LIMIT), ("4096K", 4 << 20)],
)  # fmt: skip
def test_the_limit_is_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, text: str, limit: int
) -> None:
    monkeypatch.setenv(location.SIZE_VARIABLE, text)
    assert (locate().limit, locate().note) == (limit, "")


@pytest.mark.parametrize("text", ["much", "-1", "1X", "1e9", "٣G", "9" * 20])
def test_a_limit_that_is_none_is_told_and_not_used(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(location.SIZE_VARIABLE, text)
    assert locate().limit == DEFAULT_LIMIT and location.SIZE_VARIABLE in locate().note


def test_files_are_for_their_owner_alone(folder: Path, path: Path) -> None:
    old = os.umask(0)
    try:
        load(path, cache=True)
    finally:
        os.umask(old)
    (entry,) = entries_of(folder)
    assert (folder.stat().st_mode & 0o777, entry.stat().st_mode & 0o777) == (0o700, 0o600)
    assert list(folder.iterdir()) == [entry]


def test_small_traces_are_not_kept(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reuse, "FEWEST_EVENTS", 50)
    load(path, cache=True)
    assert not folder.exists()


def test_the_library_keeps_nothing_unless_it_is_asked_to(folder: Path, path: Path) -> None:
    load(path)
    assert not folder.parent.exists()
    load(path, cache=True)
    entry = entries_of(folder)[0]
    os.utime(entry, (1, 1))
    load(path)
    assert entry.stat().st_mtime == 1


def test_what_is_read_is_kept_when_somebody_says_so(folder: Path, path: Path) -> None:
    trace = load(path, cache=True, keep=False)
    assert not folder.exists()
    assert reuse.keep(trace) and names(folder) == {"trace.json"}
    assert not reuse.keep(trace)  # once is enough
    assert not reuse.keep(load(path, cache=True))  # it came from there


def test_standard_input_is_never_kept(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whichlayer.analysis.reader.standard_input.spool", lambda report: str(path))
    assert len(load("-", cache=True))
    assert not folder.exists()


def test_one_file_has_one_entry_under_all_its_names_and_states(
    folder: Path, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for name in (path, link, Path("trace.json"), tmp_path / "." / "trace.json"):
        assert load(name, cache=True).path == str(name)
    assert len(entries_of(folder)) == 1
    path.write_text(path.read_text() + " ")
    load(path, cache=True)
    assert len(entries_of(folder)) == 1


def test_a_failed_reading_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"traceEvents": 1}')
    with pytest.raises(TraceError):
        load(path, cache=True)
    assert not folder.exists()


def test_what_was_not_used_for_longest_makes_room(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, fourth = copies(path, 4)
    for at, copy in enumerate((first, second, third), 1000):
        use(copy, folder, at)
    size = sum(entry.stat().st_size for entry in entries_of(folder))
    monkeypatch.setenv(location.SIZE_VARIABLE, str(size + 200))
    load(first, cache=True)  # used again: now the second is the oldest
    load(fourth, cache=True)
    assert names(folder) == {"copy0.json", "copy2.json", "copy3.json"}
    assert sum(entry.stat().st_size for entry in entries_of(folder)) <= size + 200


def test_the_bound_holds_whatever_is_opened(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(path, cache=True)
    size = entries_of(folder)[0].stat().st_size
    for limit in (size * 5 // 2, size + 99, size // 2):
        monkeypatch.setenv(location.SIZE_VARIABLE, str(limit))
        for copy in copies(path, 5):
            os.utime(copy, ns=(limit, limit))
            load(copy, cache=True)
            assert len(entries_of(folder)) >= limit // (size + 99)
            assert sum(entry.stat().st_size for entry in entries_of(folder)) <= limit


def test_a_limit_of_nothing_switches_it_off(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(location.SIZE_VARIABLE, "0")
    assert len(load(path, cache=True)) and not folder.exists()


def test_a_full_disk_is_no_error_and_is_left_alone(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = shutil.disk_usage(path)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: used._replace(free=1 << 20))
    assert len(load(path, cache=True)) and not entries_of(folder)


def test_a_disk_that_fails_while_it_is_written_leaves_no_trace(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: Any, header: object, arrays: object) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(reuse, "write_file", full)
    assert len(load(path, cache=True)) and not list(folder.iterdir())


@pytest.mark.parametrize("home", ["/proc/self", "/dev/null", "/dev/null/below"])
def test_a_folder_that_cannot_be_made_is_no_error(
    path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setattr(reuse, "FEWEST_EVENTS", 0)
    assert len(load(path, cache=True))


def test_a_file_in_the_place_of_the_folder_is_left_alone(folder: Path, path: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("mine")
    assert locate().refusal and len(load(path, cache=True))
    assert folder.read_text() == "mine"


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_is_not_used(folder: Path, path: Path, mode: int) -> None:
    folder.mkdir(parents=True)
    folder.chmod(mode)
    assert locate().refusal and len(load(path, cache=True))
    assert not list(folder.iterdir())


def test_a_folder_of_another_user_is_not_used(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(location, "_user", lambda: os.geteuid() + 1)
    assert locate().refusal and len(load(path, cache=True))
    assert not list(folder.iterdir())


def test_an_entry_may_be_deleted_while_it_is_used(folder: Path, path: Path) -> None:
    load(path, cache=True)
    trace = load(path, cache=True)
    assert entries.clear(folder)[0] == 1 and not list(folder.iterdir())
    shutil.rmtree(folder)
    assert everything(trace) == everything(load(path)) | {"strings": trace.strings}
    load(path, cache=True)
    assert len(entries_of(folder)) == 1


def test_clearing_takes_only_what_is_ours(folder: Path, path: Path) -> None:
    load(path, cache=True)
    size = entries_of(folder)[0].stat().st_size
    (folder / "notes.txt").write_text("mine")
    (folder / ("a" * 32 + ".columns")).mkdir()
    assert entries.clear(folder) == (1, size)
    assert {file.name for file in folder.iterdir()} == {"notes.txt", "a" * 32 + ".columns"}


@pytest.fixture
def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_a_crash_left_is_removed_by_the_next_run(
    folder: Path, path: Path, ended: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(parents=True, mode=0o700)
    with monkeypatch.context() as patch:
        patch.setattr("os.getpid", lambda: ended)
        left = entries.part_path(folder, "a" * 32)
    with monkeypatch.context() as patch:
        patch.setattr(entries, "_host", lambda: "0" * 8)
        elsewhere, old = (entries.part_path(folder, "b" * 32) for _ in range(2))
    writing = entries.part_path(folder, "c" * 32)
    for part in (left, elsewhere, old, writing):
        part.write_bytes(b"half")
    os.utime(old, (1, 1))
    load(path, cache=True)
    assert {left, elsewhere, old, writing} & set(folder.iterdir()) == {elsewhere, writing}


def test_a_writer_that_is_killed_leaves_no_entry(folder: Path, path: Path) -> None:
    code = (
        "import os, sys\n"
        "from whichlayer.analysis import load\n"
        "from whichlayer.analysis.cache import reuse\n"
        "reuse.FEWEST_EVENTS = 0\n"
        "write = reuse.write_file\n"
        "def die(file, header, arrays):\n"
        "    write(file, header, arrays); file.flush(); os.kill(os.getpid(), 9)\n"
        "reuse.write_file = die\n"
        "load(sys.argv[1], cache=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert done.returncode == -9
    assert not entries_of(folder) and len(list(folder.iterdir())) == 1
    load(path, cache=True)
    assert list(folder.iterdir()) == entries_of(folder)


def test_several_programs_may_open_one_file_at_once(folder: Path, path: Path) -> None:
    expected = everything(load(path))
    trouble: list[object] = []
    together = threading.Barrier(4)

    def open_often() -> None:
        try:
            together.wait()
            for number in range(12):
                trace = load(path, cache=True)
                told = everything(trace) | {"strings": list(trace.strings)}
                if told != expected:
                    trouble.append("another trace")
                if number % 4 == 3:
                    entries.clear(folder)
        except BaseException as error:
            trouble.append(error)
            raise

    threads = [threading.Thread(target=open_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not trouble
    assert not [file for file in folder.iterdir() if file.suffix != ".columns"]


MOUNTS = """\
21 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw
22 21 0:20 / /home rw - nfs4 server:/home rw
23 22 0:21 / /home/me/my\\040disk rw master:3 - xfs /dev/sdb rw
24 21 0:22 / /over rw - overlay overlay rw
25 24 0:23 / /over rw - fuse.sshfs me@there: rw
nonsense
"""


@pytest.mark.parametrize(
    ("folder", "local"),
    [("/var/x", True), ("/home/me/.cache", False), ("/home/me/my disk/c", True), ("/homes", True),
     ("/home", False), ("/over/x", False)],
)  # fmt: skip
def test_a_folder_is_local_where_the_system_says_so(
    tmp_path: Path, folder: str, local: bool
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert is_local(Path(folder), mounts) == local


def test_where_the_system_says_nothing_no_folder_is_local(tmp_path: Path) -> None:
    assert not is_local(tmp_path, tmp_path / "missing")


def test_a_trace_that_is_no_ordinary_file_is_never_kept(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TraceError):
        load("/dev/null", cache=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "s"))
    with pytest.raises(TraceError):
        load(tmp_path / "s", cache=True)
    server.close()
    assert not folder.exists()


def test_a_trace_that_says_more_than_an_entry_holds_is_not_kept(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_STORED", contents._STORED - {"events"})
    assert len(load(path, cache=True)) and not folder.exists()
