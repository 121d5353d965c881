"""Time frames of nsys-ai's timeline, in an environment that has it: ``python nsys_ai_frames.py``.

Kernels on ten streams, a fifth of the time idle, made as for ``benchmarks.frames``, are put straight
into its timeline of 200x50 cells; nothing is read from a file. The whole range is painted, through
the compositor's update to the terminal codes; CPU time of the one thread, the least of some rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import random
import time
from typing import Any

from rich.console import Console
from textual.app import App, ComposeResult

STREAMS = 10
LENGTH_NS = 10**10
WIDTH, HEIGHT, LABEL_CELLS = 200, 50, 8
NAMES = ("ampere_sgemm_128x64_tn", "reduce_kernel", "softmax_warp_forward", "flash_fwd_kernel")


def kernels_of(stream: int, count: int, event: Any) -> list[Any]:
    """So many kernels of one stream."""
    rng = random.Random(stream)
    edges, at = [], 0.0
    for _ in range(count):
        begin = at + 0.2 * rng.expovariate(1.0)
        at = begin + 0.8 * rng.expovariate(1.0)
        edges.append((begin, at))
    scale = LENGTH_NS / at
    return [
        event(
            {
                "name": rng.choice(NAMES),
                "type": "kernel",
                "start_ns": int(begin * scale),
                "end_ns": int(end * scale),
                "duration_ms": (end - begin) * scale / 1e6,
                "stream": str(stream),
                "heat": rng.random(),
            }
        )
        for begin, end in edges
    ]


async def frame_costs(kernels: int, rounds: int) -> list[float]:
    """Milliseconds of each painting of the whole range."""
    canvas_type = importlib.import_module("nsys_ai.timeline.canvas").TimelineCanvas
    event = importlib.import_module("nsys_ai.tui_models").KernelEvent

    class Alone(App[None]):
        def compose(self) -> ComposeResult:
            yield canvas_type()

    console = Console(color_system="256", force_terminal=True, legacy_windows=False)
    found = []
    app = Alone()
    async with app.run_test(size=(WIDTH, HEIGHT)) as pilot:
        canvas: Any = app.query_one(canvas_type)
        names = [f"0:{stream}" for stream in range(STREAMS)]
        canvas.stream_kernels = {
            name: kernels_of(stream, kernels // STREAMS, event) for stream, name in enumerate(names)
        }
        canvas.streams = names
        canvas.stream_color_idx = {name: stream for stream, name in enumerate(names)}
        canvas.ns_per_col = LENGTH_NS // (WIDTH - LABEL_CELLS)
        await pilot.pause()
        compositor = app.screen._compositor
        for _ in range(rounds):
            begun = time.thread_time()
            canvas.refresh()
            compositor.update_widgets({canvas})
            update: Any = compositor.render_update(screen_stack=app._background_screens)
            codes = update.render_segments(console)
            found.append(1e3 * (time.thread_time() - begun))
            assert "█" in codes, "nothing was drawn"
    return found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, nargs="*", default=[20_000, 200_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for kernels in options.kernels:
        costs = asyncio.run(frame_costs(kernels, options.rounds))
        print(f"{kernels:,} kernels: least {min(costs):,.0f} ms of {len(costs)}", flush=True)


if __name__ == "__main__":
    main()
