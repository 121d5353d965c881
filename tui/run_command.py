"""``whichlayer run [options] -- COMMAND...``: a program is recorded while it runs, unchanged."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from whichlayer.tui.arguments import (
    Parser,
    UsageError,
    add_config_options,
    parse_count,
    parse_size,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from whichlayer.analysis.live.recorder_options import RecorderOptions

_RANKS = re.compile(r"\d{1,6}(?:-\d{1,6})?(?:,\d{1,6}(?:-\d{1,6})?)*")
_MOST_RANKS = 100_000


def run_program(arguments: Sequence[str]) -> int:
    """Start a program, record windows of its steps, and end as it does.

    Returns:
        The program's exit status; 128+N where signal N ended it.

    Raises:
        UsageError: the command line is wrong; nothing was started.
        OSError: the program cannot be started.
    """
    parser = _parser()
    # Everything behind -- is the program's, whatever it looks like.
    ours, theirs = _parted(arguments)
    typed = parser.parse_args(ours)
    # A program that was named before it has taken everything since: then this -- is its own, too.
    command = typed.command + (["--"] if typed.command and theirs else []) + theirs
    if not command:
        raise UsageError("name the program: whichlayer run -- python train.py")
    options = _options(typed)
    from whichlayer.analysis.live.child import find_command
    from whichlayer.analysis.live.rendezvous import RendezvousError

    find_command(command, os.environ)
    try:
        if typed.headless:
            return _record(command, options, Path(typed.output))
        folder = Path(typed.output) if typed.output else None
        return _watch(command, options, folder, typed)
    except RendezvousError as error:
        raise UsageError(str(error)) from error


def add_recording_options(parser: Parser) -> None:
    """What a window holds."""
    group = parser.add_argument_group("what is recorded")
    group.add_argument(
        "--no-shapes", action="store_true", help="no shapes of tensors: cheaper, and no bandwidths"
    )
    group.add_argument(
        "--no-stacks", action="store_true", help="no Python stacks: cheaper, and no lines to fix"
    )
    group.add_argument("--memory", action="store_true", help="allocations, too")


def add_history_option(group: argparse._ActionsContainer) -> None:
    """How much memory past windows may take."""
    group.add_argument(
        "--history",
        type=parse_size,
        default=1 << 30,
        metavar="SIZE",
        help="memory for windows that were shown, such as 256M (1G); older ones are read again "
        "from the disk when they are looked at",
    )


def _parser() -> Parser:
    parser = Parser(
        prog="whichlayer run",
        usage="whichlayer run [options] -- COMMAND ...",
        description="Run a program unchanged and watch it live: windows of its steps are "
        "recorded with torch.profiler. Ends with the program's exit status.",
    )
    group = parser.add_argument_group("when it is recorded")
    group.add_argument(
        "--window", type=parse_count, default=3, metavar="N", help="steps in one (3)"
    )
    group.add_argument(
        "--every", type=parse_count, default=50, metavar="N", help="steps from one to the next (50)"
    )
    group.add_argument("--on-demand", action="store_true", help="only when a key asks for it")
    group.add_argument(
        "--ranks", metavar="LIST", help="only these ranks of a job, such as 0 or 0,4-7"
    )
    add_recording_options(parser)
    group = parser.add_argument_group("where it goes")
    group.add_argument(
        "--headless", action="store_true", help="no screen: windows are written to the folder of -o"
    )
    group.add_argument(
        "-o", "--output", metavar="DIR", help="keep all windows there (else until the screen ends)"
    )
    add_history_option(group)
    add_config_options(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="what to run")
    return parser


def _parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    every = list(arguments)
    if "--" not in every:
        return every, []
    place = every.index("--")
    return every[:place], every[place + 1 :]


def _options(typed: Namespace) -> RecorderOptions:
    """What the recorder is told.

    Raises:
        UsageError: the options do not go together.
    """
    from whichlayer.analysis.live.recorder_options import RecorderOptions

    if typed.headless and not typed.output:
        raise UsageError("--headless writes windows to a folder: name it with -o DIR")
    if typed.headless and typed.on_demand:
        raise UsageError("--on-demand waits for a key, and --headless has none")
    if not typed.on_demand and typed.every == 0:
        raise UsageError("--every 0 takes no windows: write --on-demand")
    if typed.output and os.path.exists(typed.output) and not os.path.isdir(typed.output):
        raise UsageError(f"{typed.output}: not a folder")
    try:
        return RecorderOptions(
            window=typed.window,
            every=0 if typed.on_demand else typed.every,
            shapes=not typed.no_shapes,
            stacks=not typed.no_stacks,
            memory=typed.memory,
            ranks=_ranks(typed.ranks),
        )
    except ValueError as error:
        raise UsageError(str(error)) from error


def _ranks(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    if _RANKS.fullmatch(text) is None:
        raise UsageError(f"--ranks {text!r}: write numbers such as 0 or 0,4-7")
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.extend(range(int(first), min(int(last or first), _MOST_RANKS) + 1))
    if not found:
        raise UsageError(f"--ranks {text!r}: names no rank")
    return tuple(dict.fromkeys(found))


def _record(command: list[str], options: RecorderOptions, folder: Path) -> int:
    """Record without a screen; the program keeps our standard streams."""
    from whichlayer.analysis.live.child import recorder_environment, run_attached
    from whichlayer.analysis.live.history import History
    from whichlayer.analysis.live.one_arena import use_one_arena
    from whichlayer.analysis.live.server import LiveServer
    from whichlayer.tui.headless import Headless, say

    use_one_arena()
    folder.mkdir(parents=True, exist_ok=True)
    server = LiveServer(History(folder))
    address = server.listen()
    recording = Headless(server, say)
    try:
        recording.start()
        status = run_attached(command, recorder_environment(os.environ, address, options))
        recording.finish()
    finally:
        server.close()
    for line in recording.summary(folder):
        say(line)
    return status


def _watch(
    command: list[str], options: RecorderOptions, folder: Path | None, typed: Namespace
) -> int:
    """Watch on the screen; the program has a terminal of its own."""
    from whichlayer.tui.configured import options_with, set_up_screen

    set_up_screen(typed)
    source = _source_of_program()
    from whichlayer.analysis.live.child import Child, recorder_environment
    from whichlayer.analysis.live.history import History
    from whichlayer.analysis.live.one_arena import use_one_arena
    from whichlayer.analysis.live.server import LiveServer
    from whichlayer.analysis.options import Options
    from whichlayer.tui.live.run import run_live

    use_one_arena()
    server = LiveServer(History(folder, most_memory_bytes=typed.history or sys.maxsize))
    try:
        address = server.listen()
        environment = recorder_environment(os.environ, address, options)
        child = Child(command, environment, source)
        return run_live(server, child, options, options_with(Options(), typed))
    finally:
        server.close()


def _source_of_program() -> int | None:
    """What is piped in is the program's: its descriptor, while the screen takes the terminal.

    None where the terminal is our standard input.

    Raises:
        UsageError: there is no terminal for the screen.
    """
    shown = (sys.stdout, sys.stderr)
    if all(stream is not None and stream.isatty() for stream in shown) and sys.stdin is not None:
        if sys.stdin.isatty():
            return None
        with suppress(OSError):  # no terminal at all
            terminal = os.open("/dev/tty", os.O_RDWR)
            source = os.dup(0)
            os.dup2(terminal, 0)
            os.close(terminal)
            return source
    raise UsageError("the screen needs a terminal; record without one: --headless -o DIR")
