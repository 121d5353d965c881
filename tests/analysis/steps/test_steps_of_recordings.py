"""Steps of real recordings: where they come from, what they take, and that inference finds them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.analysis.steps.test_step_figures import assert_adds_up, table_of
from tests.support.recordings import analysed
from whichlayer.analysis.steps.from_launches import by_period
from whichlayer.analysis.steps.from_marks import by_marks
from whichlayer.analysis.steps.model import Phase
from whichlayer.analysis.trace.columns import StepSource

FOLDER = os.environ.get("WHICHLAYER_TRACES", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="WHICHLAYER_TRACES is not set")

#: Source and number of steps, of every recording of GPU work that is not marked by PyTorch.
UNMARKED: dict[str, tuple[StepSource | None, int]] = {
    "hta_a100_ranges_no_kernels.json.gz": (None, 0),
    "hta_a100_simple_add.json.gz": (None, 0),
    "hta_large_integer.json.gz": (None, 0),
    "hta_mtia_inference.json.gz": (None, 0),
    "kineto_h100_graph_ids.json": (None, 0),
    "nsys_h100_2gpu.sqlite": (None, 0),
    "nsys_mock.sqlite": (None, 0),
    "pt_a100pcie_particle.json": (None, 0),
    "tl_b200_vllm_eager.json.gz": (StepSource.VLLM, 1),
    "tl_eval_add_poor_bandwidth.json": (None, 0),
    "tl_eval_b300_moe.json.gz": (None, 0),
    "tl_eval_gemm_misaligned.json": (None, 0),
    "tl_eval_sdpa_low_efficiency.json": (None, 0),
    "tl_mi210_gpu_only.json.gz": (None, 0),
    "tl_mi300_compile_triton.json.gz": (None, 0),
    "tl_mi300_ddp_resnet18.json.gz": (StepSource.INFERRED, 5),
    "tl_mi300_sglang_decode.json.gz": (StepSource.SGLANG, 1),
    "tl_mi300_vllm_decode_capture.json.gz": (None, 0),
    "tl_mi300_vllm_decode_graph.json.gz": (StepSource.VLLM, 1),
}

#: Recordings of several steps.
SEVERAL = (
    "hta_a100_dlrm_8rank_r3.json.gz",
    "hta_v100_cuda_graphs.json.gz",
    "hta_v100_float_epoch.json.gz",
    "kineto2020_resnet50_workers0.json.gz",
    "kineto_resnet50_workers0.json.gz",
    "kineto_resnet50_workers4.json.gz",
)

#: Recordings of one step: whatever repeats in them is a layer.
SINGLE = (
    "tl_b200_vllm_eager.json.gz",
    "tl_h100_bert.json.gz",
    "tl_h100_qwen.json.gz",
    "tl_h100_timesformer.json.gz",
    "tl_mi300_sd35_239k_events.json.gz",
    "tl_mi300_sglang_decode.json.gz",
    "tl_mi300_timesformer.json.gz",
    "tl_mi300_vllm_decode_graph.json.gz",
    "dlrm_v100_8rank/worker0.pt.trace.json.gz",
)


@pytest.mark.parametrize("name", UNMARKED)
def test_steps_come_from_where_they_are_marked_or_are_inferred_or_are_not_there(name: str) -> None:
    source, count = UNMARKED[name]
    table = table_of(analysed(Path(FOLDER) / name))
    assert (table.found.source, len(table.found.steps)) == (source, count)
    if source in (None, StepSource.INFERRED):
        assert table.found.record


@pytest.mark.parametrize("name", [*SEVERAL, *SINGLE])
def test_steps_and_their_phases_add_up(name: str) -> None:
    table = table_of(analysed(Path(FOLDER) / name))
    assert table.rows
    for row in table.rows:
        assert row.whole
        assert_adds_up(row)


@pytest.mark.parametrize("name", SEVERAL)
def test_inference_finds_the_steps_that_are_marked(name: str) -> None:
    """Without its marks the recording shows the same number of steps, of the same lengths."""
    trace = analysed(Path(FOLDER) / name).trace
    marked = np.array([step.end_ns - step.start_ns for step in trace.steps])
    for infer, inside in ((by_marks, 0.5), (by_period, 0.0)):
        inferred = infer(trace)
        assert inferred is not None
        lengths = np.array([step.end_ns - step.start_ns for step in inferred.steps])
        assert len(marked) - 2 <= len(lengths) <= len(marked)
        # Each is of a step of its own: a mark's ends before it, a period begins anywhere in it.
        points = np.array([step.start_ns for step in inferred.steps]) + inside * lengths
        owner = np.searchsorted([step.start_ns for step in trace.steps], points, "right")
        assert len(np.unique(owner)) == len(owner)
        assert abs(np.median(lengths) / np.median(marked) - 1) < 0.1


@pytest.mark.parametrize("name", SINGLE)
def test_layers_of_a_single_step_are_never_taken_for_steps(name: str) -> None:
    trace = analysed(Path(FOLDER) / name).trace
    assert by_marks(trace) is None
    assert by_period(trace) is None


def test_inferred_steps_change_nothing_but_themselves() -> None:
    analysis = analysed(Path(FOLDER) / "tl_mi300_ddp_resnet18.json.gz")
    assert analysis.window.steps == ()
    assert analysis.window.reason == "first to last GPU activity"
    assert analysis.budget_by_step == ()
    assert len(table_of(analysis).rows) == 5


def test_a_loader_bound_recording_spends_its_steps_on_input() -> None:
    table = table_of(analysed(Path(FOLDER) / "kineto_resnet50_workers0.json.gz"))
    for row in table.rows:
        assert row.host_phases is not None
        assert row.host_ns is not None
        assert row.host_phases[Phase.INPUT] > 0.3 * row.host_ns
        assert row.host_phases[Phase.OTHER] < 0.05 * row.host_ns


def test_the_first_step_is_long_for_the_work_of_the_step_before() -> None:
    """The GPU is 35 ms behind when the recording begins."""
    table = table_of(analysed(Path(FOLDER) / "hta_v100_cuda_graphs.json.gz"))
    assert [table.rows[one.index].step.number for one in table.outliers] == [1009]
    assert table.outliers[0].growths[0].name == "work launched outside the step"


def test_marks_of_a_serving_engine_leave_the_window_alone() -> None:
    for name in ("tl_b200_vllm_eager", "tl_mi300_sglang_decode", "tl_mi300_vllm_decode_graph"):
        analysis = analysed(Path(FOLDER) / f"{name}.json.gz")
        assert analysis.window.reason == "first to last GPU activity"
        assert analysis.trace.steps == ()
        (row,) = table_of(analysis).rows
        assert row.whole
