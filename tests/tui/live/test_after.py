from __future__ import annotations

import signal

import pytest

from whichlayer.tui.live.after import afterwards, name_of, print_last
from whichlayer.tui.live.output_text import ProgramOutput
from whichlayer.tui.live.quit_screen import Choice


class Program:
    """A program that ends when it is asked to, or only when it is killed."""

    def __init__(self, status: int | None = None, stubborn: bool = False) -> None:
        self.status = status
        self.stubborn = stubborn
        self.did: list[str] = []

    def send_signal(self, number: int) -> None:
        self.did.append(signal.Signals(number).name)

    def wait(self, seconds: float | None = None) -> int | None:
        if self.stubborn and "killed" not in self.did:
            return None
        return 137 if "killed" in self.did else 143

    def kill(self) -> None:
        self.did.append("killed")

    def stay(self) -> int:
        self.did.append("stayed")
        return 5


@pytest.mark.parametrize(
    ("program", "choice", "screen", "status", "did"),
    [
        (Program(3), Choice.STOP, 0, 3, []),
        (Program(), Choice.LEAVE, 0, 5, ["stayed"]),
        (Program(), Choice.STOP, 0, 143, ["SIGTERM"]),
        (Program(stubborn=True), Choice.STOP, 0, 137, ["SIGTERM", "killed"]),
        (Program(), Choice.LEAVE, 143, 143, ["SIGTERM"]),
        (Program(), Choice.LEAVE, 129, 129, []),
    ],
)
def test_the_program_is_left_or_stopped_as_asked_and_its_status_is_ours(
    program: Program, choice: Choice, screen: int, status: int, did: list[str]
) -> None:
    assert afterwards(program, choice, screen) == status  # type: ignore[arg-type]
    assert program.did == did


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python -u train.py --lr 1", "train.py"),
        ("./train.py", "train.py"),
        ("torchrun --nproc-per-node 2 jobs/train.py", "train.py"),
        ("python -m trainer", "trainer"),
        ("/usr/bin/serve", "serve"),
        ("", ""),
    ],
)
def test_a_command_is_named_by_what_it_runs(command: str, name: str) -> None:
    assert name_of(command.split()) == name


def test_the_last_lines_of_the_program_stay_in_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = ProgramOutput()
    output.feed(b"".join(b"\x1b[31mline %d\x1b[0m\r\n" % number for number in range(50)))
    output.feed(b"\x1b]0;title\x07ValueError: x")
    print_last(output, 3)
    assert capsys.readouterr().out.splitlines() == ["line 48", "line 49", "ValueError: x"]
