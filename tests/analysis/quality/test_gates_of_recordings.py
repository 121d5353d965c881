"""The gates on real recordings: where each fires, and that sound ones stay quiet."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.recordings import analysed

FOLDER = os.environ.get("WHICHLAYER_TRACES", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="WHICHLAYER_TRACES is not set")

#: Codes of the gates that fire, by recording.
FIRE = {
    "hta_a100_ranges_no_kernels.json.gz": {"Q1"},
    "hta_cpu_only.json.gz": {"Q1"},
    "hta_a100_dlrm_8rank_r3.json.gz": set(),
    "hta_v100_float_epoch.json.gz": set(),
    "hta_v100_cuda_graphs.json.gz": {"Q5"},
    "hta_mi250_toy.json.gz": set(),
    "kineto2020_resnet50_workers0.json.gz": {"Q3", "Q8"},
    "kineto_resnet50_workers0.json.gz": set(),
    "nsys_h100_2gpu.sqlite": {"Q3"},
    "tl_b200_vllm_eager.json.gz": set(),
    "tl_h100_bert.json.gz": {"Q12"},
    "tl_h100_qwen.json.gz": {"Q3", "Q8", "Q12"},
    "tl_mi300_bert.json.gz": {"Q12", "Q13"},
    "tl_mi300_sglang_decode.json.gz": {"Q13"},
    "tl_mi300_vllm_decode_capture.json.gz": {"Q13"},
    "tl_mi300_vllm_decode_graph.json.gz": {"Q13"},
    "speedscope_partial.json": {"Q1", "Q6"},
}


@pytest.mark.parametrize("name", FIRE)
def test_gates_fire_where_they_should_and_nowhere_else(name: str) -> None:
    analysis = analysed(Path(FOLDER) / name)
    assert {w.code for w in analysis.warnings if w.code.startswith("Q")} == FIRE[name]


def test_a_recording_cut_out_of_a_longer_one_has_lost_no_kernels() -> None:
    analysis = analysed(Path(FOLDER) / "nsys_h100_2gpu.sqlite")
    assert analysis.verdict.caveat == ""
