"""The application under test: loads what the test gives it, at once, without a file."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.pilot import Pilot

import whichlayer.tui.panes  # noqa: F401  so that screens begin with all panes
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.load import Loader, Post
from whichlayer.tui.view import View
from whichlayer.tui.widgets.pane import Pane

LARGE, MEDIUM, SMALL = (200, 50), (120, 40), (80, 24)


class ReadyLoader(Loader):
    """Loads within the call that starts it: a test never has to wait."""

    drawing_s = 0.0

    def start(self, post: Post) -> threading.Thread:
        """Load, then give the thread that was not needed."""
        self._run(post)
        return threading.Thread()


def app_of(trace: Trace, analysis: Analysis) -> WhichlayerApp:
    """The application on a trace and what is known of it."""
    loader = ReadyLoader(
        "runs/step.json", Options(), lambda path, progress: trace, lambda trace, options: analysis
    )
    return WhichlayerApp(loader)


@asynccontextmanager
async def screen_of(
    trace: Trace, analysis: Analysis, size: tuple[int, int] = MEDIUM
) -> AsyncIterator[tuple[WhichlayerApp, Pilot[int]]]:
    """The application on a screen of a size, loaded."""
    app = app_of(trace, analysis)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()  # the layout follows on what was loaded
        yield app, pilot


def view_of(app: WhichlayerApp) -> View:
    """What the application looks at."""
    assert app.look is not None
    return app.look


def text_of(app: WhichlayerApp, name: str) -> list[str]:
    """The lines of a part of the screen."""
    pane = app.query_one(f"#{name}", Pane)
    return [pane.render_line(y).text for y in range(pane.size.height)]
