"""Time frames of the timeline: ``python -m benchmarks.frames --events 0.1 1 10``.

Recordings of so many million slices, made in memory, are panned and zoomed on a timeline of 200x50
cells. Beside it stand two widgets that hold the same picture and are repainted in turn with it: one
that draws runs of text it was given, by the line, which is the least that a widget of Textual can
take, and a ``Static``, which is how Textual itself shows a picture. All three go one way: the act, the
refresh, the compositor's update of the same lines, and the terminal codes of it that a driver would
be given. CPU time of the one thread counts, the least of ``--rounds`` for pans and for zooms; the
ratio is of the dearer of the two. ``--rows`` says how many of the 50 lines have a lane.
``--whole`` times keys on the whole application, analysis included, on the recordings that are named:
from a key to the end of its frame, codes included.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from benchmarks.measure import machine
from whichlayer.analysis.options import Options
from whichlayer.analysis.trace.columns import Counters, Flows, Instants, Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.load import Loader
from whichlayer.tui.repaint import Shown, difference
from whichlayer.tui.view import View
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.timeline import Timeline

LENGTH_NS: Final = 10**10
LABEL_CELLS = 20
_NAMES = [
    "ampere_sgemm_128x64_tn", "void at::native::vectorized_elementwise_kernel<4, add>",
    "reduce_kernel", "softmax_warp_forward", "nchwToNhwcKernel", "flash_fwd_kernel",
    "triton_poi_fused_add_0", "cudaLaunchKernel", "aten::mm", "aten::add", "aten::linear",
]  # fmt: skip
_CONSOLE = Console(color_system="256", force_terminal=True, legacy_windows=False)


def made_trace(events: int, rows: int = 28, seed: int = 3) -> Trace:
    """A recording of so many slices on so many lanes, a fifth of the time idle."""
    rng = np.random.default_rng(seed)
    streams = rows * 5 // 14
    lanes = [Lane(0, i, LaneKind.GPU_STREAM, 0, i) for i in range(streams)]
    lanes += [Lane(9, i, LaneKind.CPU_THREAD, name=f"t{i}") for i in range(rows - streams)]
    each = events // len(lanes)
    count = each * len(lanes)
    starts, ends = [], []
    for _ in lanes:
        edges = np.cumsum(rng.exponential(1.0, 2 * each) * np.tile([0.2, 0.8], each))
        edges = (edges / edges[-1] * LENGTH_NS).astype(np.int64)
        starts.append(edges[::2])
        ends.append(edges[1::2])
    kind = np.repeat([SliceKind.KERNEL] * streams + [SliceKind.CPU_OP] * (rows - streams), each)
    none = np.full(count, -1, np.int32)
    empty64, empty32 = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return Trace(
        path="made.json", producer="pytorch", header={}, origin_ns=0, base_ns=None,
        strings=_NAMES, start_ns=np.concatenate(starts), end_ns=np.concatenate(ends),
        name_id=rng.integers(0, len(_NAMES), count, dtype=np.int32),
        category_id=np.zeros(count, np.int32), kind=kind.astype(np.uint8),
        lane_id=np.repeat(np.arange(len(lanes), dtype=np.int32), each),
        correlation=none.astype(np.int64), external_id=none.astype(np.int64), detail_id=none,
        parent=none, depth=np.zeros(count, np.int32), launch=none,
        stray=np.zeros(count, np.bool_), lanes=tuple(lanes),
        lane_rows=np.arange(len(lanes) + 1, dtype=np.int64) * each, steps=(),
        instants=Instants(empty64, empty32, empty32, np.zeros(0)),
        counters=Counters((), empty32, empty64, np.zeros(0)),
        flows=Flows(empty64, np.zeros(0, np.uint8), empty64, empty32, empty32),
        events=count, warnings=(), _details=(), _full_args=lambda row: {},
    )  # fmt: skip


class Picture(Widget):
    """Draws runs of text that it was given, as lean as a widget of Textual can be."""

    def __init__(self) -> None:
        """Nothing to draw yet."""
        super().__init__()
        self.runs: list[list[Segment]] = []

    def render_line(self, y: int) -> Strip:
        """One line, made anew of its runs."""
        line = self.runs[y] if y < len(self.runs) else []
        return Strip([Segment(text, style) for text, style, _ in line], self.size.width)


class Bench(App[None]):
    """The timeline and the two pictures, one below the other, of one size."""

    CSS = "Timeline, Picture, Static { width: 200; height: 50; }"

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Timeline()
        yield Picture()
        yield Static()


def drawn_in(widget: Widget, act: Callable[[], object]) -> tuple[float, str]:
    """CPU seconds of this thread until an act is drawn, and the terminal codes of what changed."""
    compositor, stack = widget.screen._compositor, widget.app._background_screens
    begun = time.thread_time()
    act()
    compositor.update_widgets({widget})
    update = compositor.render_update(screen_stack=stack)
    assert isinstance(update, ChopsUpdate)
    codes = update.render_segments(_CONSOLE)
    return time.thread_time() - begun, codes


def as_content(runs: list[list[Segment]]) -> Content:
    """The picture as Textual's own kind of text."""
    pieces: list[tuple[str, Style]] = []
    for line in runs:
        pieces += [(text, Style.from_rich_style(style or RichStyle())) for text, style, _ in line]
        pieces.append(("\n", Style()))
    return Content.assemble(*pieces[:-1], end="")


def views(document: Document, rounds: int) -> list[View]:
    """Pans and zooms over a recording, no two alike."""
    port = Viewport.over(document.low_ns, document.high_ns, 200 - LABEL_CELLS)
    view = View(port, cursor_ns=LENGTH_NS // 2).zoomed(4)
    acts: tuple[Callable[[View], View], ...] = (
        lambda v: v.panned(7),
        lambda v: v.zoomed(1),
        lambda v: v.panned(-5),
        lambda v: v.zoomed(-1),
    )
    found = [view]
    while len(found) <= rounds:
        found.append(acts[len(found) % 4](found[-1]))
        assert found[-1].port != found[-2].port, "nothing moved"
    return found[1:]


@dataclass(slots=True)
class Costs:
    """Milliseconds of every frame, and what the last one was.

    Attributes:
        pans, zooms: of the timeline.
        picture, static: of the widgets beside it.
        runs, size: runs of one style in the last frame, and bytes of its terminal codes.
    """

    pans: list[float] = field(default_factory=list)
    zooms: list[float] = field(default_factory=list)
    picture: list[float] = field(default_factory=list)
    static: list[float] = field(default_factory=list)
    runs: int = 0
    size: int = 0

    @property
    def frame(self) -> float:
        """The least of pans or of zooms, whichever is more."""
        return max(min(self.pans), min(self.zooms))


async def timeline_costs(events: int, rows: int, rounds: int) -> Costs:
    """What frames of the timeline cost, and the same pictures in the widgets beside it."""
    document = open_document(made_trace(events, rows))
    costs = Costs()
    app = Bench()
    async with app.run_test(size=(200, 160)) as pilot:
        timeline, picture = app.query_one(Timeline), app.query_one(Picture)
        static = app.query_one(Static)
        timeline.label_cells = LABEL_CELLS
        await pilot.pause()
        lines = Region(0, 0, 200, rows)
        for turn, view in enumerate([*views(document, 4), *views(document, 2 * rounds)]):
            moved, codes = drawn_in(timeline, partial(timeline.show, document, view))
            runs = [list(strip) for strip in timeline.render_lines(lines)]
            picture.runs = runs
            static.update(as_content(runs))
            await pilot.pause()
            alone = drawn_in(picture, partial(picture.refresh, lines))[0]
            usual = drawn_in(static, static.refresh)[0]
            if turn >= 4:
                (costs.pans if turn % 2 else costs.zooms).append(1e3 * moved)
                costs.picture.append(1e3 * alone)
                costs.static.append(1e3 * usual)
            costs.runs, costs.size = sum(map(len, runs)), len(codes.encode())
    return costs


class Written(WhichlayerApp):
    """The application; its frames are turned into terminal codes as for a driver."""

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        if isinstance(renderable, CompositorUpdate):
            difference(renderable, self.written).render_segments(_CONSOLE)
        super()._display(screen, renderable)

    @cached_property
    def written(self) -> Shown:
        """What the terminal would show."""
        return Shown()


async def key_costs(path: Path, rounds: int) -> list[float]:
    """CPU seconds of the screen's thread from a key to the end of its frame, all panels drawn."""
    app = Written(Loader(str(path), Options()))
    found: list[float] = []
    async with app.run_test(size=(200, 50)) as pilot:
        async with asyncio.timeout(300):
            while app.error is None and (app.document is None or app.document.analysis is None):
                await pilot.pause(0.1)
        for turn in range(rounds):
            begun = time.thread_time()
            await pilot.press("wdsa"[turn % 4])
            await pilot.pause()
            found.append(time.thread_time() - begun)
    return found


def spread(milliseconds: list[float]) -> str:
    """The least, and the median."""
    return f"{min(milliseconds):.1f}, {median(milliseconds):.1f}"


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=float, nargs="*", default=[0.1, 1, 10], help="millions")
    parser.add_argument("--rows", type=int, nargs="*", default=[28, 50], help="lanes")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--whole", type=Path, nargs="*", default=[], help="recordings")
    options = parser.parse_args(arguments)
    print(f"Machine before: {machine()}", flush=True)
    print(
        "| rows | slices | pan | zoom | picture by the line | ratio | Static | ratio | runs | bytes |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for rows in options.rows:
        for millions in options.events:
            costs = asyncio.run(timeline_costs(int(millions * 1e6), rows, options.rounds))
            picture, static = min(costs.picture), min(costs.static)
            print(
                f"| {rows} | {int(millions * 1e6):,} | {spread(costs.pans)} | {spread(costs.zooms)} "
                f"| {spread(costs.picture)} | {costs.frame / picture:.2f} "
                f"| {spread(costs.static)} | {costs.frame / static:.2f} "
                f"| {costs.runs:,} | {costs.size:,} |",
                flush=True,
            )
    for path in options.whole:
        found = asyncio.run(key_costs(path, options.rounds))
        print(f"{path.name}: least {1e3 * min(found):.1f}, median {1e3 * median(found):.1f} ms")
    print(f"Machine after:  {machine()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
