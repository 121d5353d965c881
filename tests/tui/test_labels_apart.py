"""Names in little room keep what tells them from one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from whichlayer.analysis.kernels.names_apart import names_apart
from whichlayer.analysis.reader.opening import open_trace
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.labels_apart import labels_apart, told_apart

XMMA = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize"


def test_names_with_one_beginning_are_cut_where_they_differ() -> None:
    names = [f"{XMMA}128x128x64_kernel", f"{XMMA}64x128x64_kernel", "flash_fwd_kernel d64"]
    for room in (20, 30, 48):
        texts = told_apart(names, [room] * 3)
        assert len(set(texts)) == 3 and all(len(text) <= room for text in texts)
        assert texts[0].startswith("sm90") and "128x128x64" in texts[0]
        assert texts[1].startswith("sm90") and "…64x128x64" in texts[1].replace("size", "…")
        assert texts[2] == names[2][:room]


def test_names_that_are_told_apart_anyway_keep_their_beginning() -> None:
    assert told_apart(["gemm_one_more", "sort_one_more"], [6, 6]) == ["gemm_…", "sort_…"]


@given(st.lists(st.text("ab_xé", max_size=12), max_size=8), st.integers(0, 14))
def test_no_name_is_wider_than_its_room(names: list[str], room: int) -> None:
    texts = told_apart(names, [room] * len(names))
    assert all(cell_len(text) <= room for text in texts)
    alone = [name for name in names if len(name) <= room]
    assert [text for name, text in zip(names, texts, strict=True) if len(name) <= room] == alone


def test_what_names_share_goes_before_what_tells_them_apart() -> None:
    names = ["cudnn bn_fw_tr_1C11_kernel_NCHW", "cudnn bn_bw_1C11_kernel_new",
             "cudnn bn_fw_tr_1C11_singleread", "cudnn bn_bw_1C11_singleread"]  # fmt: skip
    texts = dict(zip(names, told_apart(names, [16] * 4), strict=True))
    assert "NCHW" in texts[names[0]] and "new" in texts[names[1]]
    assert "fw" in texts[names[2]] and "bw" in texts[names[3]]
    assert "1C11_kernel" not in "".join(texts.values())


def test_words_that_part_one_group_are_kept_where_another_group_looks_alike() -> None:
    names = [f"cudnn winograd{way}{what}4x4" for way in ("Forward", "Wgrad") for what in
             ("Data", "Output")]  # fmt: skip
    labels = labels_apart(dict.fromkeys(names, 17))
    assert len(set(labels.of.values())) == 4 and not labels.numbered


def test_names_that_no_part_tells_apart_are_numbered() -> None:
    labels = labels_apart({"a" * length: 6 for length in (30, 31, 32)})
    assert sorted(labels.of.values()) == ["aaa…#1", "aaa…#2", "aa…aa…"]
    assert len(labels.numbered) == 2


names_of_kernels = st.lists(
    st.lists(
        st.sampled_from(["sm80", "_xmma", "_gemm", "bf16", "_tn", "128x64", "Large", "<", "::", "é", "矩"]),
        min_size=1, max_size=12,
    ).map("".join),
    max_size=30, unique=True,
)  # fmt: skip


@given(names_of_kernels, st.integers(6, 40))
def test_no_two_names_look_alike(names: list[str], room: int) -> None:
    labels = labels_apart(dict.fromkeys(names, room))
    assert len(set(labels.of.values())) == len(names)
    assert all(cell_len(text) <= room for text in labels.of.values())


@given(names_of_kernels, st.integers(6, 40))
def test_a_name_has_one_label_in_any_order(names: list[str], room: int) -> None:
    rooms = dict.fromkeys(names, room)
    assert labels_apart(rooms).of == labels_apart(dict.fromkeys(sorted(names), room)).of


@pytest.mark.parametrize("room", [16, 22, 32])
def test_no_two_kernels_of_a_real_recording_look_alike(traces: Path, room: int) -> None:
    seen = 0
    for name in ("kineto_resnet50_workers0.json.gz", "hta_v100_float_epoch.json.gz",
                 "tl_b200_vllm_eager.json.gz", "tl_mi300_ddp_resnet18.json.gz",
                 "tl_h100_bert.json.gz"):  # fmt: skip
        path = traces / name
        if not path.exists():
            continue
        trace = open_trace(path)
        known = {trace.strings[i] for i in trace.name_id[trace.kind == SliceKind.KERNEL].tolist()}
        names = {clean(text) for text in names_apart(known).values()}
        labels = labels_apart(dict.fromkeys(names, room))
        assert len(set(labels.of.values())) == len(names), name
        assert all(cell_len(text) <= room for text in labels.of.values())
        seen += len(names)
    assert seen
