"""Reports on their way out: to a file, or to whoever reads standard output."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from whichlayer.tui.arguments import UsageError


def refuse_overwriting(path: str, output: str | None) -> None:
    """Keep a report from taking the place of the trace that it is of."""
    if output is None or not (os.path.exists(output) and os.path.exists(path)):
        return
    if os.path.samefile(output, path):
        raise UsageError(f"{output}: that is the trace itself; write the report elsewhere")


def write_report(report: bytes, output: str | None) -> None:
    """Write a report to a file, or to standard output."""
    if output is not None and output != "-":
        Path(output).write_bytes(report)
        return
    if sys.stdout is None:
        raise UsageError("standard output is closed; name a file with -o")
    sys.stdout.flush()
    left = memoryview(report)
    # Without a buffer (PYTHONUNBUFFERED) a full disk takes a part, and only then refuses the rest.
    while left:
        taken = sys.stdout.buffer.write(left)
        if taken is None:
            raise BlockingIOError(errno.EAGAIN, "standard output takes nothing more now")
        left = left[taken:]
    sys.stdout.buffer.flush()


def silence_output() -> None:
    """Whoever read our output is gone: nothing more may fail by being written at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
