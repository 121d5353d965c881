"""Rows of the kernel table that look alike are told apart."""

from __future__ import annotations

from dataclasses import replace

from tests.tui.recording import build_analysis, build_trace
from whichlayer.tui.alike import differences

GROUP = build_analysis(build_trace()).kernels[0]


def _differences(*rows: tuple[str, str, str]) -> dict[int, str]:
    groups = [replace(GROUP, short_name=n, shapes=s, operator=o) for n, s, o in rows]
    return differences(groups, lambda group: group.short_name)


def test_shapes_are_told_from_the_first_that_differs_and_types_where_they_do() -> None:
    assert _differences(
        ("gemm", "bf16[8] bf16[8,2]", ""), ("gemm", "bf16[8] bf16[8,4]", ""), ("other", "", "")
    ) == {0: "[8,2]", 1: "[8,4]"}
    assert _differences(("add", "fp32[8]", ""), ("add", "bf16[8]", "")) == {
        0: "fp32[8]",
        1: "bf16[8]",
    }
    assert _differences(("Memcpy HtoD", "4 MB", ""), ("Memcpy HtoD", "8 MB", "")) == {
        0: "4 MB",
        1: "8 MB",
    }


def test_the_operator_is_told_where_the_shapes_are_the_same() -> None:
    rows = [("copy", "fp32[8]", "aten::copy_"), ("copy", "fp32[8]", "aten::to")]
    assert _differences(*rows) == {0: "copy_", 1: "to"}


def test_names_that_are_there_once_or_differ_in_nothing_say_no_more() -> None:
    assert _differences(("a", "fp32[8]", "x"), ("b", "fp32[8]", "x")) == {}
    assert _differences(("a", "fp32[8]", "x"), ("a", "fp32[8]", "x")) == {}
