"""What a program calls that wants to be watched: ``arm()``, and ``stream()`` for its own profiler.

Example:
    >>> from whichlayer.live import arm, stream
    >>> arm()  # doctest: +SKIP
    >>> with profile(on_trace_ready=stream()) as prof:  # doctest: +SKIP
    ...     train(prof)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from whichlayer.analysis.live.private_folder import PrivateFolder
from whichlayer.analysis.live.recorder_options import OPTIONS_VARIABLE, RecorderOptions, from_text
from whichlayer.analysis.live.rendezvous import SOCKET_VARIABLE
from whichlayer.analysis.live.session import Session, begin


def arm(
    *,
    window: int = 3,
    every: int = 0,
    shapes: bool = True,
    stacks: bool = True,
    memory: bool = False,
) -> None:
    """Let ``whichlayer attach`` join this program.

    Until somebody joins, a step costs a few microseconds and nothing is recorded. Under ``whichlayer
    run`` the options given there count.

    Args:
        window: steps in a window.
        every: steps from window to window while a screen is connected; 0: only when asked.
        shapes: record the shapes of operators' inputs.
        stacks: record Python stacks and modules.
        memory: record allocations.

    Raises:
        ValueError: the numbers make no windows.
    """
    import_module("torch")  # what is hooked has to be there

    begin(_asked() or RecorderOptions(window, every, shapes, stacks, memory), _screen())


def stream(handler: Callable[[Any], Any] | None = None) -> Callable[[Any], None]:
    """A handler for ``torch.profiler.profile(on_trace_ready=...)`` that sends windows to a screen.

    Args:
        handler: another one to call as well, such as ``tensorboard_trace_handler(...)``.
    """
    session = begin(_asked() or RecorderOptions(every=0), _screen())

    def ready(profiler: Any) -> None:
        _send(session, profiler)
        if handler is not None:
            handler(profiler)

    return ready


def _send(session: Session, profiler: Any) -> None:
    """Export a window; the program must not notice if that fails."""
    if not session.is_watched():
        return
    try:
        folder = PrivateFolder()
        try:
            # The session sees it, as it sees every export.
            profiler.export_chrome_trace(str(folder.path / "window.json"))
        finally:
            folder.remove()
    except Exception as error:  # noqa: BLE001  whatever torch raises
        session.tell(f"a window of the program's own is lost: {error}")


def _asked() -> RecorderOptions | None:
    text = os.environ.get(OPTIONS_VARIABLE, "")
    return from_text(text) if text else None


def _screen() -> str:
    return os.environ.get(SOCKET_VARIABLE, "")
