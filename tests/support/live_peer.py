"""Stand-ins for the ends of a live recording, and running real programs under one."""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from whichlayer.analysis.live.child import recorder_environment
from whichlayer.analysis.live.events import Event, WindowArrived
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.protocol import Message, send
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.rendezvous import runtime_folder
from whichlayer.analysis.live.server import LiveServer

PATIENCE = 60.0
Kind = TypeVar("Kind")


def wait_for(
    server: LiveServer, kind: type[Kind], check: Callable[[Kind], bool] | None = None
) -> Kind:
    """The next event of a kind; those before it are lost."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        event = server.events.get(timeout=PATIENCE)
        if isinstance(event, kind) and (check is None or check(event)):
            return event
    raise AssertionError(f"no {kind.__name__} came")


def every_event(server: LiveServer) -> Iterator[Event]:
    """What has come and was not taken yet."""
    while True:
        try:
            yield server.events.get_nowait()
        except queue.Empty:
            return


def hello(**changes: Any) -> Message:
    """What a recorder says first."""
    fields: dict[str, Any] = {"pid": 7, "rank": 0, "world_size": 1, "program": "train.py"}
    return Message("hello", {**fields, **changes})


def window(payload: bytes = b'{"traceEvents": []}', **changes: Any) -> Message:
    """A window as a recorder sends it."""
    fields: dict[str, Any] = {"number": 1, "first_step": 3, "last_step": 5, "own": False}
    return Message("window", {**fields, **changes}, payload)


def peer_of(path: Path, *messages: Message) -> socket.socket:
    """A recorder's end of a connection, on which something has been said."""
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.settimeout(PATIENCE)
    peer.connect(str(path))
    for message in messages:
        send(peer, message)
    return peer


@dataclass
class Ran:
    """A program that ran under a recorder.

    Attributes:
        left: files of ours that are left anywhere.
    """

    status: int
    out: bytes
    err: bytes
    events: list[Event] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def windows(self) -> list[WindowArrived]:
        return [event for event in self.events if isinstance(event, WindowArrived)]


@contextmanager
def started(
    command: list[str],
    options: RecorderOptions,
    folder: Path,
    environment: dict[str, str] | None = None,
) -> Iterator[tuple[LiveServer, subprocess.Popen[bytes]]]:
    """A program while it is recorded, and the server that takes its windows."""
    server = LiveServer(History(folder))
    address = server.listen()
    env = recorder_environment({**os.environ, **(environment or {})}, address, options)
    program = subprocess.Popen(
        command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield server, program
    finally:
        if program.poll() is None:
            program.kill()
        program.communicate()
        server.close()


def ran(
    script: Path,
    options: RecorderOptions,
    *arguments: str,
    environment: dict[str, str] | None = None,
    launcher: list[str] | None = None,
) -> Ran:
    """Run a script under a recorder to its end."""
    command = [*(launcher or [sys.executable]), str(script), *arguments]
    folder = script.parent / "windows"
    with started(command, options, folder, environment) as (server, program):
        out, err = program.communicate(timeout=10 * PATIENCE)
        ends = time.monotonic() + PATIENCE
        while server.recorders and time.monotonic() < ends:
            time.sleep(0.01)
        server.close()
        events = list(every_event(server))
    return Ran(program.returncode, out, err, events, left_over())


def await_socket(program: subprocess.Popen[bytes]) -> None:
    """Wait until a program that lets itself be recorded can be asked, or has ended."""
    ends = time.monotonic() + PATIENCE
    while program.poll() is None and time.monotonic() < ends:
        if runtime_folder().is_dir() and any(runtime_folder().iterdir()):
            return
        time.sleep(0.01)


def plain(script: Path) -> Ran:
    """Run a script without a recorder."""
    env = {"KINETO_LOG_LEVEL": "99", **os.environ}
    command = [sys.executable, str(script)]
    done = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def left_over() -> list[str]:
    """Sockets of ours, and temporary folders of ours; the test has folders of its own for both."""
    found = [path.name for path in runtime_folder().iterdir()]
    return found + [path.name for path in Path(os.environ["TMPDIR"]).glob("whichlayer-live-*")]
