"""Standard input as a file: a trace is read more than once, a pipe is not.

What is piped in is written, as it comes and still compressed, to a file of its own that goes
when the program ends.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import select
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO, Final

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.partly import Partly
from whichlayer.analysis.reader.progress import Progress, Report

#: What stands for standard input where a file is named.
NAME: Final = "-"

_BLOCK: Final = 1 << 20

#: Room that is left on the disk, and how many bytes may come before it is looked at again.
_RESERVE: Final = 1 << 30
_CHECKED: Final = 1 << 26

#: While nothing comes, how far it is is told again this often (seconds): what is told too soon
#: after the last time is not shown, and whoever wants no more of it says so when told.
_TOLD_S: Final = 0.25

#: The pipe that the terminal replaced, and the file that holds what came, once there are any.
_pipes: list[IO[bytes]] = []
_kept: list[str] = []


def take_terminal() -> None:
    """Gives standard input to the terminal, and keeps what is piped in for :func:`spool`.

    Raises:
        OSError: there is no terminal.
    """
    terminal = os.open("/dev/tty", os.O_RDWR)
    try:
        piped = os.dup(0)
        os.dup2(terminal, 0)
    finally:
        os.close(terminal)
    _pipes.append(os.fdopen(piped, "rb", buffering=0))


def spool(stream: IO[bytes] | None = None, report: Report | None = None) -> str:
    """The file that holds all of standard input, written when it is first asked for.

    Args:
        stream: instead of standard input.
        report: called now and then, also while nothing comes through a pipe; what it raises
            ends the reading and comes out of here.

    Raises:
        TraceError: nothing is piped in, or it does not fit on the disk.
    """
    if stream is not None:
        return _written(stream, report)
    if not _kept:
        _kept.append(_written(_standard_input(), report))
    return _kept[0]


def _standard_input() -> IO[bytes]:
    if _pipes:
        return _pipes[-1]
    if sys.stdin is None or sys.stdin.isatty():
        raise TraceError("nothing is piped to standard input")
    return sys.stdin.buffer


def _written(source: IO[bytes], report: Report | None) -> str:
    try:
        descriptor, path = tempfile.mkstemp(prefix="whichlayer-", suffix=".trace")
    except OSError as error:
        raise TraceError(f"no file can be made in the temporary folder: {error}") from error
    atexit.register(_remove, path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _copy(source, file, path, report)
    except BaseException:
        _remove(path)
        raise
    return path


def _copy(source: IO[bytes], file: IO[bytes], path: str, report: Report | None) -> None:
    folder = os.path.dirname(path)
    written = checked = 0
    partly = Partly(path) if report is not None else None
    while block := _next(source, written, report, partly):
        if written >= checked:
            checked = written + _CHECKED
            if shutil.disk_usage(folder).free < _RESERVE:
                raise TraceError(f"no room left in {folder} after {written} bytes; set TMPDIR")
        try:
            file.write(block)
            file.flush()
        except OSError as error:
            reason = error.strerror or str(error)
            raise TraceError(
                f"cannot write to {folder} after {written} bytes: {reason}; set TMPDIR"
            ) from error
        written += len(block)
        if report is not None and partly is not None:
            report(Progress(written, 0, 0, partly.snapshot(written)))


def _next(source: IO[bytes], written: int, report: Report | None, partly: Partly | None) -> bytes:
    """What comes next, empty at the end; until then the report is that nothing has come."""
    # With a buffer in between, what can be read is not what the system knows of.
    if report is not None and isinstance(source, io.FileIO):
        while not _has_input(source.fileno()):
            snapshot = None if partly is None else partly.snapshot(written)
            report(Progress(written, 0, 0, snapshot))
    return source.read(_BLOCK)


def _has_input(descriptor: int) -> bool:
    """Whether reading would not have to wait, after a while in which it would."""
    try:
        return bool(select.select([descriptor], [], [], _TOLD_S)[0])
    except (OSError, ValueError):  # nothing that can be waited for: reading it has to do
        return True


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        Path(path).unlink()
