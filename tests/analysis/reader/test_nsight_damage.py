"""Exports that lack things, are damaged, or are no exports at all."""

from __future__ import annotations

import gzip
import os
import random
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.nsight_export import SCHEMA, Export, training
from whichlayer.analysis import TraceError, analyse, load
from whichlayer.analysis.trace.columns import Trace
from whichlayer.analysis.trace.kinds import SliceKind

COLUMNS = [f"{table}.{one.split()[0]}" for table, columns in SCHEMA.items() for one in columns]


def codes(trace: Trace) -> set[str]:
    return {warning.code for warning in trace.warnings}


def said(trace: Trace) -> str:
    return " ".join(warning.message for warning in trace.warnings)


def large() -> Export:
    made = training()
    for number in range(4, 4_000):
        made.call("cudaLaunchKernel_v7000", number * 1_000, number * 1_000 + 100, number)
        made.kernel("k", number * 1_000 + 500, number * 1_000 + 900, number)
    return made


@given(missing=st.sets(st.sampled_from([*SCHEMA, *COLUMNS]), max_size=12))
def test_whatever_is_missing_is_done_without(
    tmp_path_factory: pytest.TempPathFactory, missing: set[str]
) -> None:
    path = training().write(tmp_path_factory.mktemp("lacking"), without=tuple(missing))
    try:
        trace = load(path)
    except TraceError as error:
        assert "\n" not in str(error)
    else:
        analyse(trace)


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    made = training()
    trace = load(made.write(tmp_path, without=("CUPTI_ACTIVITY_KIND_RUNTIME",)))
    assert "no CUDA calls in the export" in said(trace)
    trace = load(made.write(tmp_path, without=("StringIds",)))
    assert "names are unknown" in said(trace)
    trace = load(made.write(tmp_path, without=("CUPTI_ACTIVITY_KIND_KERNEL.streamId",)))
    assert "CUPTI_ACTIVITY_KIND_KERNEL lacks streamId" in said(trace)
    trace = load(made.write(tmp_path, without=("CUPTI_ACTIVITY_KIND_MEMCPY.copyKind",)))
    assert "CUPTI_ACTIVITY_KIND_MEMCPY lacks copyKind" in said(trace)
    trace = load(made.write(tmp_path, without=("NVTX_EVENTS.eventType",)))
    assert "NVTX_EVENTS lacks eventType" in said(trace)
    trace = load(made.write(tmp_path, without=("CUPTI_ACTIVITY_KIND_KERNEL",)))
    assert "no kernels in the export" in said(trace)
    assert "lacks" not in said(load(made.write(tmp_path)))


def test_without_processes_in_the_kernels_the_only_caller_launched_them(tmp_path: Path) -> None:
    without = ("CUPTI_ACTIVITY_KIND_KERNEL.globalPid",)
    made = training()
    trace = load(made.write(tmp_path, without=without))
    (kernel,) = (trace.kind == SliceKind.KERNEL).nonzero()[0]
    assert trace.name(int(trace.launch[kernel])) == "cudaLaunchKernel"
    made.call("cudaLaunchKernel_v7000", 1_100, 1_200, 1, pid=200)
    trace = load(made.write(tmp_path, without=without))
    (kernel,) = (trace.kind == SliceKind.KERNEL).nonzero()[0]
    assert trace.launch[kernel] == -1
    assert "launches are unknown" in said(trace)


@pytest.mark.parametrize("value", ["soon", 1.5, None, b"\0"])
def test_a_start_that_is_no_integer_is_left_out_and_counted(tmp_path: Path, value: object) -> None:
    made = training()
    made.kernel("odd", 1, 2, 9)
    last = made.rows["CUPTI_ACTIVITY_KIND_KERNEL"][-1]
    made.rows["CUPTI_ACTIVITY_KIND_KERNEL"][-1] = {**last, "start": value}
    trace = load(made.write(tmp_path))
    assert int((trace.kind == SliceKind.KERNEL).sum()) == 1
    assert "1 event without a usable time left out" in said(trace)


def test_an_end_before_the_start_keeps_the_event_without_length(tmp_path: Path) -> None:
    made = training()
    made.kernel("odd", 5_000, 4_000, 9)
    made.kernel("endless", 6_000, 6_000, 10)
    last = made.rows["CUPTI_ACTIVITY_KIND_KERNEL"][-1]
    made.rows["CUPTI_ACTIVITY_KIND_KERNEL"][-1] = {**last, "end": None}
    trace = load(made.write(tmp_path))
    rows = [row for row in range(len(trace)) if trace.name(row) in ("odd", "endless")]
    assert [int(trace.end_ns[row] - trace.start_ns[row]) for row in rows] == [0, 0]
    assert "1 event of negative duration" in said(trace)
    assert "1 event without a usable duration" in said(trace)


def test_texts_that_are_no_utf8_are_shown_as_far_as_they_are(tmp_path: Path) -> None:
    made = training()
    path = made.write(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE StringIds SET value = CAST(x'66ff6f' AS TEXT)")
    connection.commit()
    connection.close()
    assert "f\ufffdo" in load(path).strings


def test_views_and_odd_tables_are_not_run(tmp_path: Path) -> None:
    path = training().write(tmp_path, without=("NVTX_EVENTS",))
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
        " SELECT x AS start, x AS end, 59 AS eventType, 'x' AS text FROM n"
    )
    connection.execute('CREATE TABLE "OSRT_API" (_rowid_ TEXT, start, "end", globalTid, nameId)')
    connection.execute("INSERT INTO OSRT_API VALUES ('x', 1000, 2000, 1, 1)")
    connection.execute("DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET")
    connection.execute(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER PRIMARY KEY, end) WITHOUT ROWID"
    )
    connection.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (4000, 4100)")
    connection.commit()
    connection.close()
    trace = load(path)
    assert SliceKind.ANNOTATION not in trace.kind
    (fill,) = (trace.kind == SliceKind.MEMSET).nonzero()[0]
    assert trace.args(int(fill)) == {}


@pytest.mark.parametrize("cut", [20, 100, 3_000])
def test_an_export_of_which_nothing_is_left_is_refused_in_one_line(
    tmp_path: Path, cut: int
) -> None:
    path = large().write(tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(TraceError, match="database") as error:
        load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_cut_export_gives_what_is_left(tmp_path: Path, share: float) -> None:
    path = large().write(tmp_path)
    whole = load(path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    trace = load(path)
    assert 0.7 * share * len(whole) < len(trace) < len(whole)
    assert "truncated" in codes(trace)
    assert "cut short" in said(trace)


def test_what_lies_before_and_behind_a_damaged_page_is_read(tmp_path: Path) -> None:
    path = large().write(tmp_path)
    data = bytearray(path.read_bytes())
    whole = load(path)
    page = 4_096
    leaves = [at for at in range(page, len(data), page) if data[at] == 0x0D]
    hurt = leaves[len(leaves) // 3]
    data[hurt : hurt + page] = b"\xff" * page
    path.write_bytes(bytes(data))
    trace = load(path)
    assert 0.9 * len(whole) < len(trace) < len(whole)
    assert "damaged" in codes(trace)
    assert int(trace.end_ns.max()) == int(whole.end_ns.max())


@given(seed=st.integers(0, 10_000))
def test_flipped_bytes_never_raise_more_than_one_line(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    path = training().write(tmp_path_factory.mktemp("flipped"))
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    for _ in range(chance.randrange(1, 40)):
        data[chance.randrange(16, len(data))] = chance.randrange(256)
    path.write_bytes(bytes(data))
    try:
        trace = load(path)
    except TraceError as error:
        assert "\n" not in str(error)
    else:
        analyse(trace)
        for row in range(len(trace)):
            try:
                trace.args(row)
            except TraceError as error:
                assert "\n" not in str(error)


def test_other_databases_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text)")
    connection.commit()
    connection.close()
    with pytest.raises(TraceError, match="no Nsight Systems export"):
        load(path)
    with pytest.raises(TraceError, match="without CUDA, NVTX or operating system events"):
        made = Export()
        made.add("NVTX_EVENTS", start=1, eventType=33)
        load(made.write(tmp_path))


@pytest.mark.parametrize("name", ["run.nsys-rep", "OLD.QDREP"])
def test_a_report_that_was_not_exported_is_refused_with_what_to_do(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x01\x02report")
    with pytest.raises(TraceError, match="nsys export --type sqlite"):
        load(path)


def test_a_compressed_export_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "export.sqlite.gz"
    path.write_bytes(gzip.compress(training().write(tmp_path).read_bytes()))
    with pytest.raises(TraceError, match="decompress it first"):
        load(path)


@pytest.mark.parametrize("name", ["a ?#%20&mode=rwc.sqlite", "ünïcode.sqlite", "file:x.sqlite"])
def test_reading_leaves_the_file_and_its_folder_alone(tmp_path: Path, name: str) -> None:
    path = training().write(tmp_path, name=name)
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(os.listdir(tmp_path)))
    path.chmod(0o400)
    trace = load(path)
    trace.args(0)
    assert before == (path.read_bytes(), path.stat().st_mtime_ns, sorted(os.listdir(tmp_path)))


def test_an_export_that_is_being_written_is_read_without_its_journal(tmp_path: Path) -> None:
    path = training().write(tmp_path)
    (tmp_path / f"{path.name}-wal").write_bytes(b"unfinished")
    assert "was not finished" in said(load(path))
    assert (tmp_path / f"{path.name}-wal").read_bytes() == b"unfinished"
