"""Copies in the hooks of sharding and offloading are parameters; a batch stays a batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis.gaps.parameter_copies import PARAMETER_FIX
from whichlayer.analysis.results import Finding


def copied_in(folder: Path, *names: str, source: str = "Pinned") -> Finding:
    """The finding of one large copy that only these slices enclose, outermost first."""
    program = Program()
    program.kernel("before", 10, 50, (0, 5))
    for depth, name in enumerate(names):
        program.annotation(name, 62 + depth, 900 - 2 * depth)
    program.operator("aten::to", 80, 60)
    program.operator("aten::copy_", 82, 50)
    program.copy(f"Memcpy HtoD ({source} -> Device)", 110, 3000, (90, 5), bytes=1 << 28)
    program.kernel("after", 3112, 50, (150, 5))
    (found,) = (f for f in program.analysis(folder).findings if f.rule.startswith("h2d-"))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "FSDP::pre_forward (encoder.block.3)",
        "FSDP::all_gather_copy_in",
        "FullyShardedDataParallel._pre_forward",
        "torch/distributed/fsdp/_flat_param.py(1300): pre_unshard",
        "deepspeed/runtime/zero/partition_parameters.py(1201): all_gather",
        "offload_params",
    ],
)
@pytest.mark.parametrize("source", ["Pinned", "Pageable"])
def test_a_copy_in_a_parameter_hook_is_offload_with_the_hook_in_its_place(
    tmp_path: Path, name: str, source: str
) -> None:
    found = copied_in(tmp_path, "FullyShardedDataParallel.forward", name, source=source)
    assert found.fix == PARAMETER_FIX
    assert name in str(found.where.operator)


@pytest.mark.parametrize(
    "names",
    [
        (),
        ("train",),
        ("FullyShardedDataParallel.forward",),
        ("FSDP::root_pre_forward",),
        ("FSDP::pre_forward (a)", "move_batch"),
    ],
)
def test_a_copy_outside_such_hooks_keeps_its_fix(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert copied_in(tmp_path, *names).fix != PARAMETER_FIX
