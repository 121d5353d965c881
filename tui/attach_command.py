"""``whichlayer attach``: programs that can be joined, and joining one of them."""

from __future__ import annotations

import os
import queue
import re
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from whichlayer.tui.arguments import Parser, UsageError, add_config_options, parse_count
from whichlayer.tui.run_command import add_history_option

if TYPE_CHECKING:
    from argparse import Namespace

    from whichlayer.analysis.live.armed import Armed
    from whichlayer.analysis.live.events import Window
    from whichlayer.analysis.live.server import LiveServer

_ADDRESS = re.compile(r"(\[[0-9a-fA-F:]+\]|[^:]+):(\d{1,5})")
_FILE_SUFFIXES = (".json", ".json.gz")


def attach(arguments: Sequence[str]) -> int:
    """List armed programs, or join one.

    Returns:
        The exit status.

    Raises:
        UsageError: the command line is wrong, or there is no such program.
    """
    parser = _parser()
    typed = parser.parse_args(arguments)
    from whichlayer.analysis.live.relay import RelayError
    from whichlayer.analysis.live.rendezvous import RendezvousError

    try:
        if typed.program is None:
            if typed.listen or typed.steps or typed.output:
                raise UsageError("name the program: its PID is in the list of whichlayer attach")
            return _list()
        reach = _reach(typed.program)
        if typed.listen:
            return _relay(typed.listen, reach)
        _refuse_watched(typed.program, reach)
        if typed.steps:
            return _record(typed, reach)
        return _watch(reach, typed)
    except (RelayError, RendezvousError) as error:
        raise UsageError(str(error)) from error


def _parser() -> Parser:
    parser = Parser(
        prog="whichlayer attach",
        description="Join a program that was started with 'whichlayer run', or that calls "
        "whichlayer.live.arm(): without PID, list those of this user.",
    )
    parser.add_argument(
        "program",
        metavar="PID",
        nargs="?",
        help="a program of the list, or HOST:PORT of another machine's --listen through ssh -L",
    )
    parser.add_argument(
        "--steps", type=parse_count, metavar="N", help="no screen: record the next N steps, and go"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where to, with --steps; a folder, or a .json(.gz)"
    )
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="no screen: let screens reach the program over TCP, on the loopback device alone "
        "and with the token that is printed; port 0 for a free one",
    )
    add_history_option(parser)
    add_config_options(parser)
    return parser


def _list() -> int:
    from whichlayer.analysis.live.armed import look_at_all
    from whichlayer.analysis.text import clean

    found = look_at_all()
    if not found:
        print(
            "no program can be joined: start one with 'whichlayer run', or call "
            "whichlayer.live.arm() in it; it is listed from its first step on"
        )
        return 0
    print(f"{'PID':>8}  {'SINCE':<8}  {'STEPS/S':>8}  {'RANK':>4}  PROGRAM")
    for one in found:
        rate = "–" if one.steps_per_second is None else f"{one.steps_per_second:.3g}"
        rank = "–" if one.recorder.rank is None else str(one.recorder.rank)
        watched = " (watched by another screen)" if one.is_watched else ""
        program = clean(one.recorder.program)
        print(f"{one.pid:>8}  {_since(one):<8}  {rate:>8}  {rank:>4}  {program}{watched}")
    return 0


def _refuse_watched(program: str, reach: Callable[[], socket.socket]) -> None:
    """Refuse what another screen has joined: a program talks to one alone.

    Raises:
        UsageError: it is so.
    """
    from whichlayer.analysis.live.armed import look

    found = look(reach)
    if found is not None and found.is_watched:
        raise UsageError(
            f"{program} is watched by another screen, and a program can be joined by one alone: "
            "leave that screen first"
        )


def _since(one: Armed) -> str:
    if one.recorder.since_ns is None:
        return "–"
    at = time.localtime(one.recorder.since_ns / 1e9)
    today = at[:3] == time.localtime()[:3]
    return time.strftime("%H:%M:%S" if today else "%d %b", at)


def _reach(program: str) -> Callable[[], socket.socket]:
    """How to connect to what was named.

    Raises:
        UsageError: there is no such program.
    """
    from whichlayer.analysis.live.relay import TOKEN_VARIABLE, connect_to_relay
    from whichlayer.analysis.live.rendezvous import armed, connect

    address = _ADDRESS.fullmatch(program)
    if address is not None:
        token = os.environ.get(TOKEN_VARIABLE) or _asked_token()
        host, port = address[1].strip("[]"), _port(address[2])
        return lambda: connect_to_relay(host, port, token)
    if not program.isdecimal():
        raise UsageError(f"{program!r} is no PID; 'whichlayer attach' lists what can be joined")
    path = armed().get(int(program))
    if path is None:
        raise UsageError(
            f"no program {program} can be joined: it is not armed, has ended, has not reached its "
            "first step, or belongs to another user"
        )
    return lambda: connect(path)


def _port(text: str) -> int:
    if int(text) > 65_535:
        raise UsageError(f"{text} is no port")
    return int(text)


def _asked_token() -> str:
    from getpass import getpass

    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("the token is missing: set WHICHLAYER_LIVE_TOKEN to what was printed")
    return getpass("token: ").strip()


def _relay(address: str, reach: Callable[[], socket.socket]) -> int:
    from whichlayer.analysis.live.relay import Relay

    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise UsageError(f"--listen {address}: write HOST:PORT, such as 127.0.0.1:7007")
    reach().close()
    relay = Relay(match[1].strip("[]"), _port(match[2]), reach)
    print(f"listening on {match[1]}:{relay.port}; Ctrl-C ends it. On your own machine:")
    print(f"  ssh -L {relay.port}:{match[1]}:{relay.port} THIS-MACHINE")
    print(f"  WHICHLAYER_LIVE_TOKEN={relay.token} whichlayer attach localhost:{relay.port}")
    sys.stdout.flush()
    try:
        relay.serve()
    finally:
        relay.close()
    return 0


def _watch(reach: Callable[[], socket.socket], typed: Namespace) -> int:
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise UsageError("the screen needs a terminal; record without one: --steps N -o FILE")
    from whichlayer.tui.configured import options_with, set_up_screen

    set_up_screen(typed)
    from whichlayer.analysis.live.history import History
    from whichlayer.analysis.live.one_arena import use_one_arena
    from whichlayer.analysis.live.recorder_options import RecorderOptions
    from whichlayer.analysis.live.server import LiveServer
    from whichlayer.analysis.options import Options
    from whichlayer.tui.live.run import run_live

    use_one_arena()
    server = LiveServer(History(most_memory_bytes=typed.history or sys.maxsize))
    try:
        server.join(reach())
        return run_live(
            server, None, RecorderOptions(every=0), options_with(Options(), typed),
            local=typed.program.isdecimal(),
        )  # fmt: skip
    finally:
        server.close()


def _record(typed: Namespace, reach: Callable[[], socket.socket]) -> int:
    """Record the next steps of a program, and leave it."""
    if not typed.output:
        raise UsageError("--steps records without a screen: say where to with -o FILE")
    from whichlayer.analysis.live.history import History
    from whichlayer.analysis.live.server import LiveServer

    target = Path(typed.output)
    is_file = not target.is_dir() and target.name.endswith(_FILE_SUFFIXES)
    server = LiveServer(History(None if is_file else target))
    try:
        server.join(reach())
        window = _next_window(server, typed.steps)
        if is_file:
            server.history.save(window.id, target)
        written = target if is_file else window.path
    finally:
        server.close()
    from whichlayer.analysis import analyse, load
    from whichlayer.analysis.text import clean

    print(f"{written}: {clean(analyse(load(written)).verdict.text)}")
    return 0


def _next_window(server: LiveServer, steps: int) -> Window:
    """Ask for a window and wait for it.

    Raises:
        UsageError: it will not come.
    """
    from whichlayer.analysis.live.events import Joined, Left, Noted, StateTold, WindowArrived
    from whichlayer.tui.headless import say

    dropped: int | None = None
    while True:
        try:
            event = server.events.get(timeout=1.0)
        except queue.Empty:
            continue
        if isinstance(event, WindowArrived):
            return event.window
        if isinstance(event, Joined):
            server.record(steps)
        elif isinstance(event, Noted):
            if event.recorder is None:
                _lost(f"the program cannot be joined: {event.text}")
            say(event.text)
        elif isinstance(event, Left):
            _lost(f"no window: {event.reason}")
        elif isinstance(event, StateTold):
            dropped = event.dropped if dropped is None else dropped
            if event.failure or event.dropped > dropped:
                _lost(f"no window: {event.failure or 'it was lost in the program'}")


def _lost(reason: str) -> NoReturn:
    raise UsageError(reason)
