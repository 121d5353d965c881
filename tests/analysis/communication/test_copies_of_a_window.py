"""Copies by direction and kind of host memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import Program
from whichlayer.analysis.communication.calls import overlaps_of
from whichlayer.analysis.communication.copies import direction_of, find_copies, memory_of

NAMES = {
    "Memcpy HtoD (Pageable -> Device)": ("HtoD", "pageable"),
    "Memcpy HtoD (Pinned -> Device)": ("HtoD", "pinned"),
    "Memcpy DtoH (Device -> Pinned)": ("DtoH", "pinned"),
    "Memcpy HtoD (Host -> Device)": ("HtoD", None),
    "Memcpy DtoD (Device -> Device)": ("DtoD", None),
    "Memcpy PtoP (Device -> Device)": ("PtoP", None),
    "Memcpy HtoD (Unified)": ("HtoD", "unified"),
    "CopyHostToDevice": ("HtoD", None),
    "CopyDeviceToHost": ("DtoH", None),
    "CopyPeerToPeer": ("PtoP", None),
    "Memcpy HtoA (Pinned -> Array)": ("HtoD", "pinned"),
    "Memcpy": ("other", None),
}


@pytest.mark.parametrize(("name", "kind"), NAMES.items())
def test_direction_and_memory_are_read_from_the_name(
    name: str, kind: tuple[str, str | None]
) -> None:
    assert (direction_of(name), memory_of(name)) == kind


def test_copies_are_summed_by_direction_and_memory(tmp_path: Path) -> None:
    made = Program()
    made.kernel("gemm", 10, 100, (0, 5))
    made.copy("Memcpy HtoD (Pinned -> Device)", 60, 100, (6, 5), bytes=3000, stream=9)
    made.copy("Memcpy HtoD (Pinned -> Device)", 200, 100, (6, 5), bytes=1000, stream=9)
    made.copy("Memcpy DtoH (Device -> Pageable)", 310, 40, (300, 50), bytes=80)
    made.copy("Memcpy DtoD (Device -> Device)", 400, 10, (390, 5), bytes=800)
    analysis = made.analysis(tmp_path)
    pinned, pageable, on_device = find_copies(analysis)
    assert (pinned.direction, pinned.memory, pinned.calls) == ("HtoD", "pinned", 2)
    assert pinned.bytes == 4000
    assert pinned.gbps == pytest.approx(0.02)
    assert (pinned.exposed_ns, pinned.hidden_ns, pinned.streams) == (150_000, 50_000, (9,))
    assert (pageable.memory, pageable.exposed_ns) == ("pageable", 40_000)
    assert (on_device.direction, on_device.exposed_ns, on_device.total_ns) == (
        "DtoD", None, 10_000,
    )  # fmt: skip
    (overlap,) = overlaps_of(analysis)
    assert (overlap.copies.busy_ns, overlap.copies.exposed_ns) == (240_000, 190_000)
    assert analysis.devices[0].exposed_copy_ns == 190_000


@pytest.mark.parametrize("size", [None, "N/A", -1, 1e9, True, 10**30, [1]])
def test_size_that_is_no_size_is_unknown(size: object, tmp_path: Path) -> None:
    made = Program()
    made.kernel(
        "Memcpy HtoD (Pinned -> Device)", 60, 100, (6, 5), category="gpu_memcpy", bytes=size
    )
    (group,) = find_copies(made.analysis(tmp_path))
    assert (group.bytes, group.gbps) == (None, None)
    assert "not recorded" in group.why


def test_amd_copies_say_that_pinning_is_not_told(tmp_path: Path) -> None:
    made = Program()
    made.copy("Memcpy HtoD (Host -> Device)", 60, 100, (6, 5))
    (group,) = find_copies(made.analysis(tmp_path))
    assert group.memory is None
    assert "pinned" in group.why
