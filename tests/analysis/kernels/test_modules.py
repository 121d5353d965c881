"""The module that each kernel was launched for."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from whichlayer.analysis import load
from whichlayer.analysis.activities import collect_activities
from whichlayer.analysis.kernels.modules import modules_of
from whichlayer.analysis.operators import operator_rows

Event = dict[str, Any]


def slice_(cat: str, name: str, ts: float, dur: float, tid: int, **args: Any) -> Event:
    pid = 0 if cat == "kernel" else 1
    return {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid,
            "args": args}  # fmt: skip


def launched(ts: float, tid: int, correlation: int, operator: str) -> list[Event]:
    return [
        slice_("cpu_op", operator, ts, 5, tid, **{"External id": correlation}),
        slice_("cuda_runtime", "cudaLaunchKernel", ts + 1, 2, tid, correlation=correlation),
        slice_("kernel", f"k{correlation}", 500 + 10 * correlation, 5, 7, device=0, stream=7,
               correlation=correlation),
    ]  # fmt: skip


def flow(ts_from: float, ts_to: float, number: int) -> list[Event]:
    both = {"cat": "fwdbwd", "name": "fwdbwd", "pid": 1, "id": number}
    return [
        {**both, "ph": "s", "ts": ts_from, "tid": 1},
        {**both, "ph": "f", "bp": "e", "ts": ts_to, "tid": 2},
    ]


def modules(events: list[Event], tmp_path: Path) -> dict[str, str | None]:
    path = tmp_path / "recording.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": events}).encode()))
    trace = load(str(path))
    (device,) = collect_activities(trace)
    operators = operator_rows(trace, device.row, device.launch)
    index, names = modules_of(trace, device.launch, operators)
    return {
        trace.name(row): names[at] if at >= 0 else None
        for row, at in zip(device.row.tolist(), index.tolist(), strict=True)
    }


MODEL = slice_("python_function", "nn.Module: Model_0", 0, 100, 1)
FIRST = slice_("python_function", "nn.Module: Linear_0", 10, 20, 1)
SECOND = slice_("python_function", "nn.Module: Linear_1", 40, 20, 1)


def test_the_same_layer_of_every_block_is_one(tmp_path: Path) -> None:
    found = modules(
        [MODEL, FIRST, SECOND, *launched(12, 1, 1, "aten::mm"), *launched(42, 1, 2, "aten::mm"),
         *launched(70, 1, 3, "aten::add"), *launched(200, 1, 4, "aten::add")],
        tmp_path,
    )  # fmt: skip
    assert found == {"k1": "Model.Linear", "k2": "Model.Linear", "k3": "Model", "k4": None}


def test_backward_belongs_to_the_module_of_its_forward(tmp_path: Path) -> None:
    backward = [slice_("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 300, 20, 2),
                *launched(305, 2, 2, "aten::mm")]  # fmt: skip
    alone = launched(400, 2, 3, "aten::mm")
    found = modules(
        [MODEL, FIRST, *launched(12, 1, 1, "aten::mm"), *backward, *alone, *flow(13, 301, 9)],
        tmp_path,
    )
    assert found == {"k1": "Model.Linear", "k2": "Model.Linear", "k3": None}


def test_without_module_calls_there_are_no_names(tmp_path: Path) -> None:
    assert modules(launched(12, 1, 1, "aten::mm"), tmp_path) == {"k1": None}
