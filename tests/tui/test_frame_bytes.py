"""What frames cost a slow link: bytes for a terminal with 256 colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.strip import Strip

from tests.tui.recording import build_trace
from tests.tui.screen import LARGE, MEDIUM, ReadyLoader, text_of, view_of
from tests.tui.test_loading import Time, no_reader
from whichlayer.analysis import analyse
from whichlayer.analysis.results import Analysis, Options
from whichlayer.analysis.trace.columns import Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.document import open_document, with_analysis
from whichlayer.tui.loading import Loading, Stage
from whichlayer.tui.messages import DocumentOpened, LoadProgressed
from whichlayer.tui.repaint import difference
from whichlayer.tui.widgets.timeline import Timeline
from whichlayer.tui.widgets.verdict_line import VerdictLine

CONSOLE = Console(color_system="256", force_terminal=True, legacy_windows=False)
NAMES = {"?": "question_mark", "@": "at", "!": "exclamation_mark", ":": "colon"}
STREAMS, THREADS, SLICES = 10, 18, 3000
LENGTH = 10**9


pytestmark = pytest.mark.usefixtures("shown_in_time")


def bytes_of(update: CompositorUpdate) -> int:
    """What a terminal with 256 colours is sent.

    Rich keeps the codes of a style from the first console that wrote it; that of a picture, in
    a test before, had more colours and longer codes.
    """
    write = Strip.render_style

    def anew(style: Style, text: str, color_system: ColorSystem) -> str:
        kept, style._ansi = style._ansi, None
        written = write(style, text, color_system)
        style._ansi = kept
        return written

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Strip, "render_style", staticmethod(anew))
        return len(update.render_segments(CONSOLE).encode())


class CountedApp(WhichlayerApp):
    """Counts the bytes of every frame."""

    sent = 0

    def _display(self, screen: Any, renderable: Any) -> None:
        if isinstance(renderable, CompositorUpdate) and not self._batch_count:
            self.sent += bytes_of(renderable)
        super()._display(screen, renderable)


class WrittenApp(WhichlayerApp):
    """Counts the bytes that a terminal is sent: what differs from what it shows."""

    sent = 0

    def _display(self, screen: Any, renderable: Any) -> None:
        update = difference(renderable, self.shown)
        if isinstance(update, CompositorUpdate) and not self._batch_count:
            self.sent += bytes_of(update)
        App._display(self, screen, renderable)


def crowded_trace() -> Trace:
    """Streams and threads full of short slices of many families."""
    rng = np.random.default_rng(3)
    lanes = [Lane(0, i, LaneKind.GPU_STREAM, 0, i) for i in range(STREAMS)]
    lanes += [Lane(9, i, LaneKind.CPU_THREAD, name=f"t{i}") for i in range(THREADS)]
    names = ["sgemm", "vectorized_elementwise_kernel", "reduce_kernel", "softmax", "nchwToNhwc",
             "flash_fwd", "triton_poi_fused", "void cutlass::Kernel"]  # fmt: skip
    starts, ends, kinds = [], [], []
    for lane in lanes:
        edges = np.sort(rng.choice(LENGTH, 2 * SLICES, replace=False))
        starts.append(edges[::2])
        ends.append(edges[1::2])
        kind = SliceKind.KERNEL if lane.kind == LaneKind.GPU_STREAM else SliceKind.CPU_OP
        kinds.append(np.full(SLICES, kind, np.uint8))
    count = SLICES * len(lanes)
    none = np.full(count, -1, np.int32)
    return build_trace(
        [], tuple(lanes), strings=names, start_ns=np.concatenate(starts),
        end_ns=np.concatenate(ends), kind=np.concatenate(kinds),
        name_id=rng.integers(0, len(names), count).astype(np.int32),
        category_id=np.zeros(count, np.int32),
        lane_id=np.repeat(np.arange(len(lanes), dtype=np.int32), SLICES),
        correlation=none.astype(np.int64), external_id=none.astype(np.int64), detail_id=none,
        parent=none, depth=np.zeros(count, np.int32), launch=none,
        stray=np.zeros(count, np.bool_), events=count,
        lane_rows=np.arange(len(lanes) + 1, dtype=np.int64) * SLICES,
    )  # fmt: skip


@pytest.fixture(scope="module")
def crowded() -> tuple[Trace, Analysis]:
    trace = crowded_trace()
    return trace, analyse(trace)


def loader_of(trace: Trace, analysis: Analysis) -> ReadyLoader:
    return ReadyLoader("a.json", Options(), lambda p, progress: trace, lambda t, o: analysis)


def counted(trace: Trace, analysis: Analysis) -> CountedApp:
    return CountedApp(loader_of(trace, analysis))


def written(trace: Trace, analysis: Analysis) -> WrittenApp:
    return WrittenApp(loader_of(trace, analysis))


@pytest.mark.parametrize(("size", "most"), [(MEDIUM, 24_000), (LARGE, 45_000)])
async def test_a_full_repaint_keeps_its_budget(
    size: tuple[int, int], most: int, crowded: tuple[Trace, Analysis]
) -> None:
    app = counted(*crowded)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        costs = []
        for key in ("w", "w", "d", "w", "w", "a", "w", "f", "f", "w"):
            app.sent = 0
            await pilot.press(key)
            await pilot.pause()
            costs.append(app.sent)
        app.sent = 0
        for pane in app.panes:
            pane.refresh()
        await pilot.pause()
        assert app.sent > 5_000, "nothing was counted"
        assert app.sent <= most
        assert sorted(costs)[len(costs) // 2] <= most


async def test_a_cursor_move_costs_little_and_rest_costs_nothing(
    trace: Trace, analysis: Analysis
) -> None:
    app = counted(trace, analysis)
    async with app.run_test(size=MEDIUM) as pilot:
        await pilot.pause()
        await pilot.press("home", "w", "w")
        await pilot.pause()
        costs = []
        for _ in range(8):
            app.sent = 0
            await pilot.press("l")
            await pilot.pause()
            costs.append(app.sent)
        assert 0 < sorted(costs)[len(costs) // 2] <= 1_000, costs
        assert max(costs) <= 4_000
        app.sent = 0
        await pilot.pause()
        app.look_at(app.look) if app.look else None
        await pilot.pause()
        assert app.sent == 0


@pytest.mark.parametrize("size", [MEDIUM, LARGE])
@pytest.mark.parametrize("stage", [(), ("right_square_bracket", "F"), ("w", "w", "w")])
async def test_each_move_of_the_cursor_keeps_its_bound_on_a_crowded_screen_too(
    crowded: tuple[Trace, Analysis], size: tuple[int, int], stage: tuple[str, ...]
) -> None:
    app = written(*crowded)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("f", *stage)
        await pilot.pause()
        await pilot.pause()
        same = other = 0
        for key in ("l", "l", "L", "h", "H", *"jjjjjjjj", *"kkkk"):
            port, top = view_of(app).port, app.query_one(Timeline).top
            said, app.sent = text_of(app, "region"), 0
            await pilot.press(key)
            await pilot.pause()
            await pilot.pause()
            assert (view_of(app).port, app.query_one(Timeline).top) == (port, top), "no scrolling"
            is_same = said == text_of(app, "region")
            assert app.sent <= (1_000 if is_same else 4_000), (key, app.sent)
            same, other = same + is_same, other + (not is_same)
        assert same or other


@pytest.mark.parametrize("size", [MEDIUM, LARGE])
async def test_a_cursor_move_that_changes_the_chain_draws_it_anew_in_few_bytes(
    trace: Trace, analysis: Analysis, size: tuple[int, int]
) -> None:
    app = WrittenApp(
        ReadyLoader("a.json", Options(), lambda p, progress: trace, lambda t, o: analysis)
    )
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("home", "full_stop")
        await pilot.pause()
        costs = []
        for key in ("full_stop", "comma", "full_stop", "backspace", "backspace", "backslash"):
            app.sent, port = 0, view_of(app).port
            await pilot.press(key)
            await pilot.pause()
            assert any("▲" in line for line in text_of(app, "timeline")), "a chain is drawn"
            if view_of(app).port == port:  # else all of it is another picture
                costs.append(app.sent)
        assert len(costs) >= 4 and 0 < min(costs) and max(costs) <= 4_000, costs


@pytest.mark.parametrize(("size", "most"), [(MEDIUM, 24_000), (LARGE, 45_000)])
async def test_sheets_come_and_go_within_the_budget_of_a_frame(
    crowded: tuple[Trace, Analysis], size: tuple[int, int], most: int
) -> None:
    app = written(*crowded)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.pause()
        total = 0
        for key in ("?", "A", "I", "K", "@", "o", "!", ":"):
            for name in (NAMES.get(key, key), "escape"):
                app.sent = 0
                await pilot.press(name)
                await app.workers.wait_for_complete()
                await pilot.pause()
                await pilot.pause()
                assert app.sent <= most, (key, name)
                total += app.sent
            assert len(app.screen_stack) == 1, key
        assert total > most, "sheets were opened"


async def test_a_second_of_analysing_costs_a_few_bytes_and_none_when_it_is_over(
    trace: Trace, analysis: Analysis
) -> None:
    app = CountedApp(ReadyLoader("a.json", Options(), no_reader))
    clock = Time()
    async with app.run_test(size=LARGE) as pilot:
        line = app.query_one(VerdictLine)
        line.clock = clock
        whole = open_document(trace)
        app.post_message(DocumentOpened(whole))
        app.post_message(LoadProgressed(Loading(Stage.ANALYSING, events=123_456_789)))
        app.sent = 1
        while app.sent:  # what the document and the stage change is drawn before it is counted
            app.sent = 0
            await pilot.pause()
        for second in (1, 9, 10, 59, 60, 754):
            clock.now = 100.0 + second
            app.sent = 0
            line.tell_time()
            await pilot.pause()
            assert 0 < app.sent <= 100, f"after {second} s"
            minutes, seconds = divmod(second, 60)
            told = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
            assert text_of(app, "verdict")[0].rstrip() == (
                f" analysing … {told}  123 456 789 events"
            )
            app.sent = 0
            line.tell_time()
            await pilot.pause()
            assert app.sent == 0, "nothing new to tell"
        app.post_message(DocumentOpened(with_analysis(whole, analysis)))
        await pilot.pause()
        assert "analysing" not in text_of(app, "verdict")[0]
        app.sent = 0
        clock.now += 1
        line.tell_time()
        await pilot.pause()
        assert app.sent == 0


async def test_seconds_are_counted_only_while_something_stands_still() -> None:
    app = CountedApp(ReadyLoader("a.json", Options(), no_reader))
    async with app.run_test(size=MEDIUM) as pilot:
        line = app.query_one(VerdictLine)
        line.clock = clock = Time()
        counts = {}
        for stage in Stage:
            app.post_message(LoadProgressed(Loading(stage)))
            await pilot.pause()
            counts[stage] = any(timer._callback == line.tell_time for timer in line._timers)
            clock.now += 5
        assert {stage for stage, counted in counts.items() if counted} == {
            Stage.SORTING, Stage.ANALYSING,
        }  # fmt: skip
