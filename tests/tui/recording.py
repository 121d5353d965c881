"""A small recording made by hand: three steps, two streams, two threads, every gap known.

Times are microseconds in the tables below. Each step of 1000 µs on GPU 0 (stream 7):
300 µs idle while the loader works, a product, 100 µs idle while the host synchronises, a
pointwise kernel, a collective on stream 20 of which 100 µs are exposed, then launch spacing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whichlayer.analysis.activities import collect_activities
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import (
    Analysis,
    Budget,
    Device,
    Finding,
    GapKind,
    Gaps,
    KernelGroup,
    Kernels,
    Options,
    Region,
    Role,
    Segments,
    State,
    Verdict,
    Where,
    Window,
)
from whichlayer.analysis.steps.table import Accounted, step_table
from whichlayer.analysis.trace.columns import Counters, Flows, Instants, Lane, Step, Trace
from whichlayer.analysis.trace.kinds import LaneKind, SliceKind

STEPS = 3
STEP_US = 1000
GEMM = "ampere_sgemm_128x64_tn"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >"
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"

#: (lane, kind, name, start, end, depth, correlation) of one step.
STEP = (
    (0, SliceKind.KERNEL, GEMM, 300, 600, 0, 1),
    (0, SliceKind.KERNEL, ADD, 700, 850, 0, 2),
    (1, SliceKind.KERNEL, NCCL, 800, 950, 0, 3),
    (2, SliceKind.ANNOTATION, "ProfilerStep#{n}", 0, 990, 1, -1),
    (2, SliceKind.PYTHON, "train.py(42): train [bold]", 1, 980, 2, -1),
    (2, SliceKind.ANNOTATION, "enumerate(DataLoader)#_Iter.__next__", 5, 290, 3, -1),
    (2, SliceKind.CPU_OP, "aten::mm", 292, 310, 3, -1),
    (2, SliceKind.RUNTIME, "cudaLaunchKernel", 295, 299, 4, 1),
    (2, SliceKind.RUNTIME, "cudaStreamSynchronize", 320, 680, 3, -1),
    (2, SliceKind.CPU_OP, "aten::add", 685, 699, 3, -1),
    (2, SliceKind.RUNTIME, "cudaLaunchKernel", 690, 695, 4, 2),
    (3, SliceKind.RUNTIME, "cudaLaunchKernel", 750, 760, 0, 3),
)

LANES = (
    Lane(0, 7, LaneKind.GPU_STREAM, 0, 7, "stream 7"),
    Lane(0, 20, LaneKind.GPU_STREAM, 0, 20, "stream 20"),
    Lane(100, 100, LaneKind.CPU_THREAD, name="thread 100 (python)"),
    Lane(100, 101, LaneKind.CPU_THREAD, name="pt_autograd_0"),
)

Slice = tuple[int, int, str, int, int, int, int]


def step_slices() -> list[Slice]:
    """All slices of the recording, in nanoseconds."""
    slices: list[Slice] = [(2, SliceKind.PYTHON, "train.py(1): <module>", 0, 3_000_000, 0, -1)]
    for step in range(STEPS):
        base = step * STEP_US
        slices += [
            (lane, kind, name.format(n=step + 1), 1000 * (base + start), 1000 * (base + end), depth,
             10 * step + corr if corr >= 0 else -1)
            for lane, kind, name, start, end, depth, corr in STEP
        ]  # fmt: skip
    return slices


def build_trace(
    slices: list[Slice] | None = None, lanes: tuple[Lane, ...] = LANES, **changes: Any
) -> Trace:
    """A trace of (lane, kind, name, start, end, depth, correlation) in nanoseconds."""
    slices = step_slices() if slices is None else slices
    slices = sorted(slices, key=lambda s: (s[0], s[3], -s[4], s[5]))
    strings = list(dict.fromkeys(s[2] for s in slices))
    lane_id = np.array([s[0] for s in slices], np.int32)
    kind = np.array([s[1] for s in slices], np.uint8)
    correlation = np.array([s[6] for s in slices], np.int64)
    launch = np.full(len(slices), -1, np.int32)
    for row in np.flatnonzero((correlation >= 0) & (kind == SliceKind.KERNEL)).tolist():
        calls = np.flatnonzero((correlation == correlation[row]) & (kind == SliceKind.RUNTIME))
        launch[row] = calls[0] if len(calls) else -1
    steps = tuple(
        Step(int(s[2].partition("#")[2]), s[2], row, s[3], s[4], s[0])
        for row, s in enumerate(slices)
        if s[2].startswith("ProfilerStep#")
    )
    fields: dict[str, Any] = {
        "path": "run.json",
        "producer": "pytorch",
        "header": {"distributedInfo": {"rank": 3, "world_size": 8}},
        "origin_ns": 0,
        "base_ns": None,
        "strings": strings,
        "start_ns": np.array([s[3] for s in slices], np.int64),
        "end_ns": np.array([s[4] for s in slices], np.int64),
        "name_id": np.array([strings.index(s[2]) for s in slices], np.int32),
        "category_id": np.zeros(len(slices), np.int32),
        "kind": kind,
        "lane_id": lane_id,
        "correlation": correlation,
        "external_id": np.full(len(slices), -1, np.int64),
        "detail_id": np.full(len(slices), -1, np.int32),
        "parent": _parents(slices),
        "depth": np.array([s[5] for s in slices], np.int32),
        "launch": launch,
        "stray": np.zeros(len(slices), np.bool_),
        "lanes": lanes,
        "lane_rows": np.searchsorted(lane_id, np.arange(len(lanes) + 1)).astype(np.int64),
        "steps": steps,
        "instants": Instants(*_empty("int64", "int32", "int32", "float64")),
        "counters": Counters((), *_empty("int32", "int64", "float64")),
        "flows": Flows(*_empty("int64", "uint8", "int64", "int32", "int32")),
        "events": len(slices),
        "warnings": (),
        "_details": (),
        "_full_args": lambda row: {},
    }
    return Trace(**(fields | changes))


def build_analysis(trace: Trace) -> Analysis:
    """What is known of the recording above, written down by hand."""
    gaps, segments = _gaps_and_segments(trace)
    kernels = _kernels(trace)
    window = Window(0, STEPS * STEP_US * 1000, trace.steps, "3 recorded steps")
    budget = Budget(
        total_ns=window.end_ns,
        at_roof_ns=STEPS * 380_000,
        loss_ns={Layer.CUDA: STEPS * 70_000},
        gap_ns={Layer.RUNTIME: STEPS * 400_000, Layer.PYTORCH: STEPS * 100_000},
        spacing_ns=STEPS * 50_000,
        unjudged_ns=0,
        edge_ns=0,
    )
    where = Where(file="train.py", line=42)
    finding = Finding(
        "dataloader-wait", Layer.RUNTIME, "waiting for the loader", STEPS * 300_000, None, 0.3,
        "num_workers > 0", where, ("the loader call lasts 285 µs",),
        tuple(Region(step * 1_000_000, step * 1_000_000 + 300_000, 0) for step in range(STEPS)),
        "high", "rules.dataloader-wait.note_share",
    )  # fmt: skip
    device = Device(0, "NVIDIA A100-SXM4-80GB", "A100 SXM4 80", "by name", "nvidia", 300_000,
                    2_950_000, 0, 0, 0, 0, 0, 9)  # fmt: skip
    accounted = Accounted(collect_activities(trace), (segments,), gaps, kernels)
    return Analysis(
        trace=trace, options=Options(), window=window, devices=(device,), floor_ns=(2_000,),
        gaps=gaps, activities=kernels, kernels=_groups(trace), segments=(segments,),
        budget=budget, budget_by_device=(budget,), budget_by_step=(),
        verdict=Verdict("above-cuda", 0.5, 0.07, "Above CUDA: 50% in gaps, 7% lost in kernels."),
        findings=(finding,), warnings=(TraceWarning("Q12", "fewer than two steps"),),
        steps=step_table(trace, window, Options(), accounted),
    )  # fmt: skip


def _empty(*dtypes: str) -> tuple[np.ndarray[Any, Any], ...]:
    return tuple(np.zeros(0, dtype) for dtype in dtypes)


def _parents(slices: list[Slice]) -> np.ndarray[Any, np.dtype[np.int32]]:
    parents = np.full(len(slices), -1, np.int32)
    for row, (lane, _, _, start, end, depth, _) in enumerate(slices):
        around = [
            other
            for other, s in enumerate(slices)
            if s[0] == lane and s[3] <= start and s[4] >= end and s[5] < depth
        ]
        if around:
            parents[row] = max(around, key=lambda other: slices[other][5])
    return parents


def _gaps_and_segments(trace: Trace) -> tuple[Gaps, Segments]:
    order = {row: place for place, row in enumerate(_activity_rows(trace))}
    by_step = [[row for row in order if trace.start_ns[row] // 1_000_000 == step]
               for step in range(STEPS)]  # fmt: skip
    pieces: list[tuple[int, int, int, int, int]] = []
    gaps: list[tuple[int, int, GapKind, int, Layer, int]] = []
    for step, (gemm, add, nccl) in enumerate(by_step):
        at = step * STEP_US

        def gap(low: int, high: int, kind: GapKind, cause: int, layer: Layer, row: int,
                at: int = at) -> None:  # fmt: skip
            pieces.append((at + low, at + high, State.GAP, layer, len(gaps)))
            gaps.append((at + low, at + high, kind, cause, layer, row))

        gap(0, 300, GapKind.IDLE, 0, Layer.RUNTIME, gemm)
        pieces.append((at + 300, at + 600, State.AT_ROOF, Layer.NONE, order[gemm]))
        gap(600, 700, GapKind.IDLE, 1, Layer.PYTORCH, add)
        pieces.append((at + 700, at + 850, State.SLOW, Layer.CUDA, order[add]))
        gap(850, 950, GapKind.EXPOSED_COMM, 2, Layer.RUNTIME, nccl)
        pieces.append((at + 950, at + 1000, State.SPACING, Layer.NONE, -1))
    columns = np.array(pieces, np.int64).T
    segments = Segments(
        columns[0] * 1000, columns[1] * 1000, columns[2].astype(np.uint8),
        columns[3].astype(np.uint8), columns[4].astype(np.int32),
    )  # fmt: skip
    table = np.array(gaps, np.int64).T
    none = np.full(len(gaps), -1, np.int32)
    launches = trace.launch[table[5]]
    return (
        Gaps(table[0] * 1000, table[1] * 1000, np.zeros(len(gaps), np.int32),
             table[2].astype(np.uint8), table[3].astype(np.int32), table[4].astype(np.uint8),
             table[5].astype(np.int32), launches, none,
             ("dataloader-wait", "host-sync", "exposed-comm")),
        segments,
    )  # fmt: skip


def _activity_rows(trace: Trace) -> list[int]:
    rows = np.flatnonzero(trace.kind == SliceKind.KERNEL)
    return sorted(rows.tolist(), key=lambda row: int(trace.start_ns[row]))


def _kernels(trace: Trace) -> Kernels:
    rows = np.array(_activity_rows(trace), np.int32)
    names = [trace.name(row) for row in rows.tolist()]
    is_add = np.array([name == ADD for name in names])
    owned = trace.end_ns[rows] - trace.start_ns[rows]
    owned[[name == NCCL for name in names]] -= 50_000  # hidden behind the pointwise kernel
    return Kernels(
        row=rows,
        device=np.zeros(len(rows), np.int32),
        start_ns=trace.start_ns[rows],
        end_ns=trace.end_ns[rows],
        role=np.array([Role.COMM if n == NCCL else Role.COMPUTE for n in names], np.uint8),
        op_row=np.full(len(rows), -1, np.int32),
        owned_ns=owned,
        loss_ns=np.where(is_add, 70_000, 0).astype(np.int64),
        judged=np.ones(len(rows), np.bool_),
        layer=np.where(is_add, Layer.CUDA, Layer.NONE).astype(np.uint8),
        group=np.array([(GEMM, ADD, NCCL).index(name) for name in names], np.int32),
    )


def _groups(trace: Trace) -> tuple[KernelGroup, ...]:
    rows = _activity_rows(trace)

    def group(name: str, short: str, total: int, **changes: Any) -> KernelGroup:
        mine = np.array([row for row in rows if trace.name(row) == name], np.int32)
        fields: Mapping[str, Any] = {
            "name": name, "short_name": short, "operator": "aten::mm", "shapes": "[8,8] float",
            "calls": len(mine), "total_ns": total, "share": total / 3_000_000, "bytes": None,
            "flops": None, "gbps": None, "tflops": None, "bandwidth_fraction": None,
            "flops_fraction": None, "roof_fraction": None, "bound": "unknown",
            "precision": "fp32", "tensor_cores": None, "occupancy": None, "lost_ns": 0,
            "layer": Layer.NONE, "rule": "", "why": f"why of {short}", "flags": (), "rows": mine,
        } | changes  # fmt: skip
        return KernelGroup(**fields)

    return (
        group(GEMM, "sgemm 128x64", STEPS * 300_000, tflops=15.0, roof_fraction=0.9),
        group(ADD, "add", STEPS * 150_000, gbps=910.0, roof_fraction=0.53, lost_ns=210_000,
              layer=Layer.CUDA, rule="memory-bound-slow", bound="memory"),
        group(NCCL, "AllReduce", STEPS * 100_000),
    )  # fmt: skip
