"""Regular expressions with a time limit, matched in a process that can be ended.

Python holds its lock while it matches: a thread with a catastrophic pattern would stop the
screen, and nothing could stop the thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whichlayer.analysis.search import regex_worker
from whichlayer.analysis.search.query import QueryError

Bool = NDArray[np.bool_]

#: Longer than any sensible pattern needs over a million names (seconds).
LIMIT_S = 2.0

#: What starting the process and giving it the texts may take on top (bytes a second).
_RATE = 20e6


class Interrupted(Exception):
    """Another thread has ended the match: :meth:`RegexProcess.interrupt`."""


class RegexProcess:
    """Matches patterns against texts that stay the same; starts when first asked."""

    def __init__(self, texts: Sequence[str], limit_s: float = LIMIT_S) -> None:
        """Take the texts; a newline begins another line, where ``^`` matches too."""
        self._texts = texts
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None
        self._sent = 0
        self._interrupted = False

    def match(self, pattern: str, ignore_case: bool) -> Bool:
        """Which texts a pattern is found in: bool (n,).

        Raises:
            QueryError: the pattern is wrong, or takes longer than the limit.
            Interrupted: another thread wanted it to end.
        """
        if self._interrupted:
            self.close()  # it is ended, or about to be
        self._interrupted = False
        request = json.dumps([pattern, ignore_case]).encode()
        try:
            reply = self._ask(request)
        except OSError as error:
            self.close()
            raise QueryError(f"no process for regular expressions: {error.strerror}") from error
        if reply is None:
            self.close()
            if self._interrupted:
                raise Interrupted
            raise QueryError(f"the pattern takes longer than {self._limit_s:g} s: simplify it")
        if reply[:1] == b"-":
            raise QueryError(f"not a regular expression: {reply[1:].decode()}")
        return np.frombuffer(reply, np.bool_)[1 : len(self._texts) + 1].copy()

    def interrupt(self) -> None:
        """End what is being matched, from another thread."""
        process = self._process
        if process is not None:
            self._interrupted = True
            process.kill()

    def close(self) -> None:
        """End the process, whatever it does; another one starts when asked again."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.wait()

    def _ask(self, request: bytes) -> bytes | None:
        """The reply, None where none came in time."""
        fresh = self._process is None
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        limit = self._limit_s + (1.0 + self._sent / _RATE if fresh else 0.0)
        guard = threading.Timer(limit, process.kill)
        guard.daemon = True
        guard.start()
        try:
            if fresh:
                joined = regex_worker.SEPARATOR.join(self._texts)
                regex_worker.send(process.stdin, joined.encode("utf-8", "surrogatepass"))
            regex_worker.send(process.stdin, request)
            return regex_worker.receive(process.stdout)
        except (BrokenPipeError, ValueError):
            return None
        finally:
            guard.cancel()

    def _start(self) -> subprocess.Popen[bytes]:
        self._sent = sum(map(len, self._texts))
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(regex_worker.__file__)), str(self._limit_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self._process
