"""A program runs unchanged, and ends for us as it ends."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from tests.support.live_peer import PATIENCE
from whichlayer.analysis.live.child import Child, find_command, recorder_environment
from whichlayer.analysis.live.recorder_options import (
    OPTIONS_VARIABLE,
    RecorderOptions,
    from_text,
)
from whichlayer.analysis.live.rendezvous import SOCKET_VARIABLE


class Output:
    """What a program has printed so far."""

    def __init__(self) -> None:
        self.data = b""
        self._came = threading.Condition()

    def __call__(self, data: bytes) -> None:
        with self._came:
            self.data += data
            self._came.notify_all()

    def wait_for(self, text: bytes) -> None:
        with self._came:
            assert self._came.wait_for(lambda: text in self.data, PATIENCE), self.data


def run(command: list[str], act: Callable[[Child], None] | None = None) -> tuple[int | None, bytes]:
    child, output = Child(command, os.environ), Output()
    child.start(output, rows=30, columns=100)
    if act is not None:
        output.wait_for(b"ready")
        act(child)
    return child.wait(PATIENCE), output.data


def test_it_has_a_terminal_of_the_size_that_was_asked_for() -> None:
    status, output = run(["sh", "-c", "test -t 0 && test -t 1 && test -t 2 && stty size; exit 3"])
    assert (status, output) == (3, b"30 100\r\n")


def test_it_is_told_when_the_size_changes() -> None:
    command = "trap 'stty size; exit 5' WINCH; echo ready; while :; do sleep 0.1; done"
    status, output = run(["sh", "-c", command], lambda child: child.resize(11, 22))
    assert (status, output) == (5, b"ready\r\n11 22\r\n")


def test_what_is_typed_reaches_it() -> None:
    command = ["sh", "-c", "stty -echo; echo ready; read line; echo got $line"]
    assert run(command, lambda child: child.write(b"abc\n")) == (0, b"ready\r\ngot abc\r\n")


def test_what_is_piped_in_is_its_standard_input() -> None:
    given, taken = os.pipe()
    os.write(taken, b"one\ntwo\n")
    os.close(taken)
    command = ["sh", "-c", "cat; [ -t 0 ] || echo piped; [ -t 1 ] && echo shown"]
    child, output = Child(command, os.environ, given), Output()
    child.start(output)
    assert child.wait(PATIENCE) == 0
    assert output.data == b"one\r\ntwo\r\npiped\r\nshown\r\n"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(given)


def test_the_terminal_is_handed_over_until_a_key_gives_it_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r+b", buffering=0) as terminal:
        for name in ("stdin", "stdout"):
            monkeypatch.setattr(sys, name, terminal)
        answer = "stty -echo; echo ready; read line; echo got $line; exec sleep 60"
        child, output = Child(["sh", "-c", answer], os.environ), Output()
        child.start(output)
        output.wait_for(b"ready")
        shown = b""

        def type_it() -> None:
            nonlocal shown
            while termios.tcgetattr(terminal)[3] & termios.ICANON:
                time.sleep(0.001)
            os.write(ours, b"abc\n")
            while b"got abc" not in shown:
                shown += os.read(ours, 1000)
            os.write(ours, b"\x1dlater")

        typist = threading.Thread(target=type_it)
        typist.start()
        assert child.hand_over(b"\x1d") is False
        typist.join()
        assert termios.tcgetattr(terminal)[3] & termios.ICANON, "as it was before"
        assert child.output == output and b"got abc" in output.data, "it is kept as well"
        child.kill()
        assert child.wait(PATIENCE) == 137
    os.close(ours)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT])
def test_signals_are_passed_on_and_told_in_the_status(number: signal.Signals) -> None:
    command = ["sh", "-c", "echo ready; exec sleep 60"]
    assert run(command, lambda child: child.send_signal(number))[0] == 128 + number


def test_it_can_be_killed() -> None:
    command = ["sh", "-c", "trap '' TERM INT; echo ready; while :; do sleep 0.1; done"]
    assert run(command, Child.kill)[0] == 128 + signal.SIGKILL


def test_all_of_its_output_arrives() -> None:
    command = [sys.executable, "-c", "import os\nfor _ in range(300): os.write(1, b'x' * 999)"]
    status, output = run(command)
    assert (status, output) == (0, b"x" * 999 * 300)


def test_a_process_that_it_leaves_behind_does_not_keep_it_alive() -> None:
    began = time.monotonic()
    assert run(["sh", "-c", "trap '' HUP; sleep 30 & exit 2"])[0] == 2
    assert time.monotonic() - began < 25


def test_descriptors_are_given_back() -> None:
    def count() -> int:
        return len(os.listdir("/proc/self/fd"))

    run(["true"])
    before = count()
    for _ in range(5):
        run(["true"])
    assert count() <= before


def test_a_program_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no such program"):
        find_command(["no-such-program"], os.environ)


@pytest.mark.parametrize("leads_session", [False, True])
def test_it_goes_on_when_the_screen_is_killed(tmp_path: Path, leads_session: bool) -> None:
    """Its output goes nowhere then, but writing it is no error and its terminal is not hung up.

    A screen that ``ssh -t`` or tmux starts leads the session of its terminal: the system hangs up
    whatever else is in it.
    """
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import os, pathlib, sys, time
            print("ready", flush=True)
            while os.getppid() and not pathlib.Path(sys.argv[1]).exists():
                time.sleep(0.01)
            for number in range(2000):
                print("x" * 100, flush=True)
            pathlib.Path(sys.argv[2]).write_text("done")
        """)
    )
    screen = textwrap.dedent("""
        import os, sys
        from whichlayer.analysis.live.child import Child
        child = Child(sys.argv[1:], os.environ)
        child.start(lambda data: os.write(1, data))
        child.wait()
    """)
    gone, done = tmp_path / "gone", tmp_path / "done"
    command = [sys.executable, "-c", screen, sys.executable, str(program), str(gone), str(done)]
    if leads_session:
        screened = pexpect.spawn(command[0], command[1:], timeout=PATIENCE)
        screened.expect_exact("ready")
        screened.kill(signal.SIGKILL)
        screened.wait()
        screened.close()
    else:
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.kill()
    gone.touch()
    ends = time.monotonic() + PATIENCE
    while not done.exists() and time.monotonic() < ends:
        time.sleep(0.01)
    assert done.exists()


def test_the_environment_is_the_users_own_but_for_what_the_recorder_needs() -> None:
    options = RecorderOptions(window=4, ranks=(1, 2))
    given = {"PYTHONPATH": "/mine", "HOME": "/home/me", "KINETO_LOG_LEVEL": "0"}
    made = recorder_environment(given, Path("/run/x.sock"), options)
    folder, mine = made.pop("PYTHONPATH").split(os.pathsep)
    assert mine == "/mine"
    assert "sitecustomize.py" in os.listdir(folder)
    assert from_text(made.pop(OPTIONS_VARIABLE)) == options
    assert made.pop(SOCKET_VARIABLE) == "/run/x.sock"
    assert made == {"HOME": "/home/me", "KINETO_LOG_LEVEL": "0"}


SITE = """
import sys
print([one for one in sys.path if "inject" in one], "whichlayer" in sys.modules)
try:
    import torch
except ImportError as error:
    print(error)
"""


def python(tmp_path: Path, *options: str, code: str = SITE, **environment: str) -> str:
    made = recorder_environment({**os.environ, **environment}, tmp_path / "s", RecorderOptions())
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, env=made, capture_output=True, text=True, check=False, cwd="/")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_python_without_torch_notices_nothing(tmp_path: Path) -> None:
    hidden = tmp_path / "torch.py"
    hidden.write_text("raise ImportError('no torch here')")
    found = python(tmp_path, PYTHONPATH=str(tmp_path))
    assert found == "[] False\nno torch here\n"


def test_a_torch_that_is_none_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("value = 3")
    code = "import torch; print(torch.value, 'exec_module' in vars(torch.__spec__.loader))"
    assert python(tmp_path, code=code, PYTHONPATH=str(tmp_path)) == "3 False\n"


def test_the_users_own_sitecustomize_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('mine')")
    assert python(tmp_path, code="pass", PYTHONPATH=str(tmp_path)) == "mine\n"


def test_a_python_that_ignores_its_environment_is_simply_not_recorded(tmp_path: Path) -> None:
    assert python(tmp_path, "-I", code="print(1)") == "1\n"
    assert python(tmp_path, "-S", code="print(1)") == "1\n"


def test_the_recorder_is_found_where_whichlayer_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "whichlayer").mkdir()  # a folder of that name that is none of ours
    code = """
import importlib.util, sys
sys.path[:] = [one for one in sys.path if "site-packages" not in one]
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in repr(one).lower()]
path = sys.argv[1]
spec = importlib.util.spec_from_file_location("inject", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module._make_importable()
import whichlayer.analysis.live.session
print(whichlayer.__file__ if hasattr(whichlayer, "__file__") else None, "numpy" in sys.modules)
"""
    from whichlayer.analysis.live.inject import __file__ as folder

    inject = Path(folder).with_name("sitecustomize.py")
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(inject)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert (done.stdout, done.stderr) == ("None False\n", "")
