"""``whichlayer demo --live``: a simulated training on the live screen, with no GPU and no torch."""

from __future__ import annotations

import os
import sys

from whichlayer.analysis.live.child import Child
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.one_arena import use_one_arena
from whichlayer.analysis.live.recorder_options import RecorderOptions
from whichlayer.analysis.live.rendezvous import SOCKET_VARIABLE
from whichlayer.analysis.live.server import LiveServer
from whichlayer.analysis.options import Options
from whichlayer.tui.live.demo_program import SCREEN_VARIABLE
from whichlayer.tui.live.run import run_live

PROGRAM = "whichlayer.tui.live.demo_program"


def run_demo(options: Options) -> int:
    """Show it until the user leaves; its exit status."""
    use_one_arena()
    server = LiveServer(History())
    address = server.listen()
    environment = {
        **os.environ, SOCKET_VARIABLE: str(address), SCREEN_VARIABLE: str(os.getpid())
    }  # fmt: skip
    child = Child([sys.executable, "-m", PROGRAM], environment)
    return run_live(
        server,
        child,
        RecorderOptions(),
        options,
        name="train.py (simulated)",
        waits_for="a simulated training begins; its first window is here in a second or two …",
        local=False,
    )
