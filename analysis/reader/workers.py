"""Processes that turn blocks of text into columns, and the threads that wait for them.

They are new interpreters, not forks: a program with threads must not be forked, and one that
is imported again in its children would run twice.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from pickle import PickleBuffer
from queue import SimpleQueue
from typing import IO, Final, cast

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

_Process = subprocess.Popen[bytes]


class Workers:
    """Some processes at work; whoever starts them must close them.

    Attributes:
        count: how many there are at most: one that cannot be started is done without.
        keep: the stretch of time that is wanted, None for all.
    """

    def __init__(self, count: int, keep: Keep | None = None) -> None:
        self.count = count
        self.keep = keep
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._processes: list[_Process] = []
        self._threads = ThreadPoolExecutor(count, "whichlayer-reader")
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    @property
    def ready(self) -> bool:
        """One of them waits for work."""
        return not self._idle.empty()

    def read(self, cuts: Sequence[Cut]) -> Future[Collector]:
        """Has a block read; only after one was ready.

        What comes raises whatever came between, should the worker end before it answers.
        """
        try:
            return self._threads.submit(self._read, cuts)
        except RuntimeError as error:  # the interpreter is ending, or may have no more threads
            lost: Future[Collector] = Future()
            lost.set_exception(error)
            return lost

    def close(self) -> None:
        """Ends them at once, whatever they are doing."""
        for process in self._processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.wait()
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
                self._threads.submit(self._welcome, process)

    def _welcome(self, process: _Process) -> None:
        _, answers = _pipes(process)
        if answers.read(len(READY)) == READY:
            self._idle.put(process)

    def _read(self, cuts: Sequence[Cut]) -> Collector:
        process = self._idle.get()
        try:
            blocks, answers = _pipes(process)
            send(blocks, ([(offset, PickleBuffer(text)) for offset, text in cuts], self.keep))
            return cast(Collector, receive(answers))
        finally:
            self._idle.put(process)


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
