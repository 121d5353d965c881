"""The command for hardware counters names the kernel and the launch, and nothing dangerous."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from whichlayer.analysis.kernels.names import function_name

Judged = Callable[..., Any]
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, int>(int)"


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Any:
    """The Call class of the conftest beside this file."""
    return request.getfixturevalue("call_class")


def add(call: Any, name: str, start: float, duration: float, size: int = 4096) -> Any:
    return call("aten::add", [(name, start, duration)], [[size, size], [size, size], []],
                ["float", "float", "Scalar"], ["", "", "1"])  # fmt: skip


def test_the_command_counts_the_launches_of_the_function(judged: Judged, call: Any) -> None:
    # The same function with another template argument, twice before the slow kernel.
    other = ADD.replace("add<float>", "mul<float>")
    found = judged([
        add(call, other, 2000, 3, 64), add(call, "unrelated", 2010, 3, 64),
        add(call, other, 2020, 3, 64), add(call, ADD, 2100, 500),
    ])  # fmt: skip
    group = next(one for one in found.analysis.kernels if one.rule == "memory-bound-slow")
    assert group.counters == (
        "ncu --set full --kernel-name vectorized_elementwise_kernel --launch-skip 2 "
        "--launch-count 1 python TRAIN.py"
    )


def test_only_kernels_that_are_to_blame_themselves_have_one(judged: Judged, call: Any) -> None:
    found = judged([add(call, ADD, 2000, 70)])
    assert found.only().rule == "at-roof"
    assert found.only().counters == ""


def test_amd_has_its_own_tool(judged: Judged, call: Any) -> None:
    card = {"id": 0, "name": "AMD Instinct MI300X", "totalGlobalMem": 206_141_652_992,
            "numSms": 304, "computeMajor": 9, "computeMinor": 4, "warpSize": 64}  # fmt: skip
    found = judged([add(call, "Cijk_slow_add.kd", 2000, 500)], card)
    assert found.only().rule == "memory-bound-slow"
    assert found.only().counters == (
        "rocprof-compute profile -n whichlayer -k Cijk_slow_add -- python TRAIN.py"
    )


@pytest.mark.parametrize(
    "name", ["evil; rm -rf ~", "a b", "$(x)", "\x1b[31mred", "`x`", "", "-k", "'", "[bold]"]
)
def test_a_name_that_a_shell_would_read_gives_no_command(
    judged: Judged, call: Any, name: str
) -> None:
    found = judged([add(call, name, 2000, 500)])
    command = found.analysis.kernels[0].counters
    assert command == "" or shlex.split(command)[4] == name
    assert not set(command) & set(";`'\x1b[]$()")


@pytest.mark.parametrize(
    ("name", "function"),
    [
        (ADD, "vectorized_elementwise_kernel"),
        ("ampere_sgemm_128x128_nn", "ampere_sgemm_128x128_nn"),
        ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_nn>(Params)", "Kernel"),
        ("void (anonymous namespace)::softmax_warp_forward<float, 10, true>(float*)",
         "softmax_warp_forward"),
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
    ],
)  # fmt: skip
def test_functions_are_named_as_the_tool_names_them(name: str, function: str) -> None:
    assert function_name(name) == function
