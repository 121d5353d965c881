"""Time frames of the timeline: ``python -m benchmarks.frames --events 0.1 1 10``.

Recordings of so many million slices on ten streams and eighteen threads, made in memory, are
panned and zoomed on a timeline of 200x50 cells; beside it a widget draws the same runs of text
that it was given once, which is what Textual alone takes. Both are timed by the CPU seconds of the
one thread, terminal codes included, in turn; the least of ``--rounds`` counts. ``--whole`` times
keys on the whole application, analysis included, on the recordings that are named.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np
from rich.console import Console
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from benchmarks.measure import machine
from whichlayer.analysis.options import Options
from whichlayer.analysis.trace.columns import Counters, Flows, Instants, Lane, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind
from whichlayer.tui.app import WhichlayerApp
from whichlayer.tui.document import Document, open_document
from whichlayer.tui.load import Loader
from whichlayer.tui.view import View
from whichlayer.tui.viewport import Viewport
from whichlayer.tui.widgets.timeline import Timeline

STREAMS, THREADS = 10, 18
LENGTH_NS: Final = 10**10
LABEL_CELLS = 20
_NAMES = [
    "ampere_sgemm_128x64_tn", "void at::native::vectorized_elementwise_kernel<4, add>",
    "reduce_kernel", "softmax_warp_forward", "nchwToNhwcKernel", "flash_fwd_kernel",
    "triton_poi_fused_add_0", "cudaLaunchKernel", "aten::mm", "aten::add", "aten::linear",
]  # fmt: skip
_CONSOLE = Console(color_system="256", force_terminal=True, legacy_windows=False)


def made_trace(events: int, seed: int = 3) -> Trace:
    """A recording of so many slices, a fifth of the time idle."""
    rng = np.random.default_rng(seed)
    lanes = [Lane(0, i, LaneKind.GPU_STREAM, 0, i) for i in range(STREAMS)]
    lanes += [Lane(9, i, LaneKind.CPU_THREAD, name=f"t{i}") for i in range(THREADS)]
    each = events // len(lanes)
    count = each * len(lanes)
    starts, ends = [], []
    for _ in lanes:
        edges = np.cumsum(rng.exponential(1.0, 2 * each) * np.tile([0.2, 0.8], each))
        edges = (edges / edges[-1] * LENGTH_NS).astype(np.int64)
        starts.append(edges[::2])
        ends.append(edges[1::2])
    kind = np.repeat([SliceKind.KERNEL] * STREAMS + [SliceKind.CPU_OP] * THREADS, each)
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
    """Draws runs of text that it was given, as any widget of Textual would."""

    def __init__(self) -> None:
        """Nothing to draw yet."""
        super().__init__()
        self.runs: list[list[Segment]] = []

    def render_line(self, y: int) -> Strip:
        """One line, made anew of its runs."""
        line = self.runs[y] if y < len(self.runs) else []
        return Strip([Segment(text, style) for text, style, _ in line], self.size.width)


class Bench(App[None]):
    """The two, one over the other; each is as large as the screen."""

    CSS = "Timeline, Picture { width: 200; height: 50; } Screen { layers: a b; }"

    def compose(self) -> ComposeResult:
        """The timeline, then the picture."""
        yield Timeline()
        yield Picture()


def drawn_in(widget: Widget, act: Callable[[], object]) -> tuple[float, list[Strip]]:
    """CPU seconds of this thread until an act is drawn and turned into terminal codes."""
    region = Region(0, 0, widget.size.width, widget.size.height)
    begun = time.thread_time()
    act()
    widget.refresh()
    strips = widget.render_lines(region)
    for strip in strips:
        strip.render(_CONSOLE)
    return time.thread_time() - begun, strips


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


async def timeline_costs(events: int, rounds: int) -> tuple[list[float], list[float], int]:
    """Seconds of every frame of the timeline, of the picture beside it, and the frame's bytes."""
    document = open_document(made_trace(events))
    ours: list[float] = []
    bare: list[float] = []
    size = 0
    app = Bench()
    async with app.run_test(size=(200, 110)):
        timeline, picture = app.query_one(Timeline), app.query_one(Picture)
        timeline.label_cells = LABEL_CELLS
        for view in [*views(document, 3), *views(document, rounds)]:
            seconds, strips = drawn_in(timeline, partial(timeline.show, document, view))
            ours.append(seconds)
            picture.runs = [list(strip) for strip in strips]
            bare.append(drawn_in(picture, picture._styles_cache.clear)[0])
            size = sum(len(strip.render(_CONSOLE).encode()) for strip in strips)
    return ours[3:], bare[3:], size


async def key_costs(path: Path, rounds: int) -> list[float]:
    """CPU seconds of the screen's thread from a key to the end of its frame, all panels drawn."""
    app = WhichlayerApp(Loader(str(path), Options()))
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


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--events", type=float, nargs="*", default=[0.1, 1, 10], help="millions")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--whole", type=Path, nargs="*", default=[], help="recordings")
    options = parser.parse_args(arguments)
    print(f"Machine before: {machine()}", flush=True)
    print("| slices | frame, ms: least, median | picture alone | ratio of the least | bytes |")
    print("|---|---|---|---|---|")
    for millions in options.events:
        ours, bare, size = asyncio.run(timeline_costs(int(millions * 1e6), options.rounds))
        print(
            f"| {int(millions * 1e6):,} | {1e3 * min(ours):.1f}, {1e3 * median(ours):.1f} "
            f"| {1e3 * min(bare):.1f}, {1e3 * median(bare):.1f} "
            f"| {min(ours) / min(bare):.2f} | {size:,} |",
            flush=True,
        )
    for path in options.whole:
        found = asyncio.run(key_costs(path, options.rounds))
        print(f"{path.name}: least {1e3 * min(found):.1f}, median {1e3 * median(found):.1f} ms")
    print(f"Machine after:  {machine()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
