"""``whichlayer run`` and ``attach`` without a screen, on programs that only act as if they recorded."""

from __future__ import annotations

import gzip
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.live_peer import hello
from whichlayer.analysis.live.protocol import Message, ProtocolError, receive, send
from whichlayer.analysis.live.rendezvous import listen
from whichlayer.analysis.options import Options
from whichlayer.tui import keys
from whichlayer.tui.cli import main
from whichlayer.tui.samples import sample_path
from whichlayer.tui.screen_settings import screen_settings

WHICHLAYER = [sys.executable, "-m", "whichlayer"]


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short path: a socket's may have about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="wl") as folder:
        Path(folder, "run").mkdir(mode=0o700)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(Path(folder, "run")))
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)
        assert list(Path(folder).rglob("*.sock")) == []


def program(folder: Path, body: str) -> list[str]:
    """A program that says what a recorder would."""
    path = folder / "program.py"
    start = f"""
        import gzip, os, signal, socket, sys, time
        from whichlayer.analysis.live.protocol import Message, send
        trace = gzip.open({str(sample_path("dataloader-bound"))!r}).read()
        screen = socket.socket(socket.AF_UNIX)
        screen.connect(os.environ["WHICHLAYER_LIVE_SOCKET"])

        def say(kind, payload=b"", **fields):
            send(screen, Message(kind, fields, payload))

        say("hello", pid=os.getpid(), rank=None, program="program.py")
    """
    path.write_text(textwrap.dedent(start) + textwrap.dedent(body))
    return [sys.executable, str(path)]


def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*WHICHLAYER, *arguments], capture_output=True, check=False)


RECORDED = """
    print("out", file=sys.stdout, flush=True)
    print("err", file=sys.stderr, flush=True)
    for number, first in ((1, 3), (2, 53)):
        say("window", trace, number=number, first_step=first, last_step=first + 2,
            cost={"prepare_ns": 1, "start_ns": 2_000_000, "stop_ns": 38_000_000,
                  "export_ns": 7_000_000, "step_ns": 30_000_000, "usual_step_ns": 20_000_000})
    say("state", phase="idle", step=60, dropped=1)
    say("bye", reason="the program has ended")
    sys.exit(7)
"""


def test_windows_are_written_and_the_program_is_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "windows"
    command = program(tmp_path, RECORDED)
    done = run("run", "--headless", "-o", str(folder), "--", *command)
    assert (done.returncode, done.stdout) == (7, b"out\n")
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "rank0_window0001_steps3-5.json.gz",
        "rank0_window0002_steps53-55.json.gz",
    ]
    recorded = gzip.decompress(sample_path("dataloader-bound").read_bytes())
    assert gzip.decompress((folder / names[0]).read_bytes()) == recorded
    lines = done.stderr.decode().splitlines()
    assert lines[0] == "err"
    assert lines[1].startswith(f"whichlayer: {names[0]}: ")
    assert (
        "(profiler-overhead: a step takes 30.00 ms in the window, 1.50 x the 20.00 ms" in lines[1]
    )
    assert "40.00 ms to start and stop it; 7.000 ms to write the trace)" in lines[1]
    assert f"whichlayer: 2 windows in {folder}: above-cuda 2" in lines
    assert any("in 2 of 2" in line for line in lines)
    assert "whichlayer: 1 window lost on the way" in lines


def test_later_recordings_never_overwrite_earlier_ones(tmp_path: Path) -> None:
    folder = tmp_path / "windows"
    command = program(tmp_path, RECORDED)
    for _ in range(2):
        run("run", "--headless", "-o", str(folder), "--", *command)
    assert len(list(folder.iterdir())) == 4


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", 137),
        ("os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)", 143),
        ("os.kill(os.getppid(), signal.SIGINT); time.sleep(60)", 130),
        ("say('window', trace[:99], first_step=1, last_step=1); sys.exit(3)", 3),
        ("screen.sendall(b'x' * 99); sys.exit(4)", 4),
    ],
)
def test_we_end_as_the_program_ends(tmp_path: Path, body: str, status: int) -> None:
    interrupted = "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    command = program(tmp_path, interrupted + body)
    done = subprocess.run(
        [*WHICHLAYER, "run", "--headless", "-o", str(tmp_path / "w"), "--", *command],
        capture_output=True,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == status, done.stderr
    assert b"Traceback" not in done.stderr


def test_it_says_why_there_is_nothing(tmp_path: Path) -> None:
    done = run("run", "--headless", "-o", str(tmp_path / "w"), "--", "true")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"nothing was recorded: no Python process" in done.stderr


@pytest.mark.parametrize(
    ("body", "told", "advises"),
    [
        ("say('state', step=4); say('bye')", "completed in 4 steps: ask for fewer", True),
        ("say('state', step=90, dropped=1); say('bye')", "completed in 90 steps\n", False),
        ("say('state', step=90, reason='it failed'); say('bye')", "in 90 steps\n", False),
        ("say('state', step=4); os._exit(0)", "heard of it was step 4\n", False),
        ("os._exit(0)", "how many steps it had done is not known\n", False),
    ],
)
def test_steps_without_a_window_are_counted_as_far_as_they_are_known(
    tmp_path: Path, body: str, told: str, advises: bool
) -> None:
    done = run("run", "--headless", "-o", str(tmp_path / "w"), "--", *program(tmp_path, body))
    said = done.stderr.decode()
    assert told in said
    assert ("ask for fewer" in said) is advises


def test_standard_input_is_the_programs(tmp_path: Path) -> None:
    command = [*WHICHLAYER, "run", "--headless", "-o", str(tmp_path / "w"), "--", "cat"]
    done = subprocess.run(command, input=b"typed", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"typed")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["run"], "name the program"),
        (["run", "--"], "name the program"),
        (["run", "true"], "needs a terminal"),
        (["run", "--", "true"], "--headless -o DIR"),
        (["run", "--headless", "--", "true"], "-o DIR"),
        (["run", "--headless", "-o", "w", "--on-demand", "--", "true"], "--on-demand"),
        (["run", "--headless", "-o", "/dev/null", "--", "true"], "not a folder"),
        (["run", "--window", "0", "--", "true"], "window"),
        (["run", "--window", "9", "--every", "9", "--", "true"], "10 steps"),
        (["run", "--every", "0", "--", "true"], "--on-demand"),
        (["run", "--ranks", "1-", "--", "true"], "--ranks"),
        (["run", "--ranks", "5-1", "--", "true"], "names no rank"),
        (["run", "--headless", "-o", "w", "--", "no-such-program"], "no such program"),
        (["attach", "999999999"], "no program 999999999"),
        (["attach", "train.py"], "no PID"),
        (["attach", "--steps", "3"], "name the program"),
        (["attach", "127.0.0.1:99999"], "no port"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_starts_nothing(
    tmp_path: Path,
    arguments: list[str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHICHLAYER_LIVE_TOKEN", "x")
    status = main(arguments)
    out, err = capfd.readouterr()
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert reason in err
    assert os.listdir(tmp_path) == []


def test_a_wrong_command_line_is_the_status_of_the_command() -> None:
    done = run("run", "--")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1 and b"name the program" in done.stderr


def test_without_armed_programs_the_list_says_how_to_get_one() -> None:
    done = run("attach")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"whichlayer.live.arm()" in done.stdout


@pytest.mark.parametrize("between", [["--"], []])
def test_what_follows_the_program_is_its_own(tmp_path: Path, between: list[str]) -> None:
    show = [sys.executable, "-c", "import sys; print(sys.argv[1:])", "--window", "--", "-o", "x"]
    done = run("run", "--headless", "-o", str(tmp_path / "w"), *between, *show)
    assert (done.returncode, done.stdout) == (0, b"['--window', '--', '-o', 'x']\n")


@contextmanager
def watched_program(reason: str) -> Iterator[str]:
    """A program that says of itself what a recorder does which a screen has joined, or none."""
    name = "4194000"
    server, path = listen(name)

    def answer() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            with peer, suppress(OSError, ProtocolError):
                if receive(peer, frozenset({"look", "join"}), most_payload=0) is None:
                    continue  # it was asked whether anybody is there
                for one in (hello(), Message("state"), Message("bye", {"reason": reason})):
                    send(peer, one)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield name
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("steps", [[], ["--steps", "2", "-o", "now.json"]])
def test_what_another_screen_watches_is_refused_in_one_line(steps: list[str]) -> None:
    with watched_program("another screen is connected") as pid:
        done = run("attach", pid, *steps)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1 and b"another screen" in done.stderr


def test_what_nobody_watches_is_joined() -> None:
    with watched_program("") as pid:
        done = run("attach", pid)
    assert done.returncode == 2 and b"needs a terminal" in done.stderr


def test_settings_that_are_wrong_are_told_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".whichlayer.toml").write_text('[screen]\ntheme = "nope"\n')
    started = tmp_path / "started"
    assert main(["run", "--", "touch", str(started)]) == 2
    assert '.whichlayer.toml:2: screen.theme: there is no theme "nope"' in capfd.readouterr().err
    assert not started.exists()


def test_the_live_screen_has_the_settings_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(
        'device_model = "H100 SXM5"\n[screen]\ntheme = "light"\n[keys]\nfit = "f5"\n'
    )
    seen: list[tuple[str, str | None]] = []

    def shown(server: object, child: object, recording: object, options: Options) -> int:
        fit = next(key for key in keys.current_keys() if key.id == "fit")
        assert fit.keys == (("f5",) if len(seen) == 0 else ("f",))
        seen.append((screen_settings.theme, options.device_model))
        return 0

    monkeypatch.setattr("whichlayer.tui.live.run.run_live", shown)
    monkeypatch.setattr("whichlayer.tui.run_command._source_of_program", lambda: None)
    monkeypatch.setattr(keys, "_in_use", keys.KEYS)
    assert main(["run", "--config", "own.toml", "--", "true"]) == 0
    monkeypatch.setattr(keys, "_in_use", keys.KEYS)
    assert main(["run", "--no-config", "--", "true"]) == 0
    assert seen[0][0].endswith("light") and (seen[0][1] or "").startswith("H100 SXM5")
    assert seen[1][1] is None
