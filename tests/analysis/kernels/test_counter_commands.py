"""The command for hardware counters names the kernel and the launch, and nothing dangerous."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.counters import LaunchNumbers
from whichlayer.analysis.kernels.names import function_name
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

Judged = Callable[..., Any]
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, int>(int)"


@pytest.fixture
def call(request: pytest.FixtureRequest) -> Any:
    """The Call class of the conftest beside this file."""
    return request.getfixturevalue("call_class")


def command_for(name: str) -> str:
    """The command for the only kernel of a recording."""
    trace = SimpleNamespace(
        kind=np.array([SliceKind.KERNEL], np.uint8), name_id=np.zeros(1, np.int32),
        launch=np.full(1, -1, np.int32), start_ns=np.zeros(1, np.int64), strings=(name,),
    )  # fmt: skip
    return LaunchNumbers(cast(Trace, trace), "nvidia").command(0)


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


def filter_of(command: str) -> argparse.Namespace:
    """What ``ncu`` reads of a command line after the shell."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--set")
    parser.add_argument("--kernel-name")
    parser.add_argument("--launch-skip", type=int)
    parser.add_argument("--launch-count", type=int)
    parser.add_argument("program", nargs="*")
    program, *arguments = shlex.split(command)
    assert program == "ncu"
    found = parser.parse_args(arguments)
    assert found.program == ["python", "TRAIN.py"]
    return found


def fits(wanted: str, name: str) -> bool:
    """Whether ``ncu`` would take a function of that name."""
    kind, colon, expression = wanted.partition(":")
    if kind == "regex" and colon:
        return re.search(expression, name) is not None
    return wanted == name


@pytest.mark.parametrize(
    "name",
    [
        "evil; rm -rf ~",
        "a b",
        "it's",
        'say "x"',
        "$HOME",
        "`x`",
        "a|b",
        "x*",
        "kernel.1",
        "[bold]red",
        "a\\b",
        "regex:a",
        "plain_name",
        "vectorized_gather_kernel",
    ],
)
def test_the_shell_and_the_tool_read_exactly_this_name(
    judged: Judged, call: Any, name: str
) -> None:
    found = judged([add(call, name, 2000, 500)])
    command = found.analysis.kernels[0].counters
    read = filter_of(command)
    assert fits(read.kernel_name, function_name(name))
    for other in (f"{name}x", f"x{name}", name.replace("*", "y").replace(".", "y") + " ", "a"):
        if function_name(other) != function_name(name):
            assert not fits(read.kernel_name, other)
    assert (read.launch_skip, read.launch_count, read.set) == (0, 1, "full")


@pytest.mark.parametrize("name", ["\x1b[31mred", "", "-k", "line\nbreak", "ä", "x" * 5000])
def test_a_name_that_no_command_line_should_hold_gives_none(
    judged: Judged, call: Any, name: str
) -> None:
    found = judged([add(call, name, 2000, 500)])
    assert found.analysis.kernels[0].counters == ""


@given(st.text(st.characters(min_codepoint=1, max_codepoint=0x17F), min_size=1, max_size=40))
def test_no_name_gets_beyond_its_argument(name: str) -> None:
    command = command_for(name)
    if not command:
        return
    assert command.isprintable() and command.isascii()
    read = filter_of(command)
    assert fits(read.kernel_name, function_name(name.removesuffix(".kd")))


def test_launches_of_all_devices_and_streams_are_counted_in_the_order_of_launching(
    judged: Judged, call: Any
) -> None:
    # On the device the third launch runs first: what counts is when it was launched.
    found = judged([
        replace(add(call, ADD, 3000, 3, 64), stream=20), add(call, ADD, 3010, 3, 64),
        replace(add(call, ADD, 2000, 500), stream=21), add(call, ADD, 4000, 3, 64),
    ])  # fmt: skip
    group = next(one for one in found.analysis.kernels if one.rule == "memory-bound-slow")
    assert filter_of(group.counters).launch_skip == 2


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
