"""What comes back from the cache is the trace, to the last number."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.cache.conftest import entries_of, kernel_events
from tests.support.chrome_text import LAYOUTS, Verbatim, write_file
from tests.support.nsight_export import training
from tests.support.recordings import analysed, loaded
from tests.support.whole_trace import everything
from whichlayer.analysis import analyse, load
from whichlayer.analysis.cache import reuse
from whichlayer.analysis.cache.texts import StoredBytes, StoredTexts, encoded, joined
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.report import render
from whichlayer.analysis.trace.columns import Trace


def all_of(trace: Trace, *, with_arguments: bool = True) -> dict[str, Any]:
    """As a comparison needs it: texts from a file are no list, and NaN is equal to itself."""
    told = everything(trace, with_arguments=with_arguments)
    return told | {"strings": list(trace.strings), "header": repr(trace.header)}


@contextmanager
def nothing_is_read() -> Iterator[None]:
    """Reading a file is a failure: what is opened has to come from the cache."""

    def refuse(path: str, progress: object) -> Trace:
        raise AssertionError(f"{path} was read")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("whichlayer.analysis.reader.opening._read", refuse)
        yield


def reopened(path: Path) -> Trace:
    with nothing_is_read():
        return load(path, cache=True)


def assert_comes_back(path: Path, *, with_arguments: bool = True) -> None:
    read = all_of(load(path, cache=True), with_arguments=with_arguments)
    assert all_of(reopened(path), with_arguments=with_arguments) == read


def test_a_trace_comes_back_as_it_was_read(folder: Path, path: Path) -> None:
    assert_comes_back(path)
    trace = reopened(path)
    assert len(trace.flows.id) == 6 and len(trace.counters.value) == len(trace.instants.value) == 1
    assert trace.steps[0].number == 3 and trace.base_ns == 1_700_000_000_000_000_000


def test_an_nsight_export_comes_back_as_it_was_read(folder: Path, tmp_path: Path) -> None:
    assert_comes_back(training().write(tmp_path))


def test_a_trace_without_slices_comes_back(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text('{"a": 1, "traceEvents": []}')
    assert_comes_back(path)


def test_a_header_comes_back_whatever_json_it_holds(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(
        '{"big": 123456789012345678901234567890, "none": NaN, "far": 1e999, "é\\u0007": [{}, [],'
        ' "\\ud83d\\ude00"], "traceEvents": [' + json.dumps(kernel_events()[0]) + "]}"
    )
    assert_comes_back(path)
    assert reopened(path).header["big"] == 123456789012345678901234567890


def test_ids_beyond_int64_and_damage_come_back(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    text = '[{"ph":"X","name":"a","pid":99999999999999999999999,"tid":"x\\ny","ts":1,"dur":2},{"ph'
    path.write_text(text)
    assert_comes_back(path)
    assert reopened(path).warnings and reopened(path).lanes[0].pid == 99999999999999999999999


names = st.text(max_size=8)
numbers = st.integers(0, 1 << 40)
values = st.one_of(
    st.none(), st.booleans(), st.integers(-(1 << 70), 1 << 70), st.floats(allow_nan=False), names,
    st.just(Verbatim("NaN")),
)  # fmt: skip
arguments = st.fixed_dictionaries(
    {},
    optional={
        "External id": values, "correlation": values, "stream": values, "device": values,
        "Input Dims": st.lists(st.lists(st.integers(0, 9), max_size=2), max_size=2), "odd": values,
    },
)  # fmt: skip
events = st.fixed_dictionaries(
    {
        "ph": st.sampled_from(["X", "X", "X", "B", "E", "i", "C", "s", "f", "M", "b", "e"]),
        "name": names,
        "ts": st.one_of(numbers, st.floats(0, 1e12)),
        "pid": st.one_of(st.integers(0, 3), names),
        "tid": st.one_of(st.integers(0, 3), names),
    },
    optional={
        "dur": numbers,
        "cat": st.sampled_from(["cpu_op", "kernel", "cuda_runtime", "python_function", "x"]),
        "id": st.integers(0, 5),
        "args": arguments.map(
            lambda told: {k: v for k, v in told.items() if not isinstance(v, Verbatim)}
        ),
    },
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all examples of a property."""
    return tmp_path_factory.mktemp("any")


@given(made=st.lists(events, max_size=30), layout=st.sampled_from(sorted(LAYOUTS)))
def test_any_trace_comes_back(place: Path, made: list[dict[str, Any]], layout: str) -> None:
    path = place / "any.json"
    path.write_text(write_file(made, LAYOUTS[layout]), encoding="utf-8", errors="surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "home"))
        patch.setattr(reuse, "FEWEST_EVENTS", 0)
        try:
            read = load(path, cache=True)
        except TraceError:  # without a single event there is no trace
            return
        assert all_of(reopened(path)) == all_of(read)


def test_recordings_come_back(folder: Path, traces: Path) -> None:
    for path in sorted(traces.glob("*.*")):
        if path.name in ("README.md", "expected.json"):
            continue
        few = path.stat().st_size < 50_000
        try:
            read = loaded(path)
        except TraceError:
            continue
        with pytest.MonkeyPatch.context() as patch:  # put there as if it were read now
            patch.setattr("whichlayer.analysis.reader.opening._read", lambda *_, read=read: read)
            assert load(path, cache=True) is read
        again = reopened(path)
        assert all_of(again, with_arguments=few) == all_of(read, with_arguments=few), path
    assert len(entries_of(folder)) > 40


@pytest.mark.parametrize(
    "name",
    ["hta_v100_cuda_graphs.json.gz", "kineto_h100_graph_ids.json", "tl_mi300_bert.json.gz",
     "nsys_h100_2gpu.sqlite", "chrome_flow.json"],
)  # fmt: skip
def test_what_comes_back_is_analysed_alike(folder: Path, traces: Path, name: str) -> None:
    load(traces / name, cache=True)
    again = analyse(reopened(traces / name))
    assert render(again, "json") == render(analysed(traces / name), "json")


def test_columns_from_the_cache_are_mapped_and_cannot_be_written(folder: Path, path: Path) -> None:
    load(path, cache=True)
    trace = reopened(path)
    for column in (trace.start_ns, trace.stray, trace.flows.id):
        assert not column.flags.writeable and not column.flags.owndata


def test_a_file_that_may_be_deleted_elsewhere_is_read_and_not_mapped(
    folder: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = all_of(load(path, cache=True))
    monkeypatch.setattr(reuse, "is_local", lambda folder: False)
    monkeypatch.delattr("mmap.mmap")
    assert all_of(reopened(path)) == read


@given(st.lists(st.text(), max_size=20), st.data())
def test_stored_texts_are_a_sequence_like_a_list(texts: list[str], data: st.DataObject) -> None:
    stored = StoredTexts(StoredBytes(*joined(encoded(texts))))
    assert len(stored) == len(texts) and list(stored) == texts and stored[1:3] == texts[1:3]
    if texts:
        index = data.draw(st.integers(-len(texts), len(texts) - 1))
        assert StoredTexts(StoredBytes(*joined(encoded(texts))))[index] == texts[index]
        assert texts[index] in stored
    for outside in (len(texts), -len(texts) - 1):
        with pytest.raises(IndexError):
            stored[outside]


def test_texts_with_lone_surrogates_come_back_and_bad_bytes_do_no_harm() -> None:
    texts = ["a\ud800", "", "é"]
    assert list(StoredTexts(StoredBytes(*joined(encoded(texts))))) == texts
    bad = np.frombuffer(b"a\xff\xc3", np.uint8)
    assert list(StoredTexts(StoredBytes(bad, np.array([0, 2, 3])))) == ["a\ufffd", "\ufffd"]


def test_counter_values_that_are_no_numbers_come_back(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "counter.json"
    path.write_text('[{"ph":"C","name":"c","pid":1,"ts":1,"args":{"v":1e999}},'
                    '{"ph":"C","name":"c","pid":1,"ts":2,"args":{"v":0.1}}]')  # fmt: skip
    assert_comes_back(path)
    assert math.isclose(float(reopened(path).counters.value[-1]), 0.1)
