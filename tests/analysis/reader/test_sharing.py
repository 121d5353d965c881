"""Reading with several processes gives what reading in one gives, number for number."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.chrome_text import LAYOUTS, Layout, Verbatim, write_file
from tests.support.inline_workers import Inline
from tests.support.whole_trace import everything
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader import document, workers
from whichlayer.analysis.reader.block import Cut
from whichlayer.analysis.reader.collector import Collector
from whichlayer.analysis.reader.cores import Cores
from whichlayer.analysis.reader.framing import Limits
from whichlayer.analysis.reader.keep import OUTLINE, Keep
from whichlayer.analysis.reader.progress import Progress
from whichlayer.analysis.reader.read_chrome_json import collect_events, read_chrome_json
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.reader.workers import Answer
from whichlayer.analysis.trace.assemble import assemble

ALONE = Cores(0)

#: Few values, so that events of different blocks meet: lanes, names, ids, pairs, series.
EVENTS = st.fixed_dictionaries(
    {
        "ph": st.sampled_from([*"XXXXXXBEBEbeSFiInCCsstfM", "?"]),
        "ts": st.integers(0, 90) | st.sampled_from([Verbatim("7.125"), Verbatim("1e1"), "n/a"]),
        "pid": st.sampled_from([0, 1, "1", "one", 2**63]),
        "tid": st.sampled_from([7, "7", "stream 7", "main"]),
        "name": st.sampled_from(["a", "b", "é☃", "", "thread_name", "process_name", "[memory]"]),
        "cat": st.sampled_from(["cpu_op", "kernel", "cuda_runtime", "gpu_memcpy", "ac2g", "", "x"]),
    },
    optional={
        "dur": st.integers(-3, 40) | st.just("none"),
        "id": st.integers(-1, 3) | st.sampled_from(["x", "y", "0x7", 2**64]),
        "scope": st.sampled_from(["", "s"]),
        "args": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["worker", "worker 2"]),
                "correlation": st.integers(0, 5),
                "External id": st.integers(0, 5) | st.just("6"),
                "device": st.integers(0, 1),
                "stream": st.integers(6, 8),
                "Input Dims": st.sampled_from([[[2, 3]], [[4]], "},\n  {"]),
                "grid": st.sampled_from([[1, 1, 1], [2, 1, 1]]),
                "Total Allocated": st.integers(0, 9) | st.just("8"),
                "free": st.floats(allow_nan=False),
            },
        ),
    },
)

DAMAGE = st.sampled_from(
    [
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\x07",
        b"\xff",
        b"NaN",
        b'],"a":[{},',
        b"}},",
    ]
)


def outcome(
    path: Path,
    chunk: int,
    cores: Cores,
    keep: Keep | None = None,
    *,
    held: int = 1,
    with_arguments: bool = True,
) -> dict[str, Any] | str:
    """All that a file gives, or why it gives nothing; its header is read with ``held`` chunks."""
    step = patch.object(document, "_STEP", min(held * chunk, document._STEP))
    try:
        with step, TraceSource(str(path)) as source:
            limits = Limits(chunk, 8 * chunk, 64 * chunk)
            collector = Collector(keep)
            around = collect_events(source, collector, None, limits, cores)
            trace = assemble(collector.recording(source, around.header, around.warnings))
            said = everything(trace, with_arguments=with_arguments)
            return said | {"outline": [repr(one) for one in collector.outline]}
    except TraceError as error:
        return str(error)


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Compares what a file gives when it is read alone and when it is shared."""
    path = tmp_path_factory.mktemp("shared") / "trace.json"

    def compare(
        text: bytes, chunk: int, blocks: int, keep: Keep | None = None, held: int = 1
    ) -> None:
        path.write_bytes(text)
        shared = Cores(2, block=blocks * chunk, sample=0, least=0)
        with patch.object(workers, "Workers", Inline):
            found = outcome(path, chunk, shared, keep, held=held)
        assert found == outcome(path, chunk, ALONE, keep, held=held)

    return compare


SIZES = {"chunk": st.sampled_from([90, 300, 1000, 1 << 16]), "blocks": st.integers(1, 3)}


@settings(max_examples=150)
@given(
    events=st.lists(EVENTS, min_size=1, max_size=40),
    layout=st.sampled_from(list(LAYOUTS.values())),
    keep=st.sampled_from([None, None, Keep(10_000, 40_000), OUTLINE]),
    **SIZES,
)
def test_shared_reading_gives_the_very_same_trace(
    same: Callable[..., None],
    events: list[dict[str, Any]],
    layout: Layout,
    keep: Keep | None,
    chunk: int,
    blocks: int,
) -> None:
    same(write_file(events, layout).encode(), chunk, blocks, keep)


@settings(max_examples=150)
@given(
    events=st.lists(EVENTS, min_size=1, max_size=40),
    layout=st.sampled_from(list(LAYOUTS.values())),
    spots=st.lists(st.tuples(st.floats(0, 1), DAMAGE, st.integers(0, 40)), min_size=1, max_size=4),
    **SIZES,
)
def test_damage_is_told_and_survived_alike(
    same: Callable[..., None],
    events: list[dict[str, Any]],
    layout: Layout,
    spots: list[tuple[float, bytes, int]],
    chunk: int,
    blocks: int,
) -> None:
    text = write_file(events, layout).encode()
    for place, damage, lost in spots:
        at = int(place * len(text))
        text = text[:at] + damage + text[at + lost :]
    same(text, chunk, blocks)


@settings(max_examples=150)
@given(
    events=st.lists(EVENTS, min_size=5, max_size=20),
    layout=st.sampled_from(list(LAYOUTS.values())),
    spots=st.lists(st.tuples(st.floats(0, 1), DAMAGE, st.integers(0, 40)), min_size=1, max_size=4),
    chunk=st.sampled_from([90, 300, 700]),
    blocks=st.integers(1, 6),
    held=st.integers(2, 40),
)
def test_damage_in_what_the_header_left_over_is_read_alike(
    same: Callable[..., None],
    events: list[dict[str, Any]],
    layout: Layout,
    spots: list[tuple[float, bytes, int]],
    chunk: int,
    blocks: int,
    held: int,
) -> None:
    text = write_file(events * 5, layout).encode()
    for place, damage, lost in spots:
        at = int(place * len(text))
        text = text[:at] + damage + text[at + lost :]
    same(text, chunk, blocks, held=held)


@settings(max_examples=60)
@given(
    arrays=st.lists(st.lists(EVENTS, max_size=12), min_size=2, max_size=3),
    between=st.sampled_from(["", '"a":[{},{}],', '"traceEvents":3,', '"b":"},\\n {",']),
    **SIZES,
)
def test_several_arrays_and_keys_behind_them_are_read_alike(
    same: Callable[..., None],
    arrays: list[list[dict[str, Any]]],
    between: str,
    chunk: int,
    blocks: int,
) -> None:
    bare = LAYOUTS["bare"]
    texts = [f'"traceEvents":{write_file(events, bare)},{between}' for events in arrays]
    tail = '"deviceProperties":[{"id":0},{"id":1}],"baseTimeNanoseconds":17'
    same(f"{{{''.join(texts)}{tail}}}".encode(), chunk, blocks)


@settings(max_examples=40)
@given(events=st.lists(EVENTS, min_size=4, max_size=40), cut=st.integers(1, 60), **SIZES)
def test_a_cut_gzip_file_is_read_alike(
    same: Callable[..., None], events: list[dict[str, Any]], cut: int, chunk: int, blocks: int
) -> None:
    packed = gzip.compress(write_file(events, LAYOUTS["kineto"]).encode(), mtime=0)
    same(packed, chunk, blocks)
    same(packed[:-cut], chunk, blocks)


def test_an_event_larger_than_a_block_is_read_alike(same: Callable[..., None]) -> None:
    events = [
        {"ph": "X", "ts": n, "dur": 1, "pid": 1, "tid": 1, "name": f"n{n}"} for n in range(60)
    ]
    for giant in ("x" * 5000, "},{" * 900, "x" * 40_000):
        events[30] = {"ph": "X", "ts": 30, "name": "giant", "args": {"x": giant}}
        same(write_file(events, LAYOUTS["compact"]).encode(), 256, 2)


def test_damage_after_damage_is_read_alike(same: Callable[..., None]) -> None:
    events = [{"ph": "X", "ts": n, "dur": 1, "pid": 1, "name": f"n{n % 7}"} for n in range(900)]
    for number in (100, 104, 130, 135, 170, 260, 500, 505, 560, 890):
        events[number] |= {"dur": Verbatim("NaN")}
    for blocks in (1, 2, 5):
        same(write_file(events, LAYOUTS["kineto"]).encode(), 400, blocks)


def test_repeated_keys_and_entries_that_are_no_events_are_told_alike(
    same: Callable[..., None],
) -> None:
    event = b'{"ph":"X","ts":1,"dur":1,"pid":1,"name":"n"}'
    for odd in (b'{"ph":"X","ts":1,"ts":2,"name":"n"}', b"{},{},null,3", b'"a",[1],{ }', b"{}"):
        for number in (0, 70, 299):
            events = [event] * 300
            events[number] = odd
            for blocks in (1, 4):
                same(b"[" + b",".join(events) + b"]", 300, blocks)
        same(b"[" + b",\n".join([event, odd] * 200) + b"]", 300, 2)


def test_the_last_word_on_a_name_counts(same: Callable[..., None], tmp_path: Path) -> None:
    slices = [{"ph": "X", "ts": n, "dur": 1, "pid": 1, "tid": 2, "name": "n"} for n in range(400)]
    said = [
        {"ph": "M", "pid": 1, "tid": 2, "name": kind, "args": {key: value}}
        for kind, key, values in (
            ("thread_name", "name", ["early", "late"]),
            ("process_name", "name", ["early", "late"]),
            ("process_labels", "labels", ["early", "late"]),
            ("process_sort_index", "sort_index", [1, 2]),
            ("thread_sort_index", "sort_index", [1, 2]),
        )
        for value in values
    ]
    text = write_file([*said[::2], *slices, *said[1::2], *slices], LAYOUTS["kineto"]).encode()
    same(text, 500, 2)
    path = tmp_path / "trace.json"
    path.write_bytes(text)
    with patch.object(workers, "Workers", Inline):
        found = outcome(path, 500, Cores(2, block=1000, sample=0, least=0))
    assert isinstance(found, dict)
    assert [(lane["name"], lane["process"]) for lane in found["lanes"]] == [("late", "late")]


def test_text_is_left_for_this_process_only_where_it_must_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_out: list[int] = []

    class Counting(Inline):
        def read(self, cuts: Sequence[Cut]) -> Answer:
            given_out.extend(len(text) for _, text in cuts)
            return super().read(cuts)

    monkeypatch.setattr(workers, "Workers", Counting)
    events = [{"ph": "X", "ts": n, "dur": 1, "pid": 1, "name": "n"} for n in range(2000)]
    path = tmp_path / "trace.json"
    path.write_text(write_file(events, LAYOUTS["kineto"]))
    outcome(path, 1000, Cores(2, block=4000, sample=0, least=0))
    assert sum(given_out) > path.stat().st_size - 4000
    given_out.clear()
    outcome(path, 1000, Cores(2, block=4000, sample=50_000, least=0))
    assert path.stat().st_size - 60_000 < sum(given_out) < path.stat().st_size - 50_000
    given_out.clear()
    outcome(path, 1000, Cores(2, block=4000, sample=50_000, least=path.stat().st_size))
    outcome(path, 1000, Cores(1, block=4000, sample=0, least=0))
    assert not given_out


def test_a_file_full_of_damage_is_soon_read_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    class Counting(Inline):
        def read(self, cuts: Sequence[Cut]) -> Answer:
            tries.append(cuts[0][0])
            return super().read(cuts)

    monkeypatch.setattr(workers, "Workers", Counting)
    bad = {"ph": "X", "ts": 1, "dur": Verbatim("NaN"), "pid": 1, "name": "n"}
    path = tmp_path / "trace.json"
    path.write_text(write_file([bad] * 5000, LAYOUTS["kineto"]))
    outcome(path, 500, Cores(2, block=1000, sample=0, least=0))
    assert 0 < len(tries) < 60


def test_progress_grows_while_reading_is_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "Workers", Inline)
    events = [{"ph": "X", "ts": n, "dur": 1, "pid": 1, "name": "n"} for n in range(3000)]
    path = tmp_path / "trace.json"
    path.write_text(write_file(events, LAYOUTS["kineto"]))
    seen: list[Progress] = []
    with patch.object(document, "_STEP", 1000), TraceSource(str(path)) as source:
        cores = Cores(2, block=2000, sample=0, least=0)
        read_chrome_json(source, seen.append, Limits(1000, 8000, 64_000), cores)
    told = [(one.bytes_read, one.events) for one in seen]
    assert told == sorted(told) and len(set(told)) > 50
    assert told[-1] == (path.stat().st_size, 3000)


def test_real_recordings_are_read_alike(traces: Path) -> None:
    shared = Cores(2, block=1 << 18, sample=0, least=0)
    paths = [one for one in sorted(traces.glob("*.json*")) if one.stat().st_size < 1 << 20]
    for path in paths:
        with patch.object(workers, "Workers", Inline):
            found = outcome(path, 1 << 17, shared, with_arguments=False)
        assert found == outcome(path, 1 << 17, ALONE, with_arguments=False), path.name
    assert len(paths) > 20
