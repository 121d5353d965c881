"""``whichlayer FOLDER`` on the screen: its traces as they come."""

from __future__ import annotations

from whichlayer.analysis.live.one_arena import use_one_arena
from whichlayer.analysis.options import Options
from whichlayer.tui.live.folder_feed import FolderFeed
from whichlayer.tui.live.run import run_feed
from whichlayer.tui.wanted import Wanted


def follow_folder(
    folder: str, rank: int | None, options: Options, wanted: Wanted | None = None
) -> int:
    """Show a folder until the user leaves; its exit status.

    Args:
        folder: that traces are in, or will be.
        rank: the one that is wanted, or None for all.
        options: of the analyses.
        wanted: the view that is asked for of the first trace.
    """
    use_one_arena()
    status, _ = run_feed(FolderFeed(folder, rank), options, watches_gpus=False, wanted=wanted)
    return status
