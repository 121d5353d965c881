"""Kinds of collectives by name, and the figures of nccl-tests."""

from __future__ import annotations

import pytest

from whichlayer.analysis.communication.collective_kinds import (
    bus_factor,
    kind_of,
    size_elements,
)

NAMES = {
    "allreduce": "all-reduce",
    "allreduce_coalesced": "all-reduce",
    "_allgather_base": "all-gather",
    "all_gather_into_tensor_coalesced": "all-gather",
    "_reduce_scatter_base": "reduce-scatter",
    "reduce_scatter_tensor_coalesced": "reduce-scatter",
    "all_to_allv": "all-to-all",
    "alltoall_base": "all-to-all",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "nccl:send 0->1": "send",
    "nccl:recv 0<-1": "recv",
    "barrier": "barrier",
    "wait": "other",
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "all-gather",
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long)": "all-reduce",
    "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)": "send-recv",
    "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": (
        "reduce-scatter"
    ),
    "ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": "reduce",
    "void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)": "all-reduce",
    "void vllm::cross_device_reduce_1stage<__half, 2>(vllm::RankData*)": "all-reduce",
    "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)": "expert-dispatch",
}


@pytest.mark.parametrize(("name", "kind"), NAMES.items())
def test_kind_is_read_from_the_name(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize(
    ("kind", "factor"),
    [
        ("all-reduce", 1.75),
        ("all-gather", 0.875),
        ("reduce-scatter", 0.875),
        ("all-to-all", 0.875),
        ("broadcast", 1.0),
        ("reduce", 1.0),
        ("send", 1.0),
        ("recv", 1.0),
        ("barrier", None),
        ("send-recv", None),
        ("other", None),
    ],
)
def test_bus_factor_of_eight_ranks_is_that_of_nccl_tests(kind: str, factor: float | None) -> None:
    assert bus_factor(kind, 8) == factor


def test_group_of_one_rank_has_no_bus_bandwidth() -> None:
    assert bus_factor("all-reduce", 1) is None


def test_size_is_the_whole_message_of_the_kind() -> None:
    assert size_elements("all-gather", 10, 80, 8) == 80
    assert size_elements("all-gather", 10, None, 8) == 80
    assert size_elements("all-gather", 10, None, None) is None
    assert size_elements("reduce-scatter", 80, 10, 8) == 80
    assert size_elements("all-reduce", 10, 10, 8) == 10
    assert size_elements("all-to-all", 12, 9, 8) == 12
    assert size_elements("recv", 0, 7, 2) == 7
    assert size_elements("barrier", 1, 1, 8) is None
