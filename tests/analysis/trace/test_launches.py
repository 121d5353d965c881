"""The launch of every GPU activity against the plain definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.trace.kinds import GPU_WORK, SliceKind
from whichlayer.analysis.trace.launches import join_launches

KINDS = (
    SliceKind.KERNEL,
    SliceKind.MEMCPY,
    SliceKind.RUNTIME,
    SliceKind.CPU_OP,
    SliceKind.GPU_ANNOTATION,
)
Row = tuple[SliceKind, int, int, int]
ROWS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(-1, 4), st.integers(-1, 4), st.integers(0, 9)),
    max_size=30,
)


def join(rows: list[Row]) -> list[int]:
    kind = np.array([row[0] for row in rows], np.uint8)
    correlation, external, start = (
        np.array([row[part] for row in rows], np.int64) for part in (1, 2, 3)
    )
    launches: list[int] = join_launches(kind, correlation, external, start).tolist()
    return launches


def naive(rows: list[Row]) -> list[int]:
    correlated = any(kind in GPU_WORK and number > 0 for kind, number, _, _ in rows)
    part = 1 if correlated else 2
    launches = []
    for row in rows:
        calls = [
            (call[3], index)
            for index, call in enumerate(rows)
            if call[0] == SliceKind.RUNTIME and call[part] == row[part]
        ]
        calls.sort()
        if row[0] not in GPU_WORK or row[part] < 1 or not calls:
            launches.append(-1)
            continue
        before = [index for start, index in calls if start <= row[3]]
        launches.append(before[-1] if before else calls[0][1])
    return launches


@given(ROWS)
def test_launch_is_the_last_call_of_the_number_that_began_before(rows: list[Row]) -> None:
    assert join(rows) == naive(rows)


def test_one_graph_launch_owns_many_kernels() -> None:
    rows = [(SliceKind.RUNTIME, 7, 0, 0)] + [(SliceKind.KERNEL, 7, 0, n) for n in range(400)]
    assert join(rows) == [-1] + [0] * 400
