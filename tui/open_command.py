"""Opens the screen on what was typed: a file, a folder, a growing file or standard input.

Whatever can be told to be wrong is told before the terminal is taken.
"""

from __future__ import annotations

import gc
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from whichlayer.tui.arguments import UsageError
from whichlayer.tui.typed_trace import (
    keep_typed,
    load_typed,
    options_of,
    refusals,
    set_limit,
    uses_cache,
)

if TYPE_CHECKING:
    from argparse import Namespace

    from whichlayer.tui.ahead import Ahead

_FRESH_S = 10.0
"""A file that was written to so shortly ago (seconds) may still be growing."""


def show(path: str, typed: Namespace) -> int:
    """Open the screen on a trace; what cannot be opened is told before the screen is taken."""
    if path == "-":
        _take_terminal()
    else:
        if os.path.isdir(path):
            return _show_folder(path, typed)
        _check_readable(path)
    set_limit(typed)
    from whichlayer.tui.configured import check_screen, set_up_screen

    if typed.rank is not None:
        check_screen(typed)
        keep_typed(load_typed(path, typed), typed)
    need_terminal(f"try 'whichlayer report {path}'")
    set_up_screen(typed)
    if path != "-" and (getattr(typed, "follow", False) or _may_grow(path)):
        return _show_growing(path, typed)
    with imports_alone():
        from whichlayer.tui.app import run
        from whichlayer.tui.wanted import wanted_of
    # Not before: of two threads that import at once each waits for the other.
    ahead = _opened_ahead(path, typed)

    with refusals(path, typed):
        return run(
            path,
            options_of(typed),
            cache=uses_cache(typed),
            ahead=ahead,
            wanted=wanted_of(typed),
        )


def need_terminal(otherwise: str) -> None:
    """Refuse to go on without one; ``otherwise`` is what to do instead."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(stream is not None and stream.isatty() for stream in streams):
        raise UsageError(f"the screen needs a terminal; {otherwise}")


def _show_folder(path: str, typed: Namespace) -> int:
    """Follow a folder on the screen: what is in it, and what comes."""
    os.scandir(path).close()
    set_limit(typed)
    need_terminal(f"try 'whichlayer report {path}'")
    from whichlayer.tui.configured import set_up_screen

    set_up_screen(typed)
    with imports_alone():
        from whichlayer.tui.live.folder_command import follow_folder
        from whichlayer.tui.wanted import wanted_of

    return follow_folder(path, typed.rank, options_of(typed), wanted_of(typed))


def _may_grow(path: str) -> bool:
    """Whether a file is text that was written to a moment ago and has no end yet."""
    age_s = time.time() - os.stat(path).st_mtime
    if not path.endswith(".json") or age_s >= _FRESH_S:
        return False
    from whichlayer.analysis.follow.completeness import Completeness, completeness

    return completeness(path) is Completeness.OPEN


def _show_growing(path: str, typed: Namespace) -> int:
    with imports_alone():
        from whichlayer.tui.follow_app import run_following
        from whichlayer.tui.wanted import wanted_of

    with refusals(path, typed):
        return run_following(path, options_of(typed), wanted_of(typed))


def _opened_ahead(path: str, typed: Namespace) -> Ahead | None:
    """Begin to open a trace that is in the cache while the terminal is set up."""
    if path == "-" or not uses_cache(typed) or typed.steps is not None or typed.span is not None:
        return None
    from whichlayer.tui.ahead import Ahead

    ahead = Ahead(path)
    ahead.start()
    return ahead


@contextmanager
def imports_alone() -> Iterator[None]:
    """Import without looking for garbage: modules are none, then or ever."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _take_terminal() -> None:
    """Keep the pipe for the trace and let the screen read its keys from the terminal."""
    from whichlayer.analysis.reader.standard_input import take_terminal

    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("nothing is piped to standard input")
    try:
        take_terminal()
    except OSError as error:
        raise UsageError("the screen needs a terminal; try 'whichlayer report -'") from error


def _check_readable(path: str) -> None:
    """Fail as reading would, where that is known without reading."""
    if stat.S_ISREG(os.stat(path).st_mode):
        with open(path, "rb"):
            pass
