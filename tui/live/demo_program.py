"""The training that ``whichlayer demo --live`` watches: simulated, with a problem that changes.

It is a process of its own, started like any program that is watched, and speaks to the screen as a
recorder does. Its windows are recordings that come with whichlayer, one for each phase.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import queue
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from whichlayer.analysis.live.protocol import (
    FROM_SCREEN,
    Message,
    Phase,
    ProtocolError,
    receive,
    send,
)
from whichlayer.analysis.live.rendezvous import SOCKET_VARIABLE, connect
from whichlayer.tui.samples import FOLDER

SCREEN_VARIABLE: Final = "WHICHLAYER_DEMO_SCREEN"
"""Environment variable with the process that shows the training: it ends with that."""

#: Phases in the order of the training: (recording, length of a step in ms, what the program says).
SCRIPT: Final = (
    ("loader", 48, "num_workers=0"),
    ("loader", 48, "num_workers=0"),
    ("loader", 48, "num_workers=0"),
    ("fixed", 22, "num_workers=8 now"),
    ("fixed", 22, "num_workers=8"),
    ("fixed", 22, "num_workers=8"),
    ("sync", 30, "new: logs loss.item() of every micro-batch"),
    ("sync", 30, "logs loss.item() of every micro-batch"),
    ("sync", 30, "logs loss.item() of every micro-batch"),
    ("fixed", 22, "loss is logged every 50 steps now"),
    ("fixed", 22, "loss is logged every 50 steps"),
    ("pageable", 33, "new: float images, pin_memory=False"),
    ("pageable", 33, "float images, pin_memory=False"),
    ("fixed", 22, "pin_memory=True, uint8 images again"),
    ("fixed", 22, "pin_memory=True"),
)

WINDOW_STEPS: Final = 2
_STEPS_BETWEEN: Final = 40
_FIRST_AT: Final = 2
"""The first window comes after so many steps: nobody is to wait before an empty screen."""

_STATE_EVERY_S: Final = 0.5
_STEP_NAME = re.compile(rb"ProfilerStep#(\d+)")


@dataclass
class Requests:
    """What the screen has asked for."""

    record: int = 0
    paused: bool = False
    gone: bool = False


class DemoTraining:
    """Steps, and windows of them, in simulated time."""

    def __init__(
        self,
        peer: socket.socket,
        pause: Callable[[float], object] = time.sleep,
        speed: float = 1.0,
    ) -> None:
        """Take a connection to the screen.

        Args:
            peer: a connected socket.
            pause: waits so many seconds; tests do not.
            speed: how many times faster than real steps would be.
        """
        self._peer = peer
        peer.settimeout(None)  # that of connecting would end listening: a screen may be silent
        self._pause, self._speed = pause, speed
        self._asked = Requests()
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._lengths: list[int] = []
        self._step = 0
        self._told = 0.0
        self._last_window = 0
        self._number = 0

    def run(self, steps: int | None = None) -> None:
        """Train for so many steps, or until the screen and the terminal are gone."""
        hello = {
            "pid": os.getpid(), "program": "train.py (simulated)", "mode": "training",
            "torch": "simulated", "device": "NVIDIA A100-SXM4-80GB",
        }  # fmt: skip
        threading.Thread(target=self._listen, name="screen", daemon=True).start()
        with contextlib.suppress(OSError):
            send(self._peer, Message("hello", dict(hello)))
            for place in count() if steps is None else range(steps):
                self._train_step()
                self._answer(place)
            send(self._peer, Message("bye", {"reason": "the training has ended"}))

    @property
    def phase(self) -> tuple[str, int, str]:
        """What is wrong now: it changes with the windows that were taken."""
        return SCRIPT[self._number % len(SCRIPT)]

    def _train_step(self) -> None:
        _, length_ms, said = self.phase
        if self._step % 20 == 0:
            loss = 7.0 * 0.999**self._step + 0.4 * ((self._step * 7919) % 100) / 100
            print(f"step {self._step:>6}  loss {loss:.3f}  \x1b[2m{said}\x1b[0m", flush=True)
        length_us = length_ms * 1000 + (self._step * 2654435761) % 2000
        self._pause(length_us / 1e6 / self._speed)
        self._step += 1
        self._lengths = [*self._lengths, length_us][-32:]

    def _answer(self, place: int) -> None:
        between = _STEPS_BETWEEN if self._number else _FIRST_AT
        due = not self._asked.paused and self._step - self._last_window >= between
        if due or self._asked.record:
            self._window(self._asked.record or WINDOW_STEPS)
        self._tell(Phase.PAUSED if self._asked.paused else Phase.IDLE)

    def _window(self, steps: int) -> None:
        name = self.phase[0]
        self._tell(Phase.WARMING_UP, at_once=True)
        self._train_step()
        self._tell(Phase.RECORDING, at_once=True)
        first = self._step + 1
        for _ in range(steps):
            self._train_step()
        ended_ns = time.time_ns()
        self._tell(Phase.EXPORTING, at_once=True)
        self._asked.record = 0
        self._number += 1
        self._last_window = self._step
        begun = time.perf_counter_ns()
        trace = renumbered(recording(name), first)
        fields = {
            "number": self._number, "first_step": first, "last_step": first + WINDOW_STEPS - 1,
            "ended_ns": ended_ns, "export_ns": time.perf_counter_ns() - begun, "own": False,
        }  # fmt: skip
        send(self._peer, Message("window", dict(fields), trace))

    def _tell(self, phase: Phase, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._told >= _STATE_EVERY_S:
            self._told = now
            fields = {"phase": phase.value, "step": self._step, "step_us": self._lengths}
            send(self._peer, Message("state", dict(fields)))

    def _listen(self) -> None:
        """Take what the screen asks for, until it leaves: the training goes on."""
        for message in _messages(self._peer):
            if message.kind == "record":
                self._asked.record = max(message.number("steps") or WINDOW_STEPS, 1)
            elif message.kind in ("pause", "resume"):
                self._asked.paused = message.kind == "pause"


def _messages(peer: socket.socket) -> Iterator[Message]:
    with contextlib.suppress(OSError, ProtocolError):
        while (message := receive(peer, FROM_SCREEN, most_payload=0)) is not None:
            yield message


def recording(name: str) -> bytes:
    """The recording of a phase, as text.

    Raises:
        OSError: it is not there.
    """
    return gzip.decompress((FOLDER / "live" / f"{name}.json.gz").read_bytes())


def renumbered(trace: bytes, first: int) -> bytes:
    """A recording with its steps counted from another number."""
    numbers = [int(found) for found in set(_STEP_NAME.findall(trace))]
    shift = first - min(numbers, default=first)
    return _STEP_NAME.sub(lambda found: b"ProfilerStep#%d" % (int(found[1]) + shift), trace)


def is_there(process: str) -> bool:
    """Whether a process still runs; True where none is told."""
    if not process.isdecimal():
        return True
    try:
        os.kill(int(process), 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def main() -> int:
    """Train until the terminal is closed; the exit status."""
    address = os.environ.get(SOCKET_VARIABLE, "")
    if not address:
        print("this is the program that 'whichlayer demo --live' watches", file=sys.stderr)
        return 2
    print("\x1b[1mtrain.py\x1b[0m: ResNet-18, batch 128 (simulated: no GPU is used)", flush=True)
    training = DemoTraining(connect(address))
    training.run()
    # The screen has left: as a program would, it goes on, but never longer than its command.
    while is_there(os.environ.get(SCREEN_VARIABLE, "")):
        training._train_step()
    return 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        sys.exit(main())
