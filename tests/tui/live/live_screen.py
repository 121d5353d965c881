"""The live screen under test: windows come when the test says so, and are analysed at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.tui.recording import build_analysis, build_trace
from tests.tui.screen import MEDIUM
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Analysis, Verdict
from whichlayer.tui.document import Document, open_document, with_analysis
from whichlayer.tui.live.analyst import Analyst, ShotAnalysed
from whichlayer.tui.live.app import Happened, LiveApp
from whichlayer.tui.live.feed import Feed
from whichlayer.tui.live.model import LiveModel, Told
from whichlayer.tui.live.shots import Shot, judged_of
from whichlayer.tui.live.telemetry import Telemetry

Change = Callable[[LiveModel], None]


class FakeFeed(Feed):
    """Applies what it is told; notes what it is asked."""

    name = "train.py"
    records = True

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def apply(self, model: LiveModel, event: Any) -> None:
        event(model)

    def record(self, steps: int, source: str) -> str:
        self.asked.append(f"record {steps} of {source}")
        return "asked"

    def pause(self, source: str) -> str:
        self.asked.append(f"pause {source}")
        return "paused"


class AtOnce(Analyst):
    """Analyses a window within the call that asks for it, once; files named bad are refused."""

    def __init__(self) -> None:
        super().__init__(Options(), lambda message: None)
        self.app: LiveApp | None = None
        self.done: list[int] = []
        self.holds_back = False

    def start(self) -> None:
        """No thread is needed."""

    def want(self, shots: Sequence[Shot]) -> None:
        assert self.app is not None
        for shot in [] if self.holds_back else shots:
            self.done.append(shot.id)
            if "bad" in shot.path.name:
                self.app.post_message(ShotAnalysed(shot, None, None, "it is not JSON"))
                continue
            document, analysis = opened(shot)
            self.app.post_message(ShotAnalysed(shot, document, judged_of(analysis)))


def opened(shot: Shot) -> tuple[Document, Analysis]:
    """A window's document; those with ``fixed`` in the name are healthy."""
    trace = build_trace()
    analysis = build_analysis(trace)
    if "fixed" in shot.path.name:
        budget = replace(
            analysis.budget, gap_ns={}, loss_ns={},
            at_roof_ns=analysis.budget.total_ns - analysis.budget.spacing_ns,
        )  # fmt: skip
        verdict = Verdict("healthy", 0.0, 0.0, "Healthy: nothing is lost.")
        analysis = replace(analysis, budget=budget, verdict=verdict)
    return with_analysis(open_document(trace), analysis), analysis


def shot(number: int, name: str = "slow", source: str = "rank 0") -> Shot:
    """A window of some steps."""
    label = f"steps {10 * number}–{10 * number + 2}"
    return Shot(number, Path(f"/nowhere/{name}{number}.json.gz"), source, label, 1000)


def arrives(number: int, name: str = "slow", source: str = "rank 0") -> Change:
    """A window that comes."""
    return lambda model: model.add(shot(number, name, source))


def tells(source: str = "rank 0", **changes: Any) -> Change:
    """What a recorder is doing."""
    return lambda model: model.tell(source, replace(Told("between windows", step=1), **changes))


def live_app(feed: Feed | None = None) -> LiveApp:
    """The application, without a program."""
    analyst = AtOnce()
    app = LiveApp(feed or FakeFeed(), Options(), analyst=analyst, telemetry=Telemetry(lambda: None))
    analyst.app = app
    return app


@asynccontextmanager
async def live_screen(
    *changes: Change, size: tuple[int, int] = MEDIUM, app: LiveApp | None = None
) -> AsyncIterator[tuple[LiveApp, Pilot[int]]]:
    """The live screen, after these have happened."""
    app = app or live_app()
    async with app.run_test(size=size) as pilot:
        await happen(app, pilot, *changes)
        yield app, pilot


async def happen(app: LiveApp, pilot: Pilot[int], *changes: Change) -> None:
    """Let something happen, and wait until the screen has taken it."""
    for change in changes:
        app.post_message(Happened(change))
        await pilot.pause()
    await pilot.pause()
    await pilot.pause()


NONE = Layer.NONE
