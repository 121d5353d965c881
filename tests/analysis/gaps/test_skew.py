"""Which kernels before their launch show a clock that is off, and which a wrong time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.program import Program
from whichlayer.analysis.errors import Severity
from whichlayer.analysis.gaps.skew import BELIEVED_NS, HANDFUL, MAX_SKEW_NS, Skew, read_skew

LATENCY = 7_000


def read(lead: list[int]) -> Skew:
    everything = np.ones(len(lead), np.bool_)
    return read_skew(np.array(lead, np.int64), everything, everything)


def test_a_skew_that_most_kernels_show_is_one() -> None:
    skew = read([40_000 - LATENCY + n for n in range(200)] + [-LATENCY] * 20)
    assert skew.skew_ns == 40_000 - LATENCY + 199
    assert skew.trusted and not skew.odd.any()


@pytest.mark.parametrize("count", [1, HANDFUL])
def test_a_few_that_are_early_by_far_more_are_odd_and_no_skew(count: int) -> None:
    skew = read([-LATENCY] * 300 + [5_000_000] * count)
    assert skew.skew_ns == 0 and skew.trusted
    assert np.flatnonzero(skew.odd).tolist() == list(range(300, 300 + count))


def test_odd_times_leave_the_skew_of_the_others() -> None:
    skew = read([9_000] * 100 + [-LATENCY] * 100 + [30_000_000])
    assert skew.skew_ns == 9_000 and int(skew.odd.sum()) == 1


def test_a_single_small_lead_is_believed() -> None:
    assert read([-LATENCY] * 50 + [BELIEVED_NS]).skew_ns == BELIEVED_NS


def test_clocks_are_not_trusted_where_many_disagree_widely() -> None:
    skew = read([-LATENCY] * 100 + [1_000_000 * n for n in range(1, 40)])
    assert not skew.trusted


def test_a_skew_beyond_every_latency_is_not_trusted_however_many_share_it() -> None:
    assert not read([MAX_SKEW_NS + 1] * 100).trusted


@given(st.lists(st.integers(-(10**9), 10**9), max_size=300))
def test_only_a_few_are_ever_odd_and_none_within_the_skew(lead: list[int]) -> None:
    skew = read(lead)
    leads = np.array(lead, np.int64)
    assert int(skew.odd.sum()) <= max(HANDFUL, len(lead) // 100)
    assert 2 * int(skew.odd.sum()) <= len(lead)
    assert (leads[skew.odd] > max(skew.skew_ns, BELIEVED_NS)).all()
    assert (leads[~skew.odd] <= max(skew.skew_ns, 0)).all()


def steady(kernels: int = 100) -> Program:
    program = Program()
    for n in range(kernels):
        program.operator("aten::mul", 985 + 200 * n, 12)
        program.kernel("k", 1000 + 200 * n, 50, (990 + 200 * n, 5))
    return program


def test_one_early_kernel_costs_only_the_gaps_beside_it(tmp_path: Path) -> None:
    sound = steady().analysis(tmp_path)
    program = steady()
    program.kernel("odd", 5090, 50, (9990, 5))
    analysis = program.analysis(tmp_path)
    (warning,) = (one for one in analysis.warnings if one.code == "Q4")
    assert warning.count == 1 and "odd" in warning.message and warning.byte_offset > 0
    assert warning.severity == Severity.NOTE
    assert analysis.floor_ns == sound.floor_ns
    gaps = analysis.gaps
    unknown = [i for i in range(len(gaps.start_ns)) if gaps.rule(i) == "unattributed"]
    assert len(unknown) == 2
    assert len(gaps.start_ns) > 90


def test_without_a_common_clock_no_gap_has_an_owner(tmp_path: Path) -> None:
    program = Program()
    for n in range(60):
        program.kernel("k", 100_000 + 2000 * n, 50, (100_000 + 2000 * n + 700 * (n % 7), 5))
    analysis = program.analysis(tmp_path)
    (warning,) = (one for one in analysis.warnings if one.code == "Q4")
    assert warning.severity == Severity.DOUBT
    assert {analysis.gaps.rule(i) for i in range(len(analysis.gaps.start_ns))} == {"unattributed"}
    assert analysis.verdict.side == "unclear"
    assert "[Q4]" in analysis.verdict.caveat
