"""A trace that is still being written, on the screen: it grows, and the view stays where it is."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.text import clean
from whichlayer.tui.app import WRONG_INPUT, WhichlayerApp
from whichlayer.tui.follow_loader import Followed, FollowLoader
from whichlayer.tui.widgets.header import Header

if TYPE_CHECKING:
    from whichlayer.analysis.options import Options
    from whichlayer.tui.document import Document
    from whichlayer.tui.view import View
    from whichlayer.tui.wanted import Wanted


class FollowingApp(WhichlayerApp):
    """One trace that grows; who looks at its end is taken along."""

    def carried(self, view: View, old: Document, document: Document) -> View:
        """The same instants; the end, where that was in sight."""
        moved = super().carried(view, old, document)
        cell = view.port.span_ns // view.port.cells + 1
        at_end = view.port.end_ns >= old.high_ns - cell
        if old.trace is document.trace or not self._touched or view.port.is_whole or not at_end:
            return moved
        return replace(moved, port=moved.port.to(
            document.high_ns - view.port.span_ns, document.high_ns
        ))  # fmt: skip

    @on(Followed)
    def _followed(self, message: Followed) -> None:
        name = clean(os.path.basename(self._loader.path))
        self.screen_stack[0].query_one(Header).rename(name, f"● {message.state} ")


def run_following(path: str, options: Options, wanted: Wanted | None = None) -> int:
    """Show a file that grows until the user leaves.

    Args:
        path: the file.
        options: what was asked for on the command line.
        wanted: the view that is asked for.

    Returns:
        As :func:`whichlayer.tui.app.run`.

    Raises:
        Exception: whatever else went wrong while loading, once the screen is put away.
    """
    app = FollowingApp(FollowLoader(path, options), wanted)
    app.run()
    if app.error is None:
        return app.return_code or 0
    if isinstance(app.error, TraceError):
        print(f"whichlayer: {clean(str(app.error))}", file=sys.stderr)
        return WRONG_INPUT
    raise app.error
