"""Which collectives are the same on several ranks, who is late, and what it costs the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.collectives import NCCL, arguments
from tests.support.job import TRANSFER, files, write_job
from tests.support.program import Program
from whichlayer.analysis import Options, TraceError, load
from whichlayer.analysis.communication.job import Comparison, Job, analyse_job, compare_devices


def job_of(folder: Path, options: Options | None = None) -> Job:
    return analyse_job(str(folder), files(folder), load, options)


def compared(folder: Path, options: Options | None = None) -> Comparison:
    found = job_of(folder, options).comparison
    assert found is not None
    return found


ARRIVALS = [[40.0, 40, 45, 40, 40, 50], [41.0, 42, 40, 41, 42, 40], [40.0, 340, 340, 340, 340, 340]]


def test_rank_that_comes_late_is_the_straggler(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS))
    assert [found.records[p].name for p in found.lateness.stragglers] == ["rank 2"]
    late = found.lateness.ranks[2]
    assert (late.last, late.collectives) == (5, 5)
    # At each but the first: 340 µs against 40 to 50 of the other two, of which one is the middle.
    assert late.behind_ns == 1000 * sum(
        340 - max(a, b) for a, b in [(40, 42), (45, 40), (40, 41), (40, 42), (50, 40)]
    )
    assert late.lateness_ns == 1000 * sum(
        340 - min(a, b) for a, b in [(40, 42), (45, 40), (40, 41), (40, 42), (50, 40)]
    )


def test_lateness_is_the_longest_duration_minus_its_own(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS))
    lengths = np.stack([record.duration_ns for record in found.records], 1)
    expected = (lengths.max(axis=1)[:, None] - lengths)[1:].sum(axis=0)
    assert [one.lateness_ns for one in found.lateness.ranks] == expected.tolist()


def test_clocks_of_ranks_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = compared(write_job(tmp_path / "one", ARRIVALS))
    write_job(tmp_path / "two", ARRIVALS)
    for number, path in enumerate(files(tmp_path / "two")):
        document = json.loads(Path(path).read_text())
        for event in document["traceEvents"]:
            event["ts"] += 1_000_000 * (number + 7)
        Path(path).write_text(json.dumps(document))
    two = compared(tmp_path / "two")
    assert one.lateness == two.lateness


def test_cause_is_what_the_late_rank_did_before_the_collective(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS))
    cause = found.lateness.ranks[2].cause
    assert cause is not None
    assert cause.rule == "cpu-operator"
    assert cause.place is not None
    assert cause.place.rule == cause.rule
    assert cause.place.end_ns - cause.place.start_ns > 100_000


def test_example_of_a_late_rank_is_of_the_cause_that_is_told(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS))
    for record in found.records:
        told = [(rule, place.rule) for rule, by in record.places.items() for place in by.values()]
        assert told and all(rule == own for rule, own in told)


def test_cause_is_compute_where_the_gpu_worked_until_then(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS, busy=True))
    cause = found.lateness.ranks[2].cause
    assert cause is not None
    assert cause.rule == "compute"
    assert cause.more_compute_ns > 0.9 * found.lateness.ranks[2].behind_ns


def test_first_collective_does_not_make_a_straggler(tmp_path: Path) -> None:
    arrivals = [[40.0] * 5, [40.0] * 5, [9000.0, 40, 40, 40, 40]]
    found = compared(write_job(tmp_path, arrivals))
    assert found.lateness.stragglers == ()
    assert found.lateness.ranks[2].behind_ns == 0
    # Nobody is late at the first collective but the third rank, which comes last there.
    assert found.lateness.ranks[2].first_ns == 8_960_000


def test_equal_ranks_have_no_straggler(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, [[40.0] * 5] * 4))
    assert found.lateness.stragglers == ()
    assert all(one.waiting_ns == 0 for one in found.lateness.ranks)


def test_rank_that_nobody_waits_for_idly_is_no_straggler(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS, hidden=True))
    assert found.lateness.ranks[2].behind_ns > 1_000_000
    assert found.lateness.ranks[2].cost_ns == 0
    assert found.lateness.stragglers == ()


def test_two_ranks_are_enough(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS[1:]))
    assert found.lateness.stragglers == (1,)


times = st.integers(20, 400)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.integers(2, 4).flatmap(
        lambda n: st.lists(st.lists(times, min_size=n, max_size=n), min_size=2, max_size=6)
    )
)
def test_every_exposed_wait_is_charged_once(tmp_path: Path, by_collective: list[list[int]]) -> None:
    arrivals = [list(map(float, mine)) for mine in zip(*by_collective, strict=True)]
    found = compared(write_job(tmp_path, arrivals))
    ranks = found.lateness.ranks
    charged, waited = (
        sum(one.cost_ns for one in ranks),
        sum(one.exposed_waiting_ns for one in ranks),
    )
    assert waited - len(ranks) <= charged <= waited
    # Nothing runs beside a collective here, so that no wait is hidden.
    assert waited == sum(one.waiting_ns for one in ranks)


def test_sequence_numbers_match_ranks_that_began_to_record_at_different_times(
    tmp_path: Path,
) -> None:
    write_job(tmp_path, ARRIVALS, sequence=True)
    path = tmp_path / "rank1.pt.trace.json"
    document = json.loads(path.read_text())
    document["traceEvents"] = [
        event for event in document["traceEvents"] if event["args"].get("Seq") not in (0, 1)
    ]
    path.write_text(json.dumps(document))
    found = compared(tmp_path)
    (matched,) = found.matching.matched
    assert (matched.by, len(matched)) == ("sequence", 4)
    assert matched.at.tolist() == [[2, 0, 2], [3, 1, 3], [4, 2, 4], [5, 3, 5]]
    assert found.matching.unmatched == 4


def test_step_numbers_match_ranks_that_began_to_record_at_different_steps(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS, first_step=10)
    path = tmp_path / "rank1.pt.trace.json"
    document = json.loads(path.read_text())
    marks = [event for event in document["traceEvents"] if event["name"] == "ProfilerStep#10"]
    end = marks[0]["ts"] + marks[0]["dur"]
    document["traceEvents"] = [event for event in document["traceEvents"] if event["ts"] >= end]
    path.write_text(json.dumps(document))
    found = compared(tmp_path)
    assert sum(len(matched) for matched in found.matching.matched) == 5
    assert all(
        matched.at[0].tolist()[0] == matched.at[0].tolist()[1] + 1
        for matched in found.matching.matched
    )


def test_different_counts_cannot_be_matched_and_are_told(tmp_path: Path) -> None:
    write_job(tmp_path, [[40.0] * 5, [40.0] * 5])
    path = tmp_path / "rank1.pt.trace.json"
    document = json.loads(path.read_text())
    collectives = [event for event in document["traceEvents"] if event["name"] == NCCL]
    document["traceEvents"].remove(collectives[2])
    path.write_text(json.dumps(document))
    found = compared(tmp_path)
    assert found.matching.matched == []
    assert found.matching.unmatched == 9
    assert any("cannot be matched" in note and "rank 0" in note for note in found.matching.notes)
    assert found.lateness.stragglers == ()


def test_other_sizes_still_match_by_their_own_order(tmp_path: Path) -> None:
    for rank, count in ((0, 3), (1, 2)):
        made = Program()
        for i in range(3):
            made.kernel(NCCL, 100 * i + 10, 20, (100 * i, 5), **arguments(elements=7, ranks=2))
        for i in range(count):
            made.kernel(NCCL, 100 * i + 50, 20, (100 * i + 40, 5), **arguments(ranks=2))
        document = made.document() | {"distributedInfo": {"rank": rank, "world_size": 2}}
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(document))
    found = compared(tmp_path)
    # Order within the group is lost where counts differ, unless each size keeps its own.
    assert sorted((matched.by, len(matched)) for matched in found.matching.matched) == [("size", 3)]
    assert found.matching.unmatched == 5


def test_groups_with_other_members_are_not_mixed(tmp_path: Path) -> None:
    for rank in range(4):
        members = [0, 1] if rank < 2 else [2, 3]
        late = 300 if rank == 3 else 0
        made = Program()
        for i in range(4):
            begins = 1000 * i + 100 + late
            end = 1000 * i + (500 if rank > 1 else 150)
            known = arguments(ranks=2) | {"Process Group Ranks": str(members)}
            made.kernel(NCCL, begins, end - begins, (begins - 6, 2), **known)
        document = made.document() | {"distributedInfo": {"rank": rank, "world_size": 4}}
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(document))
    found = compared(tmp_path)
    assert sorted(matched.who for matched in found.matching.matched) == [(0, 1), (2, 3)]
    assert found.lateness.stragglers == (3,)
    assert found.lateness.ranks[0].lateness_ns == found.lateness.ranks[1].lateness_ns == 0


@pytest.mark.parametrize("name", ["send", "recv", "broadcast", "reduce"])
def test_collectives_that_not_all_wait_in_are_not_compared(name: str, tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS, name=name))
    assert found.matching.matched == []
    assert found.matching.unmatched == 18
    assert found.lateness.stragglers == ()


def test_ends_that_do_not_agree_prove_a_wrong_match(tmp_path: Path) -> None:
    write_job(tmp_path, [[40.0] * 6] * 2)
    path = tmp_path / "rank1.pt.trace.json"
    document = json.loads(path.read_text())
    for number, event in enumerate(e for e in document["traceEvents"] if e["name"] == NCCL):
        event["ts"] += 500 * number * (number % 2)
    path.write_text(json.dumps(document))
    found = compared(tmp_path)
    assert not found.lateness.trusted
    assert found.lateness.stragglers == ()


def test_bandwidth_is_that_of_the_shortest_duration(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS))
    (one,) = found.transfers
    assert one.transfer_ns == TRANSFER * 1000
    assert one.bytes == 4_000_000
    assert one.algbw_gbps == pytest.approx((200.0, 200.0))
    assert one.busbw_gbps == pytest.approx((200 * 4 / 3, 200 * 4 / 3))
    assert one.longest_ns > one.transfer_ns
    assert one.slow is None


@pytest.mark.parametrize(("link", "slow"), [(400.0, False), (50_000.0, True)])
def test_slow_links_are_found_where_their_speed_is_given(
    link: float, slow: bool, tmp_path: Path
) -> None:
    write_job(tmp_path, ARRIVALS, elements=50_000_000)
    job = job_of(tmp_path, Options(link_gbps=link))
    assert job.comparison is not None
    assert [one.slow for one in job.comparison.transfers] == [slow]
    assert any(finding.rule == "comm-slow" for finding in job.findings) == slow


def test_small_messages_are_never_slow(tmp_path: Path) -> None:
    found = compared(write_job(tmp_path, ARRIVALS), Options(link_gbps=1e6))
    assert [one.slow for one in found.transfers] == [False]


def test_group_that_is_not_recorded_is_taken_for_all_ranks_and_said_so(tmp_path: Path) -> None:
    missing: dict[str, Any] = {
        "Group size": None, "Process Group Name": None, "Process Group Ranks": None,
    }  # fmt: skip
    (one,) = compared(write_job(tmp_path, ARRIVALS, **missing)).transfers
    assert one.assumed
    assert one.busbw_gbps == pytest.approx((200 * 4 / 3, 200 * 4 / 3))


def test_recordings_of_one_rank_are_no_job(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS[:2])
    first = (tmp_path / "rank0.pt.trace.json").read_text()
    (tmp_path / "rank1.pt.trace.json").write_text(first)
    job = job_of(tmp_path)
    assert (job.comparison, job.verdict, job.budget) == (None, None, None)
    assert "rank 0 has 2 recordings" in job.why


def test_unreadable_rank_is_told_and_the_others_are_compared(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS)
    (tmp_path / "rank7.json").write_text("no trace")
    job = job_of(tmp_path)
    assert job.comparison is not None
    assert [rank.rank for rank in job.ranks if rank.error] == [7]


def test_missing_ranks_limit_what_is_said(tmp_path: Path) -> None:
    write_job(tmp_path, ARRIVALS)
    (tmp_path / "rank0.pt.trace.json").unlink()
    assert "2 of 3 ranks are here" in job_of(tmp_path).why


def test_folder_without_a_readable_trace_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "rank0.json").write_text("no trace")
    (tmp_path / "rank1.json").write_text("nor this")
    with pytest.raises(TraceError, match="none of its 2 traces"):
        job_of(tmp_path)


def test_devices_of_one_recording_are_compared_like_ranks(tmp_path: Path) -> None:
    made = Program(properties=[])
    for i in range(6):
        for device, begins in ((0, 100), (1, 400)):
            start = 1000 * i + begins
            known = arguments(ranks=2)
            made.kernel(NCCL, start, 1000 * i + 500 - start, (start - 6, 2), device=device, **known)
    found = compare_devices(made.analysis(tmp_path))
    assert found is not None
    assert [found.records[p].name for p in found.lateness.stragglers] == ["GPU1"]


def test_one_device_is_not_compared(tmp_path: Path) -> None:
    made = Program()
    made.kernel(NCCL, 10, 20, (0, 5), **arguments())
    assert compare_devices(made.analysis(tmp_path)) is None
