"""Jobs of several ranks: each its own recording, on its own clock, in one folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.collectives import NCCL, arguments
from tests.support.program import Program

#: What a collective takes once every rank is there, in µs.
TRANSFER = 20


def write_job(
    folder: Path,
    arrivals: Sequence[Sequence[float]],
    *,
    sequence: bool = False,
    busy: bool = False,
    first_step: int | None = None,
    hidden: bool = False,
    **described: Any,
) -> Path:
    """Record a job whose ranks come to the same collectives at different times.

    Args:
        folder: where the recordings go.
        arrivals: for each rank, how long after the end of the collective before it is there.
        sequence: record sequence numbers.
        busy: the GPU works until its rank is there; else it idles while its host computes.
        hidden: every rank computes while it waits in a collective.
        first_step: number of the first step, of one collective each; no steps without.
        described: of the collectives, see ``arguments``.
    """
    ranks = len(arrivals)
    for old in files(folder):
        Path(old).unlink()
    for rank, mine in enumerate(arrivals):
        made, now = Program(), 1000.0 * rank
        made.kernel("gemm", now + 5, 10, (now, 2))
        now += 20
        for number, own in enumerate(mine):
            longest = max(others[number] for others in arrivals)
            begins = now + own
            if busy and own > 12:
                made.kernel("gemm", now + 2, own - 4, (now, 1))
            made.operator("aten::add_", now, max(own - 8, 0.5))
            length = longest - own + TRANSFER
            known = arguments(ranks=ranks, seq=number if sequence else None, **described)
            made.kernel(NCCL, begins, length, (begins - 6, 2), stream=20, **known)
            if hidden:
                made.kernel("gemm", begins, length, (begins - 3, 1))
            if first_step is not None:
                made.step(first_step + number, now, own + length + 1)
            now = begins + length + 2
        document = made.document() | {"distributedInfo": {"rank": rank, "world_size": ranks}}
        (folder / f"rank{rank}.pt.trace.json").write_text(json.dumps(document))
    return folder


def files(folder: Path) -> list[str]:
    """The recordings of a folder."""
    return sorted(str(path) for path in folder.glob("*.json"))
