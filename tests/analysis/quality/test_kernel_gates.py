"""Impossible rates (Q10) and kernels that run from the cache (Q11), counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Analysis

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"


def adding(folder: Path, elements: int, micros: float, pause: float = 0.0) -> Analysis:
    """Additions of that many floats that take so long each, on an A100 (40 MB L2, 2 TB/s)."""
    program = Program()
    shapes: dict[str, Any] = {
        "Input Dims": [[elements], [elements], []],
        "Input type": ["float", "float", "Scalar"],
        "Input Strides": [[1], [1], []],
    }
    for number in range(2):
        at = number * (80 * micros + 100 + pause)
        program.step(number, at, 80 * micros + 99 + pause)
        for i in range(40):
            begin = at + 20 + 2 * micros * i
            program.operator("aten::add", begin - 10, 8, **shapes)
            program.kernel(
                ADD,
                begin, micros, (begin - 9, 5),
            )  # fmt: skip
    return program.analysis(folder)


@pytest.mark.parametrize(
    ("elements", "micros", "code"),
    [
        (500_000, 20, ""),  # 6 MB at 0.3 TB/s
        (500_000, 2, "Q11"),  # 6 MB at 3 TB/s fit half of the L2
        (200_000_000, 900, "Q10"),  # 2.4 GB at 2.7 TB/s
        (200_000_000, 1_500, ""),  # 2.4 GB at 1.6 TB/s
    ],
)
def test_rates_above_memory_are_counted_by_what_explains_them(
    tmp_path: Path, elements: int, micros: float, code: str
) -> None:
    analysis = adding(tmp_path, elements, micros)
    found = [w for w in analysis.warnings if w.code in ("Q10", "Q11")]
    assert [w.code for w in found] == ([code] if code else [])
    if code:
        assert found[0].count == 80 and "of the data sheet's bandwidth" in found[0].message
        assert all(group.lost_ns == 0 for group in analysis.kernels)


@pytest.mark.parametrize(
    ("card", "share", "limit"),
    [("A100 SXM4 40GB", 1.2, "110 %"), ("GeForce RTX 4090", 1.4, "130 %")],
)
def test_the_limit_is_told_that_holds_for_the_card(
    tmp_path: Path, card: str, share: float, limit: str
) -> None:
    rate = {"A100 SXM4 40GB": 312e6, "GeForce RTX 4090": 165.2e6}[card]  # per µs, bf16
    program = Program()
    shapes: dict[str, Any] = {
        "Input Dims": [[4096, 4096], [4096, 4096]],
        "Input type": ["c10::BFloat16"] * 2,
    }
    micros = 2 * 4096**3 / (rate * share)
    options = Options(device_model=card)
    for number in range(2):
        at = number * 3000
        program.step(number, at, 2999)
        program.operator("aten::mm", at + 10, 8, **shapes)
        program.kernel("ampere_bf16_s16816gemm_bf16_128x128", at + 20, micros, (at + 11, 5))
    found = [w for w in program.analysis(tmp_path, options).warnings if w.code == "Q10"]
    assert len(found) == 1 and f"over {limit} of its rate" in found[0].message


def test_a_trifle_is_told_with_its_kernel_only(tmp_path: Path) -> None:
    analysis = adding(tmp_path, 500_000, 2, pause=50_000)
    assert any("cache-resident" in group.flags for group in analysis.kernels)
    assert not [w for w in analysis.warnings if w.code == "Q11"]
