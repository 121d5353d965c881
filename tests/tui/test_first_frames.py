"""What is laid out and drawn while an application starts: as seldom as it can be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.console import RenderableType
from textual._compositor import LayoutUpdate
from textual.geometry import Size
from textual.screen import Screen

from tests.tui.screen import MEDIUM, screen_of, text_of
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.widgets.trace_screen import TraceScreen


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[type]]:
    """The kind of every update that an application writes."""
    kinds: list[type] = []
    display = WhichlayerApp._display

    def noted(
        app: WhichlayerApp, screen: Screen[object], renderable: RenderableType | None
    ) -> None:
        if renderable is not None:
            kinds.append(type(renderable))
        display(app, screen, renderable)

    monkeypatch.setattr(WhichlayerApp, "_display", noted)
    yield kinds


async def test_all_of_the_screen_is_drawn_once_before_there_is_a_trace(
    trace: Trace, analysis: Analysis, drawn: list[type]
) -> None:
    async with screen_of(trace, analysis):
        assert drawn.count(LayoutUpdate) == 1
        assert len(drawn) <= 4  # Textual alone: 7


async def test_the_screen_is_laid_out_for_a_size_once_and_for_every_other(
    trace: Trace, analysis: Analysis, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[Size] = []
    refresh = Screen._refresh_layout

    def noted(screen: TraceScreen, size: Size | None = None, scroll: bool = False) -> None:
        if size is not None:
            sizes.append(size)
        refresh(screen, size, scroll)

    monkeypatch.setattr(Screen, "_refresh_layout", noted)
    async with screen_of(trace, analysis) as (app, pilot):
        assert sizes == [MEDIUM]
        for width, height in ((80, 24), MEDIUM, (80, 24)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert len(text_of(app, "header")[0]) == width
            assert app.screen.size == (width, height)
        assert sizes == [MEDIUM, (80, 24), MEDIUM, (80, 24)]
