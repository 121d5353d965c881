"""Windows are kept within bounds, and private files go with their process."""

from __future__ import annotations

import gzip
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.live_peer import PATIENCE
from whichlayer.analysis.live.events import Recorder, Window
from whichlayer.analysis.live.folder_guard import FolderGuard
from whichlayer.analysis.live.history import History, window_name, window_prefix
from whichlayer.analysis.live.private_folder import PrivateFolder, remove_abandoned

RECORDER = Recorder(1, 7, 0, 1, "train.py", "2.13", "", "training", None)


def written(history: History, number: int, data: bytes = b"{}") -> Window:
    with history.writing(f"w{number}.json.gz") as file:
        file.write(data)
    assert file.failure == ""
    nothing = (None, None, None, None)
    return Window(
        number, RECORDER, number, 1, 2, False, file.path, file.file_bytes, len(data), *nothing, 0
    )


def test_the_private_folder_is_the_users_alone_and_goes_on_close() -> None:
    history = History()
    folder = history.folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    written(history, 1)
    history.close()
    assert not folder.exists()


def test_a_named_folder_keeps_everything(tmp_path: Path) -> None:
    history = History(tmp_path / "kept", most_disk_bytes=1)
    assert [history.add(written(history, number)) for number in (1, 2)] == [(), ()]
    history.close()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [
        "w1.json.gz",
        "w2.json.gz",
    ]


def test_what_is_on_the_screen_is_never_removed() -> None:
    history = History(most_disk_bytes=1)
    one, two, three = (written(history, number) for number in (1, 2, 3))
    history.add(one)
    history.pin({1})
    assert history.add(two) == ()
    assert history.add(three) == (two,)
    assert history.windows() == (one, three)
    history.close()


def test_numbers_go_on_from_what_lies_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "rank0_window0041_steps3-5.json.gz").touch()
    (tmp_path / "rank1_window0099_own.json.gz").touch()
    history = History(tmp_path)
    assert [history.next_number("rank0"), history.next_number("rank0")] == [42, 43]
    assert history.next_number("pid7") == 1


def test_names_tell_rank_number_and_steps() -> None:
    assert window_name("rank0", 1, (3, 5)) == "rank0_window0001_steps3-5.json.gz"
    assert window_name("rank0", 2, (None, 5)) == "rank0_window0002_own.json.gz"
    assert window_prefix(2, 9, first=True) == "rank2"
    assert window_prefix(None, 9, first=True) == "rank0"
    assert window_prefix(None, 9, first=False) == "pid9"


def test_what_was_loaded_is_held_within_a_limit_the_oldest_going_first() -> None:
    history = History(most_memory_bytes=10)
    for number in (1, 2, 3):
        history.add(written(history, number))
        history.hold(number, f"trace {number}", 5)
    assert [history.held(number) for number in (1, 2, 3)] == [None, "trace 2", "trace 3"]
    history.hold(99, "never came", 1)
    assert history.held(99) is None
    history.close()


@pytest.mark.parametrize("name", ["mine.json", "mine.json.gz"])
def test_a_window_is_saved_compressed_by_its_name(tmp_path: Path, name: str) -> None:
    history = History()
    history.add(written(history, 1, b'{"a": 1}'))
    history.save(1, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == b'{"a": 1}'
    with pytest.raises(KeyError):
        history.save(2, tmp_path / "other.json")
    with pytest.raises(OSError, match="No such file"):
        history.save(1, tmp_path / "missing" / "x.json")
    assert os.listdir(tmp_path) == [name]
    history.close()


def test_a_file_that_fails_leaves_nothing(tmp_path: Path) -> None:
    history = History(tmp_path / "file" / "below")
    (tmp_path / "file").touch()
    with history.writing("w.json.gz") as file:
        file.write(b"x")
    assert file.failure
    history = History(tmp_path / "other")
    with pytest.raises(RuntimeError), history.writing("w.json.gz") as file:
        file.write(b"x")
        raise RuntimeError
    assert os.listdir(tmp_path / "other") == []


def test_a_killed_screens_windows_go_with_it() -> None:
    code = (
        "import time\n"
        "from whichlayer.analysis.live.history import History\n"
        "history = History()\n"
        "folder = history.folder()\n"
        "(folder / 'w.json.gz').write_bytes(b'x')\n"
        "print(folder, flush=True)\ntime.sleep(600)"
    )
    screen = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert screen.stdout is not None
    folder = Path(screen.stdout.readline().strip())
    assert folder.is_dir()
    screen.kill()
    screen.communicate()
    ends = time.monotonic() + PATIENCE
    while folder.exists() and time.monotonic() < ends:
        time.sleep(0.01)
    assert not folder.exists()


def test_the_guard_removes_nothing_once_it_is_dismissed(tmp_path: Path) -> None:
    guard = FolderGuard(tmp_path)
    guard.dismiss()
    guard.dismiss()
    assert tmp_path.is_dir()


@pytest.mark.parametrize("removes", [remove_abandoned, History])
def test_folders_of_killed_processes_are_removed_and_those_of_living_ones_stay(
    removes: Callable[[], object],
) -> None:
    code = (
        "import os\n"
        "from whichlayer.analysis.live.private_folder import PrivateFolder\n"
        "print(PrivateFolder().path, flush=True)\nos._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    abandoned, mine = Path(done.stdout.strip()), PrivateFolder()
    strange = Path(tempfile.mkdtemp(prefix="whichlayer-live-"))
    assert abandoned.is_dir()
    removes()
    assert not abandoned.exists()
    assert mine.path.is_dir()
    assert strange.is_dir()
    mine.remove()
    assert not mine.path.exists()
