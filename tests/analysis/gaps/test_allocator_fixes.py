"""What to change about an allocation depends on the call."""

from __future__ import annotations

import pytest

from whichlayer.analysis.gaps.catalogue import fix_of


@pytest.mark.parametrize(
    "call", ["cudaHostAlloc", "hipHostMalloc", "cuMemHostAlloc", "cudaFreeHost"]
)
def test_pinned_memory_is_reused_and_no_business_of_the_device_allocator(call: str) -> None:
    fix = fix_of("allocator", call)
    assert "pinned" in fix
    assert "expandable_segments" not in fix


def test_device_memory_of_cuda_and_rocm_has_its_own_setting() -> None:
    assert "PYTORCH_CUDA_ALLOC_CONF" in fix_of("allocator", "cudaMalloc")
    assert "PYTORCH_HIP_ALLOC_CONF" in fix_of("allocator", "hipMalloc")


def test_workspaces_of_convolutions_are_told_by_the_operator_around() -> None:
    around = ("aten::miopen_convolution", "aten::_convolution")
    assert "MIOPEN" in fix_of("allocator", "hipFree", around)
    assert "cudnn.benchmark" in fix_of("allocator", "cudaFree", ("aten::cudnn_convolution",))
    assert "benchmark" not in fix_of("allocator", "cudaFree", ("ConvNet.forward",))
