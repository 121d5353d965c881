"""Time the judging of kernels: ``python -m benchmarks.kernels --millions 0.25 0.5 1 2``.

A recording is made in which ``--populations`` different calls (operator, shapes, kernel) each
occur a few times; it is read, and its columns are repeated in memory until it holds so many
million kernels. ``--files`` repeats given recordings instead. What is timed is what turns GPU
activities into judged groups: joining them to operators, units, work, rules, groups. Times are
CPU seconds, the least of the rounds; reading and gap analysis are left out.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import machine
from whichlayer.analysis import load
from whichlayer.analysis import pipeline as analysis
from whichlayer.analysis.accounting import Partition, partition
from whichlayer.analysis.activities import collect_activities
from whichlayer.analysis.kernels.peaks import DeviceMatch
from whichlayer.analysis.results import KernelGroup, Options
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.window import bounds_on, choose_window

Int64 = NDArray[np.int64]

_H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_018_279_936,
         "numSms": 132, "computeMajor": 9, "computeMinor": 0, "warpSize": 32,
         "maxThreadsPerMultiprocessor": 2048, "regsPerMultiprocessor": 65536,
         "sharedMemPerMultiprocessor": 233_472}  # fmt: skip
#: Calls of each population in the recording that is made.
_CALLS = 4
_FUNCTORS = ("add", "mul", "gelu", "tanh", "silu", "copy", "sum", "layer_norm", "softmax", "mm")
_WIDE = ("mm", "add", "mul")


@dataclass(frozen=True, slots=True)
class Judged:
    """What judging one recording took."""

    kernels: int
    groups: int
    seconds: float


def make_recording(path: Path, populations: int, seed: int = 11) -> None:
    """A recording of so many different calls, shuffled, each launching one kernel."""
    random = Random(seed)
    calls = [call for call in range(populations) for _ in range(_CALLS)]
    random.shuffle(calls)
    events: list[dict[str, Any]] = []
    host = device = 1000.0
    for number, call in enumerate(calls):
        device = max(device + 20.0, host + 5.0)
        events += _events(call, number, host, device)
        host += 12.0
    header = {"schemaVersion": 1, "cuda_runtime_version": 12080, "deviceProperties": [_H100]}
    path.write_text(json.dumps({**header, "traceEvents": events}))


def _events(call: int, number: int, host: float, device: float) -> Iterator[dict[str, Any]]:
    """Operator, launch and kernel of one call."""
    functor = _FUNCTORS[call % len(_FUNCTORS)]
    rows = 64 + 8 * (call // len(_FUNCTORS))
    shape = [rows, 1024] if functor != "mm" else [rows, rows]
    count = 2 if functor in _WIDE else 1
    name = f"void at::native::vectorized_elementwise_kernel<4, at::native::{functor}Functor<float>>"
    if functor == "mm":
        name = f"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize{64 << call % 3}x64x16"
    operator = {"External id": number, "Input Dims": [shape] * count,
                "Input type": ["float"] * count}  # fmt: skip
    launch = {"correlation": number + 1, "External id": number}
    kernel = {"correlation": number + 1, "device": 0, "stream": 7, "grid": [rows, 1, 1],
              "block": [256, 1, 1], "registers per thread": 32 + call % 90,
              "shared memory": 1024 * (call % 40)}  # fmt: skip
    took = 2.0 + (call % 97) / 8 + (number % 5) / 20
    yield _slice("cpu_op", f"aten::{functor}", host, 10.0, 1, 1, operator)
    yield _slice("cuda_runtime", "cudaLaunchKernel", host + 2.0, 3.0, 1, 1, launch)
    yield _slice("kernel", name, device, took, 0, 7, kernel)


def _slice(
    category: str, name: str, start: float, took: float, pid: int, tid: int, args: dict[str, Any]
) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start,
            "dur": took, "args": args}  # fmt: skip


def repeated(trace: Trace, times: int) -> Trace:
    """A trace with its slices so many times after each other."""
    length = int(trace.end_ns.max()) + 1000
    sizes = np.diff(trace.lane_rows)
    base = np.concatenate(([0], np.cumsum(sizes * times)))
    lane = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(trace)) - trace.lane_rows[lane]
    # Copies of a lane follow each other, so that a lane stays sorted.
    order = np.concatenate(
        [np.tile(np.arange(low, high), times)
         for low, high in zip(trace.lane_rows[:-1], trace.lane_rows[1:], strict=True)]
    )  # fmt: skip
    copy = np.concatenate([np.repeat(np.arange(times), size) for size in sizes])

    def moved(rows: NDArray[np.int32]) -> NDArray[np.int32]:
        old = np.maximum(rows[order], 0)
        new = base[lane[old]] + copy * sizes[lane[old]] + within[old]
        return np.where(rows[order] < 0, -1, new).astype(np.int32)

    columns = ("name_id", "category_id", "kind", "lane_id", "detail_id", "depth", "stray")
    return replace(
        trace,
        start_ns=trace.start_ns[order] + copy * length,
        end_ns=trace.end_ns[order] + copy * length,
        correlation=_apart(trace.correlation, order, copy),
        external_id=_apart(trace.external_id, order, copy),
        parent=moved(trace.parent),
        launch=moved(trace.launch),
        lane_rows=base.astype(np.int64),
        steps=(),
        **{name: getattr(trace, name)[order] for name in columns},
        _detail_cache={},
    )


def _apart(ids: Int64, order: Int64, copy: Int64) -> Int64:
    """Ids that copies do not share."""
    own = ids[order]
    return np.where(own < 0, -1, own + copy * (int(ids.max(initial=0)) + 1))


def judge_timed(trace: Trace) -> tuple[Judged, tuple[KernelGroup, ...]]:
    """Judge a trace in this process."""
    options = Options()
    devices = collect_activities(trace)
    window = choose_window(trace, devices, options)
    matches: list[DeviceMatch] = [analysis._match(trace, one, options) for one in devices]
    cuts: list[Partition] = [
        partition(one, *bounds_on(trace, one, window, options)) for one in devices
    ]
    gc.collect()
    begun = time.process_time()
    table, judged = analysis._kernels(trace, devices, cuts, matches, window, options)
    groups = judged.groups
    return Judged(len(table.row), len(groups), time.process_time() - begun), groups


def row(name: str, rounds: list[Judged]) -> str:
    """A line of the table."""
    best = min(rounds, key=lambda one: one.seconds)
    millions = best.kernels / 1e6
    return (
        f"| {name} | {best.kernels:,} | {best.groups:,} | {best.seconds:.2f} "
        f"| {best.seconds / millions:.2f} |"
    )


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--millions", type=float, nargs="*", default=[0.25, 0.5, 1])
    parser.add_argument("--populations", type=int, nargs="*", default=[500, 12_000])
    parser.add_argument("--files", type=Path, nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    print(f"Machine: {machine()}\nCPU seconds, the least of {options.rounds}\n")
    print("| recording | kernels | groups | seconds | per million |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for count in [] if options.files else options.populations:
            made.append(Path(folder) / f"{count} populations.json")
            make_recording(made[-1], count)
        for path in [*options.files, *made]:
            trace = load(path, cache=False)
            kernels = sum(len(one) for one in collect_activities(trace))
            for millions in options.millions:
                whole = repeated(trace, max(1, round(1e6 * millions / max(kernels, 1))))
                rounds = []
                for _ in range(options.rounds):
                    whole = replace(whole, _detail_cache={})
                    rounds.append(judge_timed(whole)[0])
                print(row(path.stem, rounds), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
