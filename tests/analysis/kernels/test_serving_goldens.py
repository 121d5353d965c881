"""Bytes of what inference engines and FBGEMM run, with the arithmetic of real events."""

from __future__ import annotations

from typing import Any

import pytest

from whichlayer.analysis.kernels.calls import Launch, OpCall
from whichlayer.analysis.kernels.work import Work, work_of

BF16 = "c10::BFloat16"
A = 888 * 2880 * 2


def work(name: str, dims: list[Any], types: list[str], kernels: tuple[str, ...] = ()) -> Work:
    detail = {"Input Dims": dims, "Input type": types}
    return work_of(OpCall.from_detail(name, detail, [Launch(kernel) for kernel in kernels]))


def test_vllm_rms_norm_writes_its_first_argument() -> None:
    # 888 x 2880 x 2 B written and read, and a weight of 2880 x 2 B.
    found = work("_C::rms_norm", [[888, 2880], [888, 2880], [2880], []], [BF16] * 3 + ["Scalar"])
    assert found.bytes == 2 * A + 5760


def test_vllm_fused_norm_reads_and_writes_both() -> None:
    # x and residual read and written: 4 x 888 x 2880 x 2 B; weight 2880 x 2 B.
    found = work(
        "_C::fused_add_rms_norm", [[888, 2880], [888, 2880], [2880], []], [BF16] * 3 + ["Scalar"]
    )
    assert found.bytes == 4 * A + 5760


def test_vllm_quantisation_writes_one_byte_an_element() -> None:
    # 888 x 512 x (1 + 2) and one float of scale.
    found = work("_C::static_scaled_fp8_quant", [[888, 512], [888, 512], []],
                 ["c10::Float8_e4m3fn", BF16, "float"])  # fmt: skip
    assert found.bytes == 888 * 512 * 3 + 4


def test_vllm_rotary_embedding_turns_query_and_key_in_place() -> None:
    # positions 888 x 8; q 888 x 512 and k 888 x 64, x 2 B, read and written;
    # a row of 64 x 2 B of the table for each position at most.
    found = work("_C::rotary_embedding",
                 [[888], [888, 512], [888, 64], [], [131072, 64], []],
                 ["long int", BF16, BF16, "Scalar", BF16, "Scalar"])  # fmt: skip
    turned = 888 * 8 + 2 * 888 * (512 + 64) * 2
    assert found.bytes == turned + 888 * 64 * 2
    assert (found.bound, found.least) == ("upper", turned)


def test_vllm_cache_writes_only_the_new_tokens() -> None:
    # k and v: 888 x 64 x 2 B read, x 1 B written each; slots 888 x 8 B; never the cache itself.
    found = work(
        "_C_cache_ops::reshape_and_cache_flash",
        [[888, 1, 64], [888, 1, 64], [4213816, 16, 1, 64], [4213816, 16, 1, 64], [888], [], [], []],
        [BF16, BF16, "unsigned char", "unsigned char", "long int", "", "float", "float"],
    )
    assert found.bytes == 2 * 888 * 64 * (2 + 1) + 888 * 8


def test_aiter_group_norm_of_two_kernels_reads_twice() -> None:
    # 512 x 128 x 128 x 2 B three times, weight and bias 512 x 2 B each.
    call = ("aiter::_groupnorm_run", [[1, 512, 128, 128], [], [512], [512], []],
            [BF16, "Scalar", BF16, BF16, "Scalar"])  # fmt: skip
    size = 512 * 128 * 128 * 2
    two = work(*call, ("groupnorm_kernel_dispatch_up", "groupnorm_kernel_dispatch_down"))
    assert (two.bytes, two.least) == (3 * size + 2048, 2 * size + 2048)
    assert work(*call, ("groupnorm_kernel",)).bytes == 2 * size + 2048


@pytest.mark.parametrize(
    ("name", "lists"),
    [
        ("fbgemm::recat_embedding_grad_output_mixed_D_batch", [8, 8]),
        ("fbgemm::permute_pooled_embs_auto_grad", [981, 980, 981, 980]),
    ],
)
def test_permuted_embeddings_are_read_and_written(name: str, lists: list[int]) -> None:
    # 1024 x 70904 floats twice, and the lists of int64: 1.2 TB/s in 0.49 ms on an A100.
    found = work(name, [[1024, 70904], *([n] for n in lists)], ["float", *("long" for _ in lists)])
    assert found.bytes == 2 * 1024 * 70904 * 4 + 8 * sum(lists)


def test_checked_indices_are_read_once() -> None:
    # 3 tables, 768 indices and 385 offsets of int64; the mode and the warnings are no data.
    found = work("fbgemm::bounds_check_indices", [[3], [768], [385], [], [1], []],
                 ["long int"] * 3 + ["Scalar", "long int", ""])  # fmt: skip
    assert found.bytes == 8 * (3 + 768 + 385)


def test_a_complete_sum_writes_one_more_than_it_reads() -> None:
    # 8192 int32 read, 8193 written.
    assert work("fbgemm::asynchronous_complete_cumsum", [[8192]], ["int"]).bytes == 4 * (
        8192 + 8193
    )
