"""Casts, copies and chains of elementwise operators: named where they add up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.recordings import analysed
from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.copy_kinds import copy_kind
from whichlayer.analysis.kernels.work import work_of
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis

Judged = Callable[..., Any]
SHAPE = [4096, 4096]
#: 4096 x 4096 floats at the H100's data sheet, in microseconds.
ONCE = 4096 * 4096 * 4 / 3350e3


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Any:
    """The Call class of the conftest beside this file."""
    return request.getfixturevalue("call_class")


def pointwise(call: Any, name: str, start: float, duration: float, tensors: int = 1,
              **more: Any) -> Any:  # fmt: skip
    kernel = (f"vectorized_elementwise_kernel_{name}", start, duration)
    return call(f"aten::{name}", [kernel], [more.pop("shape", SHAPE)] * tensors,
                ["float"] * tensors, **more)  # fmt: skip


def copy(call: Any, start: float, duration: float, source: str = "float", target: str = "float",
         name: str = "copy_kernel") -> Any:  # fmt: skip
    return call("aten::copy_", [(name, start, duration)], [SHAPE, SHAPE], [target, source])


def matmul(call: Any, start: float, duration: float) -> Any:
    return call("aten::mm", [("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", start, duration)],
                [[8192, 8192], [8192, 8192]], ["c10::BFloat16", "c10::BFloat16"])  # fmt: skip


def rules(recorded: Any) -> dict[str, str]:
    return {name: group.rule for name, group in recorded.groups.items()}


def balanced(analysis: Analysis) -> None:
    """Losses, gaps and the rest add up to the window, to the nanosecond; no loss has two owners."""
    budget = analysis.budget
    parts = (budget.at_roof_ns, *budget.loss_ns.values(), *budget.gap_ns.values(),
             budget.spacing_ns, budget.unjudged_ns, budget.edge_ns)  # fmt: skip
    assert sum(parts) == budget.total_ns
    activities = analysis.activities
    assert (activities.loss_ns <= activities.owned_ns).all()
    assert sum(group.lost_ns for group in analysis.kernels) == activities.loss_ns.sum()


@pytest.mark.parametrize(("cast_us", "rule"), [(120.0, "cast-churn"), (40.0, "at-roof")])
def test_casts_are_named_from_a_twentieth_of_the_work_on(
    judged: Judged, call: Any, cast_us: float, rule: str
) -> None:
    # 120 of 1,720 us are 7 %, 40 of 1,640 are 2.4 %.
    found = judged([
        matmul(call, 2000, 1600),
        copy(call, 4000, cast_us, "float", "c10::BFloat16", "cast_kernel"),
    ])  # fmt: skip
    group = found.groups["cast_kernel"]
    assert group.rule == ("cast-churn" if rule == "cast-churn" else group.rule)
    assert (group.rule == "cast-churn") == (rule == "cast-churn")
    if rule == "cast-churn":
        assert group.layer == Layer.PRECISION
        assert group.lost_ns == group.total_ns
        assert "casts take 7% of the device's own work" in group.why
    balanced(found.analysis)


def test_casts_from_integers_and_truth_values_are_no_churn(judged: Judged, call: Any) -> None:
    found = judged([copy(call, 2000, 500, "long int", "float", "from_index")])
    assert found.groups["from_index"].rule != "cast-churn"
    found = judged([copy(call, 2000, 500, "bool", "float", "from_mask")])
    assert found.groups["from_mask"].rule != "cast-churn"


@pytest.mark.parametrize(("copy_us", "fires"), [(200.0, True), (150.0, False)])
def test_copies_are_named_from_a_tenth_of_the_work_on(
    judged: Judged, call: Any, copy_us: float, fires: bool
) -> None:
    found = judged([matmul(call, 2000, 1600), copy(call, 4000, copy_us)])
    group = found.groups["copy_kernel"]
    assert (group.rule == "copy-storm") == fires
    if fires:
        assert (group.layer, group.lost_ns) == (Layer.PYTORCH, group.total_ns)
    balanced(found.analysis)


def test_casts_and_copies_do_not_add_up_to_each_other(judged: Judged, call: Any) -> None:
    # 8 % copies and 4 % casts: neither reaches its limit.
    found = judged([
        matmul(call, 2000, 1760),
        copy(call, 4000, 160),
        copy(call, 4200, 80, "float", "c10::BFloat16", "cast_kernel"),
    ])  # fmt: skip
    assert not {"copy-storm", "cast-churn"} & set(rules(found).values())


@pytest.mark.parametrize(
    ("name", "dims", "types", "concrete", "kind"),
    [
        ("aten::copy_", [[8], [8]], ["float", "float"], None, "copy"),
        ("aten::copy_", [[8], [8]], ["c10::Half", "float"], None, "cast"),
        ("aten::copy_", [[8], [8]], ["float", "bool"], None, ""),
        ("aten::_to_copy", [[8], []], ["float", "Scalar"], ["", "15"], "cast"),
        ("aten::_to_copy", [[8], []], ["float", "Scalar"], ["", "4"], ""),
        ("aten::flip", [[8], []], ["float", ""], None, ""),
        ("aten::add", [[8], [8]], ["float", "float"], None, ""),
    ],
)
def test_what_counts_as_a_copy(
    name: str, dims: list[Any], types: list[str], concrete: list[str] | None, kind: str
) -> None:
    detail = {"Input Dims": dims, "Input type": types}
    one = OpCall.from_detail(name, detail | ({"Concrete Inputs": concrete} if concrete else {}))
    assert copy_kind(one, work_of(one)) == kind


def test_copies_of_compiled_code_are_its_own_business(judged: Judged, call: Any) -> None:
    kernel = [("copy_kernel", 4000.0, 400.0)]
    plain = {"dims": [SHAPE, SHAPE], "types": ["float", "float"]}
    outside = judged([matmul(call, 2000, 1600), call("aten::copy_", kernel, **plain)])
    assert outside.groups["copy_kernel"].rule == "copy-storm"
    for around in ("CompiledFunctionBackward", "torch::distributed::reducer::copy_bucket_to_grad"):
        inside = judged([
            matmul(call, 2000, 1600), call("aten::copy_", kernel, around=around, **plain)
        ])  # fmt: skip
        assert inside.groups["copy_kernel"].rule != "copy-storm"


def chain(call: Any, names: list[str], **more: Any) -> list[Any]:
    """Operators one after the other, each at the roof."""
    return [pointwise(call, name, 2000 + 100 * at, 2 * ONCE / 0.9, **more)
            for at, name in enumerate(names)]  # fmt: skip


def test_three_elementwise_operators_in_a_row_could_be_one(judged: Judged, call: Any) -> None:
    found = judged(chain(call, ["tanh", "sigmoid", "exp"]))
    assert set(rules(found).values()) == {"unfused-elementwise"}
    group = found.groups["vectorized_elementwise_kernel_tanh"]
    assert group.layer == Layer.RUNTIME
    # Each moves two tensors; fused, two in all at 85 % of the bandwidth, and one launch of 1 us.
    took = 3 * round(2 * ONCE / 0.9 * 1e3)
    lost = sum(one.lost_ns for one in found.groups.values())
    assert lost == pytest.approx(took - 1000 - 2 * ONCE / 0.85 * 1e3, rel=0.001)
    assert "one of 3 operators of a row whose shapes agree" in group.why
    balanced(found.analysis)


def test_two_are_no_chain(judged: Judged, call: Any) -> None:
    found = judged(chain(call, ["tanh", "sigmoid"]))
    assert set(rules(found).values()) == {"at-roof"}


def test_the_same_call_again_is_a_loop_and_no_chain(judged: Judged, call: Any) -> None:
    found = judged(chain(call, ["tanh", "tanh", "tanh", "tanh"]))
    assert set(rules(found).values()) == {"at-roof"}


def test_other_shapes_break_a_chain(judged: Judged, call: Any) -> None:
    calls = chain(call, ["tanh", "sigmoid"])
    calls += [pointwise(call, "exp", 2300, 2 * ONCE / 0.9, shape=[2048, 8192])]
    assert "unfused-elementwise" not in rules(judged(calls)).values()


def test_a_product_between_breaks_a_chain(judged: Judged, call: Any) -> None:
    calls = [pointwise(call, "tanh", 2000, 45), pointwise(call, "sigmoid", 2100, 45),
             matmul(call, 2200, 1800), pointwise(call, "exp", 4100, 45)]  # fmt: skip
    assert "unfused-elementwise" not in rules(judged(calls)).values()


def test_what_runs_in_an_optimizer_is_no_chain(judged: Judged, call: Any) -> None:
    around = {"around": "Optimizer.step#SGD.step"}
    found = judged(chain(call, ["tanh", "sigmoid", "exp"], **around))
    assert "unfused-elementwise" not in rules(found).values()


def test_results_that_the_backward_pass_may_need_are_written_all_the_same(
    judged: Judged, call: Any
) -> None:
    alone = judged(chain(call, ["tanh", "sigmoid", "exp"]))
    calls = chain(call, ["tanh", "sigmoid", "exp"])
    calls.append(call("autograd::engine::evaluate_function: AccumulateGrad", []))
    trained = judged(calls)
    saved = [sum(group.lost_ns for group in one.groups.values()) for one in (alone, trained)]
    # Two results of one tensor each are written in addition.
    assert saved[0] - saved[1] == pytest.approx(2 * ONCE / 0.85 * 1e3, rel=0.001)


def test_faster_than_memory_is_in_doubt_and_in_no_chain(judged: Judged, call: Any) -> None:
    calls = [pointwise(call, name, 2000 + 100 * at, ONCE)
             for at, name in enumerate(["tanh", "sigmoid", "exp"])]  # fmt: skip
    assert "unfused-elementwise" not in rules(judged(calls)).values()


def test_mixed_precision_of_a_real_particle_model_casts_a_fifth_of_the_time(traces: Path) -> None:
    analysis = analysed(traces / "pt_a100pcie_particle.json")
    casts = [group for group in analysis.kernels if group.rule == "cast-churn"]
    assert casts
    assert all("fp16" in group.shapes and "fp32" in group.shapes for group in casts)
    balanced(analysis)


def test_an_eager_language_model_has_chains_and_copies(traces: Path) -> None:
    analysis = analysed(traces / "tl_h100_qwen.json.gz")
    chained = {group.operator for group in analysis.kernels if group.rule == "unfused-elementwise"}
    assert {"aten::pow", "aten::mul"} <= chained
    assert any(group.rule == "copy-storm" and group.operator == "aten::cat"
               for group in analysis.kernels)  # fmt: skip
    balanced(analysis)


def test_a_repeated_addition_is_slow_by_itself(traces: Path) -> None:
    analysis = analysed(traces / "tl_eval_add_poor_bandwidth.json")
    assert {group.rule for group in analysis.kernels} == {"memory-bound-slow"}
