from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.accounting import Instant, partition
from whichlayer.analysis.activities import Activities, role_of
from whichlayer.analysis.results import Role
from whichlayer.analysis.trace.kinds import SliceKind

activity = st.tuples(st.integers(0, 40), st.integers(0, 15), st.integers(0, 2))


def device(spans: list[tuple[int, int, int]]) -> Activities:
    spans = sorted(spans)
    start = np.array([s for s, _, _ in spans], np.int64)
    return Activities(
        number=0,
        row=np.arange(len(spans), dtype=np.int32),
        start_ns=start,
        end_ns=start + np.array([n for _, n, _ in spans], np.int64),
        role=np.array([r for _, _, r in spans], np.uint8),
        launch=np.full(len(spans), -1, np.int32),
        lane=np.zeros(len(spans), np.int32),
    )


def told_naively(activities: Activities, time: int) -> tuple[int, int]:
    """What an instant is, and whose, by looking at every activity."""
    for role in (Role.COMPUTE, Role.COMM, Role.COPY):
        for i in range(len(activities)):
            runs = activities.start_ns[i] <= time < activities.end_ns[i]
            if runs and activities.role[i] == role:
                return int(role), i
    return int(Instant.IDLE), -1


@given(st.lists(activity, max_size=10), st.integers(0, 60), st.integers(0, 60))
def test_every_instant_is_counted_once_and_belongs_to_the_first_that_started(
    spans: list[tuple[int, int, int]], p: int, q: int
) -> None:
    activities, low, high = device(spans), min(p, q), max(p, q)
    cut = partition(activities, low, high)
    parts = list(zip(cut.start_ns, cut.end_ns, cut.what, cut.owner, strict=True))
    covered = [t for start, end, _, _ in parts for t in range(start, end)]
    assert covered == list(range(low, high))
    for start, end, what, owner in parts:
        for time in range(start, end):
            expected = told_naively(activities, time)
            assert int(what) == expected[0]
            if owner >= 0:
                # Of equal starts either may own the instant, but only one does.
                assert activities.start_ns[owner] == activities.start_ns[expected[1]]
                assert activities.start_ns[owner] <= time < activities.end_ns[owner]
    assert int(cut.owned_ns(len(activities)).sum()) + cut.total(Instant.IDLE) == high - low


def test_idle_is_cut_at_zero_length_activities() -> None:
    cut = partition(device([(10, 0, 0)]), 0, 20)
    assert cut.start_ns.tolist() == [0, 10]
    assert cut.what.tolist() == [Instant.IDLE, Instant.IDLE]


def test_collectives_copies_and_own_work_are_told_apart() -> None:
    kernel, copy, memset = SliceKind.KERNEL, SliceKind.MEMCPY, SliceKind.MEMSET
    assert role_of(kernel, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)") == Role.COMM
    assert role_of(kernel, "multimem_all_reduce_kernel") == Role.COMM
    assert role_of(kernel, "void vllm::cross_device_reduce_1stage<half>") == Role.COMM
    assert role_of(kernel, "ampere_sgemm_128x128_tn") == Role.COMPUTE
    assert role_of(copy, "Memcpy DtoD (Device -> Device)") == Role.COMPUTE
    assert role_of(copy, "Memcpy HtoD (Pageable -> Device)") == Role.COPY
    assert role_of(copy, "Memcpy DtoH (Device -> Pinned)") == Role.COPY
    assert role_of(copy, "Memcpy PtoP (Device -> Device)") == Role.COPY
    assert role_of(memset, "Memset (Device)") == Role.COMPUTE
