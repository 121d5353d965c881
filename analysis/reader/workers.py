"""Processes that turn blocks of text into columns, and the threads that wait for them.

They are new interpreters, not forks: a program with threads must not be forked, and one that
is imported again in its children would run twice.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from pickle import PickleBuffer
from queue import SimpleQueue
from typing import IO, Final

from whichlayer.analysis.reader.block import Cut
from whichlayer.analysis.reader.collector import Collector
from whichlayer.analysis.reader.keep import Keep
from whichlayer.analysis.reader.messages import receive, send
from whichlayer.analysis.reader.worker import READY

#: What a worker runs: the same modules as this process, from the same places.
_CODE: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from whichlayer.analysis.reader.worker import main; main()"
)

#: Options of the interpreter that decide what it imports.
_OPTIONS: Final = {
    "isolated": "-I",
    "ignore_environment": "-E",
    "no_site": "-S",
    "no_user_site": "-s",
    "dont_write_bytecode": "-B",
    "optimize": "-O",
}

#: NumPy's linear algebra is not used; its threads would only take memory.
_ONE_THREAD: Final = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"
)

#: Room in a pipe, so that few turns move a block.
_PIPE: Final = 1 << 18

#: What was killed is gone within this time, or not for as long as the system holds it.
_GRACE_S: Final = 5.0

#: What a block holds; None if its worker was lost.
Answer = Future[Collector | None]

_Process = subprocess.Popen[bytes]


class Workers:
    """Some processes at work; whoever starts them must close them.

    Each has a thread here that sends it blocks and waits for what they hold. Python does not
    wait for these at exit: a program that ends takes the processes with it, whatever they do.

    Attributes:
        count: how many there are at most: one that cannot be started is done without.
        keep: the stretch of time that is wanted, None for all.
    """

    def __init__(self, count: int, keep: Keep | None = None) -> None:
        self.count = count
        self.keep = keep
        self._ready = threading.Event()
        self._asked: SimpleQueue[tuple[Sequence[Cut], Answer] | None] = SimpleQueue()
        self._processes: list[_Process] = []
        self._threads: list[threading.Thread] = []
        atexit.register(self.close)
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    @property
    def ready(self) -> bool:
        """One of them has started."""
        return self._ready.is_set()

    def read(self, cuts: Sequence[Cut]) -> Answer:
        """Has a block read; only after one was ready."""
        answer: Answer = Future()
        self._asked.put((cuts, answer))
        return answer

    def close(self) -> None:
        """Ends them at once, whatever they are doing."""
        atexit.unregister(self.close)
        for process in self._processes:
            process.kill()
        for _ in self._threads:
            self._asked.put(None)
        for thread in self._threads:
            thread.join(_GRACE_S)
        for process in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
            for pipe in _pipes(process):
                with contextlib.suppress(OSError):  # what was not sent yet
                    pipe.close()

    def _start(self) -> None:
        command = _command()
        # What may fail: no such program, no process or thread more, a null in a path.
        with contextlib.suppress(OSError, ValueError, RuntimeError, subprocess.SubprocessError):
            for _ in range(self.count if command else 0):
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=os.environ | _ONE_THREAD,
                    pipesize=_PIPE,
                )
                self._processes.append(process)
                thread = threading.Thread(target=self._serve, args=(process,), daemon=True)
                thread.start()
                self._threads.append(thread)

    def _serve(self, process: _Process) -> None:
        """Sends one worker the blocks that are asked for, in a thread of its own."""
        _, answers = _pipes(process)
        if answers.read(len(READY)) != READY:
            return
        self._ready.set()
        while (asked := self._asked.get()) is not None:
            cuts, answer = asked
            if not answer.set_running_or_notify_cancel():
                continue
            answer.set_result(_exchange(process, (cuts, self.keep)))


def _exchange(process: _Process, block: tuple[Sequence[Cut], Keep | None]) -> Collector | None:
    """What a worker makes of a block, None if it ends before it answers.

    Whatever happened is not kept: Python 3.11 crashes when it collects the cycle of an exception
    and a frame in which one view of memory lies above another.
    """
    blocks, answers = _pipes(process)
    cuts, keep = block
    try:
        send(blocks, ([(offset, PickleBuffer(text)) for offset, text in cuts], keep))
        answer = receive(answers)
    except Exception:  # noqa: BLE001  # of a closed pipe, a cut answer, or memory that is short
        return None
    return answer if isinstance(answer, Collector) else None


def _pipes(process: _Process) -> tuple[IO[bytes], IO[bytes]]:
    """Where a process reads blocks and writes answers."""
    assert process.stdin is not None and process.stdout is not None
    return process.stdin, process.stdout


def _command() -> list[str]:
    """What starts a worker; nothing where this is no ordinary interpreter."""
    name = Path(sys.executable or "").name.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        return []
    options = [option for flag, option in _OPTIONS.items() if getattr(sys.flags, flag)]
    places = [place for place in sys.path if isinstance(place, str)]
    # -P: what lies in the folder that one happens to be in is nobody's module.
    return [sys.executable, *options, "-P", "-c", _CODE, *places]
