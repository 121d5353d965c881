"""The live screen in a real terminal, as a user meets it."""

from __future__ import annotations

import gzip
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.tui.test_terminal import ROOT, Terminal

WINDOWS = ROOT / "sample_traces" / "live"


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    """Caches, temporary files and the shell's folder of a test of its own."""
    room = tmp_path / "room"
    room.mkdir()
    return {"TMPDIR": str(room), "XDG_CACHE_HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(room)}


def test_the_demonstration_from_the_first_window_to_stopping_the_program(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    shown = Terminal("demo", "--live", **settings)
    shown.wait_for("num_workers=0")
    shown.wait_for("ABOVE CUDA")
    shown.wait_for("dataloader-wait")
    before = len(list((tmp_path / "room").rglob("rank0_window*.json.gz")))
    shown.press("e")
    shown.wait_for("asked for a window now")
    shown.wait_for("2 of ")
    assert before >= 1
    shown.press("(")
    shown.wait_for("PAUSED FOLLOWING")
    shown.wait_for("newer")
    shown.press("G")
    shown.wait_for("● LIVE")
    target = tmp_path / "kept.json"
    shown.press("S")
    shown.wait_for("save as")
    shown.press(f"\x15{target}\r")
    shown.wait_for("saved as")
    assert target.read_bytes().lstrip().startswith(b"{")
    shown.press("q")
    shown.wait_for("is still running")
    shown.press("s")
    assert shown.leave() == 128 + 15
    assert not [path for path in (tmp_path / "room").rglob("*") if not path.is_dir()]


def test_leaving_lets_the_program_go_on_in_the_terminal(settings: dict[str, Any]) -> None:
    shown = Terminal("demo", "--live", **settings)
    shown.wait_for("step      0")
    shown.press("q")
    shown.wait_for("is still running")
    shown.press("l")
    shown.wait_for("the program goes on here")
    shown.wait_for("step     60")
    shown.press("\x03")
    assert shown.leave() == 0


def test_a_folder_is_followed_and_a_file_written_slowly_is_waited_for(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    shown = Terminal(str(folder), **settings)
    shown.wait_for("waiting for traces")
    data = gzip.decompress((WINDOWS / "loader.json.gz").read_bytes())
    path = folder / "rank0_first.json"
    with open(path, "wb") as file:
        file.write(data[:1_000_000])
        file.flush()
        shown.wait_for("writing rank0_first.json 1")
        assert "ABOVE CUDA" not in shown.text
        file.write(data[1_000_000:])
    shown.wait_for("ABOVE CUDA")
    (folder / "rank0_second.json.gz").write_bytes((WINDOWS / "fixed.json.gz").read_bytes())
    shown.wait_for("HEALTHY")
    shown.wait_for("2 of 2")
    path.unlink()
    shown.wait_for("1 trace removed")
    shown.press("q")
    assert shown.leave() == 0


def test_a_folder_of_ranks_shows_the_one_that_is_asked_for(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    for rank, name in enumerate(("loader", "fixed")):
        target = tmp_path / f"rank{rank}.json.gz"
        target.write_bytes((WINDOWS / f"{name}.json.gz").read_bytes())
        os.utime(target, (1, 1))
    shown = Terminal(str(tmp_path), "--rank", "1", **settings)
    shown.wait_for("HEALTHY")
    assert "rank 1" in shown.text and "1 of 1" in shown.text
    shown.press("q")
    assert shown.leave() == 0


def test_a_growing_file_is_read_again_and_its_end_is_followed(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    data = gzip.decompress((WINDOWS / "fixed.json.gz").read_bytes())
    path = tmp_path / "grows.json"
    path.write_bytes(data[:700_000])
    shown = Terminal(str(path), "--follow", **settings)
    shown.wait_for("steps 3")
    path.write_bytes(data)
    shown.wait_for("HEALTHY")
    shown.wait_for("ready, followed")
    shown.press("q")
    assert shown.leave() == 0


SCRIPT = """
import torch
model = torch.nn.Linear(64, 64)
optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
step = 0
while True:
    loss = model(torch.randn(32, 64)).square().mean()
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    step += 1
    if step % 40 == 0:
        print("trained", step, flush=True)
    import time; time.sleep(0.01)
"""


def test_a_real_program_under_run_is_recorded_when_asked(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    shown = Terminal("run", "--on-demand", "--", sys.executable, str(script), **settings)
    shown.wait_for("trained 40")
    shown.wait_for("e records one")
    shown.press("e")
    shown.wait_for("1 of 1")
    shown.wait_for("UNCLEAR")
    shown.wait_for("train.py")
    shown.press("q")
    shown.wait_for("is still running")
    shown.press("s")
    assert shown.leave() == 128 + 15


def test_what_a_program_asks_is_answered_with_the_keyboard_handed_over(
    settings: dict[str, Any],
) -> None:
    asks = "print('hello', input('name? '), flush=True); import time; time.sleep(900)"
    shown = Terminal("run", "--", sys.executable, "-c", asks, **settings)
    shown.wait_for("name?")
    shown.press(";")
    shown.wait_for("the keyboard is the program's")
    shown.press("bob\r")
    shown.wait_for("hello bob")
    shown.press("\x1d")
    shown.wait_for("the keyboard is the screen's again")
    shown.wait_for("hello bob")
    shown.press("q")
    shown.wait_for("is still running")
    shown.press("s")
    assert shown.leave() == 128 + 15


def test_what_is_piped_in_reaches_the_program_and_keys_the_screen(
    settings: dict[str, Any],
) -> None:
    counts = "import sys; print('read', len(sys.stdin.read()), sys.stdin.isatty()); sys.exit(4)"
    ours = f"{sys.executable} -m whichlayer run -- {sys.executable} -c"
    piped = f'printf 12345 | {ours} "$0"'
    shown = Terminal(counts, command=("sh", "-c", piped), **settings)
    shown.wait_for("read 5 False")
    shown.wait_for("the program has ended with status 4")
    shown.press("q")
    assert shown.leave() == 4


def test_a_program_that_ends_leaves_its_status(tmp_path: Path, settings: dict[str, Any]) -> None:
    command = [sys.executable, "-c", "print('over'); raise SystemExit(3)"]
    shown = Terminal("run", "--", *command, **settings)
    shown.wait_for("the program has ended with status 3")
    shown.wait_for("over")
    shown.press("q")
    assert shown.leave() == 3


def test_no_picture_takes_longer_than_two_seconds_after_twenty_megabytes(tmp_path: Path) -> None:
    """What the screen itself takes, in time of its own thread: load, analyse, prepare."""
    from tests.tui.live.live_screen import shot
    from whichlayer.analysis.options import Options
    from whichlayer.tui.live.analyst import Analyst

    data = gzip.decompress((WINDOWS / "sync.json.gz").read_bytes())
    assert 5e6 < len(data) < 7e6
    path = tmp_path / "window.json"
    path.write_bytes(data)
    analyst = Analyst(Options(), lambda message: None)
    one = shot(1)
    window = type(one)(1, path, one.source, one.label, len(data))
    analyst._opened(window)  # what is imported for the first window is not counted
    begun = time.thread_time()
    analyst._opened(window)
    assert (time.thread_time() - begun) * 20e6 / len(data) < 4.0
