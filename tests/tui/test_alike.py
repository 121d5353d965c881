"""Rows of the kernel table that look alike are told apart."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.recording import build_analysis, build_trace
from whichlayer.tui.alike import differences, told_apart

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


XMMA = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize"


def test_names_with_one_beginning_are_cut_where_they_differ() -> None:
    names = [f"{XMMA}128x128x64_kernel", f"{XMMA}64x128x64_kernel", "flash_fwd_kernel d64"]
    for room in (20, 30, 48):
        texts = told_apart(names, [room] * 3)
        assert len(set(texts)) == 3 and all(len(text) <= room for text in texts)
        assert texts[0].startswith("sm90_x") and texts[2] == names[2][:room]


def test_names_that_are_told_apart_anyway_keep_their_beginning() -> None:
    assert told_apart(["gemm_one_more", "sort_one_more"], [6, 6]) == ["gemm_…", "sort_…"]


@given(st.lists(st.text("ab_xé", max_size=12), max_size=8), st.integers(0, 14))
def test_no_name_is_wider_than_its_room(names: list[str], room: int) -> None:
    texts = told_apart(names, [room] * len(names))
    assert all(len(text) <= room for text in texts)
    alone = [name for name in names if len(name) <= room]
    assert [text for name, text in zip(names, texts, strict=True) if len(name) <= room] == alone
