"""Runs the live screen on a feed: a program, several of them, or a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whichlayer.analysis.options import Options
from whichlayer.tui.defect import tell_defect
from whichlayer.tui.live.app import LiveApp
from whichlayer.tui.live.feed import Feed
from whichlayer.tui.live.quit_screen import Choice

if TYPE_CHECKING:
    from whichlayer.analysis.live.child import Child
    from whichlayer.analysis.live.recorder_options import RecorderOptions
    from whichlayer.analysis.live.server import LiveServer
    from whichlayer.tui.wanted import Wanted


def run_feed(
    feed: Feed,
    options: Options,
    child: Child | None = None,
    *,
    watches_gpus: bool = True,
    wanted: Wanted | None = None,
) -> tuple[int, LiveApp]:
    """Show the windows of a feed until the user leaves.

    Returns:
        0, or 130 after Ctrl-C, or 128+N after signal N; and the application, for what was chosen.

    Raises:
        OSError: the program cannot be started.
        Exception: what went wrong in the screen.
    """
    app = LiveApp(feed, options, child, watches_gpus=watches_gpus, wanted=wanted)
    app.run()
    if app.error is not None:
        raise app.error
    return app.return_code or 0, app


def run_live(
    server: LiveServer,
    child: Child | None,
    recording: RecorderOptions,
    options: Options | None = None,
    *,
    name: str = "",
    waits_for: str = "",
    local: bool = True,
) -> int:
    """The screen of ``whichlayer run`` and ``attach``; closes the server.

    Args:
        server: listening, or joined to a program.
        child: the program, not started yet: the screen starts it. None for ``attach``.
        recording: how windows are taken.
        options: of the analyses.
        name: what is watched, for the header; told by the program itself where empty.
        waits_for: what is said before the program's first step.
        local: the program runs on this machine.

    Returns:
        The program's exit status, also where the screen fails: the program then goes on in our
        terminal. Without a child 0, or 130 after Ctrl-C.

    Raises:
        OSError: the program cannot be started.
        Exception: what went wrong in the screen while no program runs.
    """
    from whichlayer.tui.live.after import afterwards, name_of, print_last
    from whichlayer.tui.live.server_feed import ServerFeed

    title = name or (name_of(child.command) if child is not None else "")
    feed = ServerFeed(server, title, on_demand=not recording.every, waits_for=waits_for)
    try:
        status, app = run_feed(feed, options or Options(), child, watches_gpus=local)
    except Exception as error:
        if child is None or not child.runs:
            raise
        server.close()
        tell_defect(error)
        return afterwards(child, Choice.LEAVE)
    finally:
        server.close()
    if child is None:
        return status
    print_last(app.output)
    return afterwards(child, app.choice, status)
