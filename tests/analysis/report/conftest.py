"""A small analysis made by hand, whose every figure is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import (
    Analysis,
    Budget,
    Device,
    Finding,
    GapKind,
    Gaps,
    GapText,
    KernelGroup,
    Kernels,
    Options,
    Region,
    Segments,
    Verdict,
    Where,
    Window,
)
from whichlayer.analysis.trace.columns import Counters, Flows, Instants, Step, Trace

MakeAnalysis = Callable[..., Analysis]


def make_trace(**changes: Any) -> Trace:
    """A trace without events; the report reads only its header, steps and warnings."""
    fields: dict[str, Any] = {
        "path": "run.json.gz",
        "producer": "pytorch",
        "header": {"distributedInfo": {"rank": 3, "world_size": 8}},
        "origin_ns": 17,
        "base_ns": 1_759_300_074_000_000_000,
        "strings": (),
        "kind": np.zeros(0, np.uint8),
        "stray": np.zeros(0, np.bool_),
        "lanes": (),
        "lane_rows": np.zeros(1, np.int64),
        "steps": (Step(4, "ProfilerStep#4", 0, 0, 1_000_000, 0),),
        "instants": Instants(*_empty("int64", "int32", "int32", "float64")),
        "counters": Counters((), *_empty("int32", "int64", "float64")),
        "flows": Flows(*_empty("int64", "uint8", "int64", "int32", "int32")),
        "events": 1866,
        "warnings": (TraceWarning("truncated", "the file is cut off", 1, 4096),),
        "_details": (),
        "_full_args": lambda row: {},
    }
    for name in ("start_ns", "end_ns", "correlation", "external_id"):
        fields[name] = np.zeros(0, np.int64)
    for name in ("name_id", "category_id", "lane_id", "detail_id", "parent", "depth", "launch"):
        fields[name] = np.zeros(0, np.int32)
    return Trace(**(fields | changes))


def make_group(**changes: Any) -> KernelGroup:
    """A judged kernel group at 45 % of the roof."""
    fields: dict[str, Any] = {
        "name": "void at::native::vectorized_elementwise_kernel<4, float>()",
        "short_name": "vectorized_elementwise",
        "operator": "aten::add",
        "shapes": "[8, 128] float",
        "calls": 2,
        "total_ns": 300_000,
        "share": 0.3,
        "bytes": 1_000_000,
        "flops": None,
        "gbps": 910.0,
        "tflops": None,
        "bandwidth_fraction": 0.45,
        "flops_fraction": None,
        "roof_fraction": 0.45,
        "bound": "memory",
        "precision": "fp32",
        "tensor_cores": None,
        "occupancy": None,
        "lost_ns": 150_001,
        "layer": Layer.CUDA,
        "rule": "memory-bound-slow",
        "why": "bytes from the shapes",
        "flags": (),
        "rows": np.array([0, 1], np.int32),
    }
    return KernelGroup(**(fields | changes))


def make_finding(**changes: Any) -> Finding:
    """A loader that keeps the GPU waiting."""
    fields: dict[str, Any] = {
        "rule": "dataloader-wait",
        "layer": Layer.RUNTIME,
        "title": "the loader keeps the GPU waiting",
        "time_ns": 400_000,
        "recoverable_ns": None,
        "share": 0.4,
        "fix": "num_workers > 0",
        "where": Where(file="train.py", line=42, module="nn.Module: Net_0"),
        "evidence": ("the loader call lasts 400 µs", "num_workers is 0"),
        "regions": (Region(0, 400_000, 0),),
        "confidence": "high",
        "threshold": "rules.dataloader-wait.note_share",
    }
    return Finding(**(fields | changes))


def make_budget(**changes: Any) -> Budget:
    """A window of one millisecond, all of it accounted for."""
    fields: dict[str, Any] = {
        "total_ns": 1_000_000,
        "at_roof_ns": 149_999,
        "loss_ns": {Layer.CUDA: 150_001},
        "gap_ns": {Layer.RUNTIME: 400_000, Layer.UNKNOWN: 50_000},
        "spacing_ns": 20_000,
        "unjudged_ns": 200_000,
        "edge_ns": 30_000,
    }
    return Budget(**(fields | changes))


@pytest.fixture
def make_analysis(monkeypatch: pytest.MonkeyPatch) -> MakeAnalysis:
    """Make an analysis of one device in one step, with any field replaced."""

    def explain(analysis: Analysis, index: int) -> GapText:
        where = Where(record="with_stack=True")
        return GapText(
            analysis.gaps.rule(index), Layer.RUNTIME, "waits", "fix it", where, ("late",)
        )

    monkeypatch.setattr("whichlayer.analysis.report.json_tables.explain_gap", explain)
    # Its trace holds no launches: what is told of them has tests of its own.
    for told in ("json_launches", "text_launches"):
        monkeypatch.setattr(f"whichlayer.analysis.report.{told}.launch_views", lambda _: ())

    def make(**changes: Any) -> Analysis:
        return replace(_whole_analysis(), **changes)

    return make


def _whole_analysis() -> Analysis:
    trace = make_trace()
    device = Device(
        number=3,
        name="NVIDIA A100-SXM4-80GB",
        model="A100 SXM4 80",
        model_note="by name and memory",
        vendor="nvidia",
        start_ns=0,
        end_ns=1_000_000,
        busy_ns=500_000,
        idle_ns=500_000,
        compute_ns=500_000,
        exposed_comm_ns=0,
        exposed_copy_ns=0,
        activities=3,
    )
    return Analysis(
        trace=trace,
        options=Options(),
        window=Window(0, 1_000_000, trace.steps, "step 4"),
        devices=(device,),
        floor_ns=(2_000,),
        gaps=_gaps(),
        activities=_activities(),
        kernels=(make_group(), make_group(short_name="unjudged", lost_ns=0, layer=Layer.UNKNOWN)),
        segments=(Segments(*_empty("int64", "int64", "uint8", "uint8", "int32")),),
        budget=make_budget(),
        budget_by_device=(make_budget(),),
        budget_by_step=(make_budget(),),
        verdict=Verdict("above-cuda", 0.4, 0.15, "40.0 % of the window is lost above CUDA."),
        findings=(make_finding(),),
        warnings=(TraceWarning("Q12", "fewer than two steps: verdicts are hints"),),
    )


def _gaps() -> Gaps:
    return Gaps(
        start_ns=np.array([0, 500_000], np.int64),
        end_ns=np.array([400_000, 550_001], np.int64),
        device=np.zeros(2, np.int32),
        kind=np.array([GapKind.IDLE, GapKind.EXPOSED_COPY], np.uint8),
        cause=np.array([0, 1], np.int32),
        layer=np.array([Layer.RUNTIME, Layer.UNKNOWN], np.uint8),
        next_row=np.full(2, -1, np.int32),
        launch_row=np.full(2, -1, np.int32),
        culprit_row=np.full(2, -1, np.int32),
        rule_ids=("dataloader-wait", "unattributed"),
    )


def _activities() -> Kernels:
    return Kernels(
        row=np.arange(3, dtype=np.int32),
        device=np.zeros(3, np.int32),
        start_ns=np.array([400_000, 600_000, 800_000], np.int64),
        end_ns=np.array([500_000, 800_000, 1_000_000], np.int64),
        role=np.zeros(3, np.uint8),
        op_row=np.full(3, -1, np.int32),
        owned_ns=np.array([100_000, 200_000, 200_000], np.int64),
        loss_ns=np.array([50_001, 100_000, 0], np.int64),
        judged=np.array([True, True, False]),
        layer=np.array([Layer.CUDA, Layer.CUDA, Layer.NONE], np.uint8),
        group=np.array([0, 0, 1], np.int32),
    )


def _empty(*types: str) -> tuple[Any, ...]:
    return tuple(np.zeros(0, dtype) for dtype in types)
