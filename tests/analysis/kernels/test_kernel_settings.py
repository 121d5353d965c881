"""Settings of rules reach the judge of kernels, and rules that are off label nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import KernelGroup, Options

Judged = Callable[..., Any]
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"
#: 3 x 2**24 floats: 60.1 µs at the data sheet's 3350 GB/s.
AT_SHEET_US = 3 * (1 << 24) * 4 / 3350e3


@pytest.fixture
def add(judged: Judged, request: pytest.FixtureRequest) -> Callable[..., KernelGroup]:
    """The group of one addition that reaches a share of the data sheet's bandwidth."""
    call = request.getfixturevalue("call_class")

    def run(share: float, **options: Any) -> KernelGroup:
        one = call("aten::add", [(ADD, 2000, round(AT_SHEET_US / share, 3))],
                   [[4096, 4096], [4096, 4096], []], ["float", "float", "Scalar"],
                   ["", "", "1"])  # fmt: skip
        group: KernelGroup = judged([one], options=Options(**options)).only()
        return group

    return run


def test_a_rule_that_is_off_leaves_its_loss_unexplained(add: Callable[..., KernelGroup]) -> None:
    on, off = add(0.4), add(0.4, rules_off=frozenset({"memory-bound-slow"}))
    assert (on.rule, on.layer) == ("memory-bound-slow", Layer.CUDA)
    assert (off.rule, off.layer) == ("", Layer.UNKNOWN)
    assert off.lost_ns == on.lost_ns > 0


def test_the_next_matching_rule_takes_over(judged: Judged, call_class: Any) -> None:
    # 8 blocks of a card with 132 multiprocessors: small-grid comes before memory-bound-slow.
    one = call_class("aten::add", [(ADD, 2000, 400)], [[4096, 4096], [4096, 4096], []],
                     ["float", "float", "Scalar"], ["", "", "1"],
                     launch={"grid": [8, 1, 1], "block": [512, 1, 1]})  # fmt: skip
    assert judged([one]).only().rule == "small-grid"
    off = judged([one], options=Options(rules_off=frozenset({"small-grid"}))).only()
    assert off.rule == "memory-bound-slow"


def test_without_its_rule_the_roof_excuses_nothing(add: Callable[..., KernelGroup]) -> None:
    on, off = add(0.85), add(0.85, rules_off=frozenset({"at-roof"}))
    assert (on.rule, on.lost_ns) == ("at-roof", 0)
    assert off.rule == "" and off.layer == Layer.UNKNOWN
    # The ideal is 90 % of the data sheet and, without trivial kernels, a floor of 1 µs.
    ideal_us = 1.0 + AT_SHEET_US / 0.9
    assert off.lost_ns == pytest.approx(1e3 * (AT_SHEET_US / 0.85 - ideal_us), abs=2)


def test_the_height_of_the_roof_can_be_set(add: Callable[..., KernelGroup]) -> None:
    assert add(0.7).rule == ""
    lower = add(0.7, settings={"at-roof": {"bandwidth": 0.65}})
    assert (lower.rule, lower.lost_ns) == ("at-roof", 0)


@pytest.mark.parametrize(("share", "impossible"), [(1.25, True), (1.05, False)])
def test_the_limit_of_possible_rates_can_be_set(
    judged: Judged, call_class: Any, share: float, impossible: bool
) -> None:
    # 2 x 8192**3 flops in bf16, 989.4 TFLOP/s at most.
    took = 2 * 8192**3 / (989.4e6 * share)
    one = call_class("aten::mm", [("nvjet_tst_128x256", 2000, round(took, 3))],
                     [[8192, 8192], [8192, 8192]], ["c10::BFloat16"] * 2)  # fmt: skip
    assert ("impossible" in judged([one]).only().flags) is impossible
    raised = judged([one], options=Options(settings={"Q10": {"matrix": 1.3}})).only()
    assert "impossible" not in raised.flags


def test_attention_is_not_gathered_where_its_rule_is_off(judged: Judged, call_class: Any) -> None:
    def bmm(start: float, left: list[int], right: list[int]) -> Any:
        return call_class("aten::bmm", [("nvjet_hsh_64x8", start, 300)], [left, right],
                          ["c10::BFloat16"] * 2)  # fmt: skip

    scores = [96, 2048, 2048]
    softmax = call_class("aten::_softmax", [("cunn_SoftMaxForward", 2400, 900)],
                         [scores, [], []], ["c10::BFloat16", "Scalar", "Scalar"],
                         ["", "-1", "False"])  # fmt: skip
    calls = [bmm(2000, [96, 2048, 64], [96, 64, 2048]), softmax,
             bmm(3400, scores, [96, 2048, 64])]  # fmt: skip
    assert {group.rule for group in judged(calls).groups.values()} == {"unfused-attention"}
    off = judged(calls, options=Options(rules_off=frozenset({"unfused-attention"})))
    assert "unfused-attention" not in {group.rule for group in off.groups.values()}
