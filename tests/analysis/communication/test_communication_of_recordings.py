"""Real recordings: communication as plain loops over the events' own figures find it."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.recordings import analysed
from whichlayer.analysis import load
from whichlayer.analysis.activities import role_of
from whichlayer.analysis.communication.calls import overlaps_of
from whichlayer.analysis.communication.collectives import find_collectives
from whichlayer.analysis.communication.copies import find_copies
from whichlayer.analysis.communication.job import analyse_job
from whichlayer.analysis.results import GapKind, Role
from whichlayer.analysis.trace.kinds import SliceKind

COMMUNICATE = (
    "hta_a100_dlrm_8rank_r3.json.gz",
    "hta_v100_cuda_graphs.json.gz",
    "tl_b200_vllm_eager.json.gz",
    "dlrm_v100_8rank/worker0.pt.trace.json.gz",
    "dlrm_v100_8rank/worker7.pt.trace.json.gz",
)
DLRM = "dlrm_v100_8rank"


def events(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes())
    found: list[dict[str, Any]] = json.loads(text, parse_float=Decimal)["traceEvents"]
    return found


def nanoseconds(time: object) -> int:
    return int(Decimal(str(time)) * 1000)


def gpu_work(path: Path) -> list[tuple[int, int, Role]]:
    """(start, end, role) of every activity, in whole nanoseconds of the file's clock."""
    kinds = {
        "kernel": SliceKind.KERNEL,
        "gpu_memcpy": SliceKind.MEMCPY,
        "gpu_memset": SliceKind.MEMSET,
    }
    found = []
    for event in events(path):
        kind = kinds.get(str(event.get("cat", "")).lower())
        if kind is not None:
            start = nanoseconds(event["ts"])
            found.append((start, start + nanoseconds(event["dur"]), role_of(kind, event["name"])))
    return found


def alone_and_all(path: Path, low: int, high: int) -> tuple[int, int]:
    """Time with collectives and without compute, and all time with collectives, by a sweep."""
    changes = []
    for start, end, role in gpu_work(path):
        start, end = max(start, low), min(end, high)
        if end > start:
            changes += [(start, role, 1), (end, role, -1)]
    running: dict[Role, int] = defaultdict(int)
    alone = together = 0
    previous = low
    for time, role, change in sorted(changes):
        if running[Role.COMM]:
            together += time - previous
            alone += 0 if running[Role.COMPUTE] else time - previous
        running[role] += change
        previous = time
    return alone, together


@pytest.mark.parametrize("name", COMMUNICATE)
def test_overlap_is_that_of_a_plain_sweep(name: str, traces: Path) -> None:
    analysis = analysed(traces / name)
    origin, window = analysis.trace.origin_ns, analysis.window
    (overlap,) = overlaps_of(analysis)
    alone, together = alone_and_all(traces / name, origin + window.start_ns, origin + window.end_ns)
    found = overlap.communication
    assert (found.exposed_ns, found.busy_ns) == (alone, together)


def test_exposed_parts_sum_to_those_of_every_recording(traces: Path) -> None:
    for name in json.loads((traces / "expected.json").read_text()):
        analysis = analysed(traces / name)
        gaps, collectives, copies = analysis.gaps, find_collectives(analysis), find_copies(analysis)
        for i, overlap in enumerate(overlaps_of(analysis)):
            mine = gaps.device == i
            length = gaps.end_ns - gaps.start_ns
            comm = int(length[mine & (gaps.kind == GapKind.EXPOSED_COMM)].sum())
            copy = int(length[mine & (gaps.kind == GapKind.EXPOSED_COPY)].sum())
            assert overlap.communication.exposed_ns == comm, name
            assert overlap.copies.exposed_ns == copy, name
            assert sum(g.exposed_ns for g in collectives if g.device == i) == comm, name
            assert sum(g.exposed_ns or 0 for g in copies if g.device == i) == copy, name
        assert all(group.why or group.bytes is not None for group in collectives), name
        assert all(group.why or group.bytes is not None for group in copies), name


def test_all_gather_of_a_b200_has_the_bandwidth_of_its_arguments(traces: Path) -> None:
    name = "tl_b200_vllm_eager.json.gz"
    (kernel,) = [
        event
        for event in events(traces / name)
        if event.get("args", {}).get("Collective name") and event["cat"] == "kernel"
    ]
    known = kernel["args"]
    rate = known["Out msg nelems"] * 2 / float(kernel["dur"] * 1000)
    groups = find_collectives(analysed(traces / name))
    (gathered,) = [group for group in groups if group.known.kind == "all-gather"]
    assert gathered.bytes == 402_176
    assert gathered.algbw_gbps == pytest.approx((rate, rate), rel=1e-4)
    assert gathered.busbw_gbps == pytest.approx((rate * 7 / 8, rate * 7 / 8), rel=1e-4)
    reduced = [group for group in groups if group.known.kind == "all-reduce"]
    assert {group.bytes for group in reduced} == {888 * 2880 * 2, 888 * 3072 * 2}
    assert sum(group.calls for group in reduced) == 73


def test_collectives_of_older_recordings_have_the_sizes_of_their_annotations(traces: Path) -> None:
    groups = find_collectives(analysed(traces / "hta_a100_dlrm_8rank_r3.json.gz"))
    sizes = {(g.known.kind, g.known.given, g.known.dtype): g.calls for g in groups}
    assert sizes["all-to-all", 8 * 1024 * 8816, "fp32"] == 6
    assert sizes["all-reduce", 45_310_188, "fp32"] == 6
    assert all(g.busbw_gbps is None and "not recorded" in g.why for g in groups)


def test_lateness_of_eight_ranks_is_that_of_plain_loops(traces: Path) -> None:
    paths = sorted(str(path) for path in (traces / DLRM).glob("*.gz"))
    lengths = [
        [
            nanoseconds(event["dur"])
            for event in sorted(
                (e for e in events(Path(path)) if e.get("cat") == "kernel" and "nccl" in e["name"]),
                key=lambda event: Decimal(event["ts"]),
            )
        ]
        for path in paths
    ]
    job = analyse_job(str(traces / DLRM), paths, load)
    assert job.comparison is not None
    (matched,) = job.comparison.matching.matched
    assert (len(matched), len(matched.who), matched.by) == (8, 8, "order")
    late = job.comparison.lateness
    for rank, one in enumerate(late.ranks):
        longest = [max(mine[c] for mine in lengths) for c in range(8)]
        assert one.lateness_ns == sum(longest[c] - lengths[rank][c] for c in range(1, 8))
        assert one.first_ns == longest[0] - lengths[rank][0]
    # All ranks leave each collective within 10 µs: they are the same ones.
    assert late.trusted
    assert late.agreement_ns is not None
    assert late.agreement_ns <= 10_000
    assert {job.comparison.records[p].rank for p in late.stragglers} == {4, 5, 7}
