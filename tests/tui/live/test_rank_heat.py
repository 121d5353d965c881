"""Rows of ranks in the heatmap, and a folder of which everything was saved long since."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from textual.pilot import Pilot

from tests.tui.live.live_screen import arrives, happen, live_screen, opened, shot
from tests.tui.live.test_folder_feed import seen
from tests.tui.screen import text_of, view_of
from whichlayer.analysis.follow.folder import Changes
from whichlayer.tui.heat import HeatRow, heat_of
from whichlayer.tui.live.app import LiveApp
from whichlayer.tui.live.folder_feed import FolderFeed
from whichlayer.tui.live.live_line import LIVE, SAVED, standing
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.rank_heat import RankWindow, rank_heat
from whichlayer.tui.widgets.heatmap import Heatmap


def heatmap_of(app: LiveApp) -> Heatmap:
    return app.screen_stack[0].query_one(Heatmap)


async def press(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()
    await pilot.pause()


def test_each_rank_has_the_cells_of_its_own_window() -> None:
    document, analysis = opened(shot(1))
    windows = [
        RankWindow(1, "rank 0", document, True),
        RankWindow(2, "rank 1", None, False),
        RankWindow(3, "rank 2", document, False),
    ]
    found = rank_heat(windows, 30)
    assert found is not None
    assert [row.label for row in found.rows] == ["rank 0", "rank 2"]
    assert found.absent == ("rank 1: not analysed yet",)
    whole = HeatRow("all", analysis.window.start_ns, analysis.window.end_ns)
    alone = heat_of(analysis, [whole], 30, document.gaps)
    for row in range(2):
        assert np.array_equal(found.heat.idle[row], alone.idle[0])
        assert np.array_equal(found.heat.layer[row], alone.layer[0])
        assert np.array_equal(found.heat.largest[row], alone.largest[0])
    assert rank_heat(windows[1:2], 30) is None


async def test_rows_of_ranks_come_with_their_key_and_open_the_rank_at_that_time() -> None:
    changes = [arrives(number + 1, source=f"rank {number}") for number in range(3)]
    async with live_screen(*changes) as (app, pilot):
        app.query_one("#gaps").focus()
        await press(pilot, "R", "R", "R")
        heat = heatmap_of(app)
        assert heat.look.word == "ranks"
        lines = text_of(app, "gaps")[:3]
        assert [line.split("  ")[0][:6] for line in lines] == ["rank 0", "rank 1", "rank 2"]
        first = app.model.source
        before = view_of(app)
        await press(pilot, "j")
        assert app.model.source == first and view_of(app).port == before.port
        await press(pilot, "enter")
        assert app.model.source == "rank 1" and app.shown_id == 2
        row = app.document.analysis.window if app.document and app.document.analysis else None
        assert row is not None
        assert (view_of(app).port.start_ns, view_of(app).port.end_ns) == (row.start_ns, row.end_ns)
        assert heat.look.word == "ranks" and heat.chosen == 1
        await press(pilot, "R")
        assert heat.look.word == "steps"


async def test_rows_of_ranks_grow_with_what_is_known_and_are_not_offered_for_one() -> None:
    async with live_screen(arrives(1, source="rank 0")) as (app, pilot):
        app.query_one("#gaps").focus()
        await press(pilot, "R", "R", "R")
        assert heatmap_of(app).look.word == "steps"
        await happen(app, pilot, arrives(2, source="rank 1"))
        await press(pilot, "R", "R", "R")
        assert heatmap_of(app).look.word == "ranks" and heatmap_of(app).lines == 2
        await happen(app, pilot, arrives(3, "bad", source="rank 2"))
        assert heatmap_of(app).lines == 2
        assert "rank 2: it is not JSON" in "\n".join(text_of(app, "gaps"))
        await happen(app, pilot, arrives(4, source="rank 3"))
        assert heatmap_of(app).lines == 3


def test_a_folder_is_live_only_once_something_comes(tmp_path: Path) -> None:
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    half = seen(tmp_path, "half.json", 7)
    ranks = tuple(seen(tmp_path, f"rank{number}.json") for number in range(8))
    feed.apply(model, Changes(ready=ranks, writing=(half,)))
    assert feed.is_saved and feed.stands == "8 traces in the folder"
    assert standing(model, False, feed.is_saved) is SAVED
    model.choose(1)
    assert standing(model, False, feed.is_saved) is SAVED
    feed.apply(model, Changes(removed=(ranks[0].path,), writing=(half,)))
    assert feed.is_saved and feed.stands == "7 traces in the folder"
    model.follow()
    feed.apply(model, Changes(writing=(seen(tmp_path, "half.json", 8),)))
    assert not feed.is_saved and feed.stands == "following the folder"
    assert standing(model, False, feed.is_saved) is LIVE


def test_a_new_trace_or_an_empty_folder_is_live(tmp_path: Path) -> None:
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    feed.apply(model, Changes())
    assert not feed.is_saved
    feed.apply(model, Changes(ready=(seen(tmp_path, "rank0.json"),)))
    assert not feed.is_saved
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    feed.apply(model, Changes(ready=(seen(tmp_path, "rank0.json"),)))
    assert feed.is_saved
    feed.apply(model, Changes(ready=(seen(tmp_path, "rank1.json"),)))
    assert not feed.is_saved
