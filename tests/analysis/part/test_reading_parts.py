"""A part that was read is the very part of the whole, whatever the file is like."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.chrome_text import LAYOUTS, Verbatim, write_file
from tests.support.inline_workers import Inline
from whichlayer.analysis import load
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.part import needed, reading
from whichlayer.analysis.part.cut import cut
from whichlayer.analysis.part.needed import Wanted
from whichlayer.analysis.reader import workers
from whichlayer.analysis.reader.cores import Cores
from whichlayer.analysis.reader.framing import Limits
from whichlayer.analysis.reader.keep import Keep, kept_in
from whichlayer.analysis.trace.columns import Trace

#: Hours after zero, so that times of zero are strays; few values, so that slices nest, cross
#: and touch the edges of the part.
CLOCK = 4_000_000_000_000

TIMES = st.integers(0, 90).map(lambda n: CLOCK + n)
ODD_TIMES = st.sampled_from(
    [0, -5, 4 * CLOCK, Verbatim(f'"{CLOCK}.25"'), Verbatim(f"{CLOCK + 7}.125")]
)
CATEGORIES = ("cpu_op", "python_function", "kernel", "cuda_runtime", "gpu_memcpy", "Trace", "x")
EVENTS = st.fixed_dictionaries(
    {
        "ph": st.sampled_from([*"XXXXXXXXBEBEbeiInCstsfM", "?"]),
        "ts": TIMES | TIMES | TIMES | TIMES | ODD_TIMES | st.just("n/a"),
        "pid": st.sampled_from([1, 1, "1", 2]),
        "tid": st.sampled_from([7, "stream 7", 8]),
        "name": st.sampled_from(
            ["a", "b", "", "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3", "[memory]"]
        ),
        "cat": st.sampled_from(
            [*CATEGORIES, "user_annotation", "user_annotation", "Operator", "ac2g", ""]
        ),
    },
    optional={
        "dur": st.integers(-3, 40) | st.just("none"),
        "id": st.integers(0, 3) | st.sampled_from(["x", "y"]),
        "args": st.fixed_dictionaries(
            {},
            optional={
                "correlation": st.integers(0, 5),
                "External id": st.integers(0, 5) | st.just("6"),
                "device": st.integers(0, 1),
                "stream": st.integers(6, 8) | st.just("7"),
                "Input Dims": st.sampled_from([[[2, 3]], [[4]]]),
                "Total Allocated": st.integers(0, 9),
                "free": st.integers(0, 99),
            },
        ),
    },
)
WANTED = st.one_of(
    st.tuples(st.integers(1, 3), st.integers(0, 1)).map(lambda p: Wanted((p[0], p[0] + p[1]))),
    st.tuples(st.integers(0, 80_000), st.integers(1, 30_000)).map(
        lambda p: Wanted(None, (p[0], p[0] + p[1]))
    ),
)
DAMAGE = st.lists(
    st.tuples(
        st.integers(0, 10_000), st.sampled_from([b'"', b"\\", b"{", b"}", b"NaN", b"]", b"\x07"])
    ),
    max_size=2,
)


@pytest.fixture(autouse=True)
def parts_of_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(reading.VARIABLE, "0")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts") / "trace.json"


def told(trace: Trace) -> dict[str, Any]:
    """Everything that a trace says, with names in place of their numbers."""
    said: dict[str, Any] = {
        name: getattr(trace, name).tolist()
        for name in (
            "start_ns", "end_ns", "kind", "lane_id", "correlation", "external_id", "parent",
            "depth", "launch", "stray", "lane_rows",
        )
    }  # fmt: skip
    for name in ("origin_ns", "base_ns", "events", "duration_ns", "lanes", "steps", "header",
                 "producer", "warnings", "part"):  # fmt: skip
        said[name] = getattr(trace, name)
    rows = range(len(trace))
    said["name"] = [trace.name(row) for row in rows]
    said["category"] = [trace.strings[one] for one in trace.category_id.tolist()]
    said["detail"] = [dict(trace.detail(row)) for row in rows]
    said["args"] = [dict(trace.args(row)) for row in rows]
    instants, flows, counters = trace.instants, trace.flows, trace.counters
    said["instants"] = [
        (instants.time_ns.tolist(), instants.lane_id.tolist()),
        [trace.strings[one] for one in instants.name_id.tolist()],
        repr(instants.value.tolist()),
    ]
    said["flows"] = [getattr(flows, one).tolist() for one in ("phase", "time_ns", "lane_id")]
    # Textual numbers are interned in the order in which they are met.
    said["flow ids"] = np.where(flows.id < -1, -2, flows.id).tolist()
    said["counters"] = (counters.series, counters.time_ns.tolist(), counters.value.tolist())
    return said


def load_part(path: Path, wanted: Wanted) -> Trace:
    return load(path, steps=wanted.steps, span_ns=wanted.span_ns)


@pytest.fixture(scope="module")
def compare(path: Path) -> Callable[[bytes, Wanted], None]:
    """Compares the part that is read of a file with the part of all of it."""

    def same(text: bytes, wanted: Wanted) -> None:
        path.write_bytes(text)
        with patch.object(Limits.__init__, "__defaults__", (300, 3000, 30_000)):
            try:
                whole = load(path)
            except TraceError as error:
                with pytest.raises(TraceError) as raised:
                    load_part(path, wanted)
                assert str(raised.value) == str(error)
                return
            assert told(load_part(path, wanted)) == told(cut(whole, wanted))

    return same


def short_margins() -> Any:
    """So small a stretch around a window that something lies outside."""
    return patch.multiple(needed, LEAST_BEFORE_NS=10_000, AFTER_NS=2_000)


@given(st.lists(EVENTS, max_size=40), st.sampled_from(sorted(LAYOUTS)), WANTED)
def test_a_part_that_was_read_is_the_part_of_the_whole(
    compare: Callable[[bytes, Wanted], None],
    events: list[dict[str, Any]],
    layout: str,
    wanted: Wanted,
) -> None:
    with short_margins():
        compare(write_file(events, LAYOUTS[layout]).encode(), wanted)


@given(st.lists(EVENTS, min_size=3, max_size=30), DAMAGE, WANTED)
def test_damage_changes_nothing_of_that(
    compare: Callable[[bytes, Wanted], None],
    events: list[dict[str, Any]],
    damage: list[tuple[int, bytes]],
    wanted: Wanted,
) -> None:
    text = write_file(events, LAYOUTS["kineto"]).encode()
    for at, piece in damage:
        place = at % len(text)
        text = text[:place] + piece + text[place:]
    with short_margins():
        compare(text, wanted)


#: Beginnings and ends, in order: some among the other events, and few enough far away to be
#: strays if each is counted once.
PAIRS = st.lists(st.sampled_from([CLOCK + 3, CLOCK + 50, 4 * CLOCK]), min_size=1, max_size=4).map(
    lambda starts: [
        {"ph": ph, "ts": start + late, "pid": 1, "tid": 9, "name": "p"}
        for start in sorted(starts)
        for ph, late in (("B", 0), ("E", 5))
    ]
)


@given(st.lists(EVENTS, max_size=10), PAIRS, st.integers(5, 15) | st.integers(90, 210), WANTED)
def test_slices_of_two_events_outside_the_part_count_once(
    compare: Callable[[bytes, Wanted], None],
    events: list[dict[str, Any]],
    pairs: list[dict[str, Any]],
    others: int,
    wanted: Wanted,
) -> None:
    plain = [
        {"ph": "X", "ts": CLOCK + n % 90, "dur": 1, "pid": 1, "tid": 8, "name": "a"}
        for n in range(others)
    ]
    with short_margins():
        compare(write_file([*events, *plain, *pairs], LAYOUTS["kineto"]).encode(), wanted)


@given(
    st.lists(EVENTS, max_size=10),
    st.sampled_from(["cpu_op", "kernel", "python_function"]),
    st.integers(0, 89),
    st.booleans(),
    WANTED,
)
def test_a_slice_with_an_absurd_end_is_a_stray_in_a_part_too(
    compare: Callable[[bytes, Wanted], None],
    events: list[dict[str, Any]],
    category: str,
    place: int,
    works: bool,
    wanted: Wanted,
) -> None:
    plain = [
        {"ph": "X", "ts": CLOCK + n, "dur": 1, "pid": 1, "tid": 8, "name": "a", "cat": "cpu_op"}
        for n in range(120)
    ]
    plain[place] |= {"dur": 10**12, "cat": category}
    if works:
        plain[50] |= {"cat": "kernel", "args": {"device": 0, "stream": 7}}
    with short_margins():
        compare(write_file([*events, *plain], LAYOUTS["kineto"]).encode(), wanted)


@given(st.lists(EVENTS, min_size=3, max_size=40), WANTED)
def test_several_processes_read_the_same_part(
    compare: Callable[[bytes, Wanted], None], events: list[dict[str, Any]], wanted: Wanted
) -> None:
    shared = Cores(2, block=600, sample=0, least=0)
    with (
        short_margins(),
        patch.object(workers, "Workers", Inline),
        patch.object(Cores, "of_machine", lambda: shared),
    ):
        compare(write_file(events, LAYOUTS["kineto"]).encode(), wanted)


@given(st.lists(EVENTS, max_size=40), WANTED)
def test_a_part_has_all_of_its_stretch_and_what_tells_about_the_whole(
    path: Path, events: list[dict[str, Any]], wanted: Wanted
) -> None:
    path.write_text(write_file(events, LAYOUTS["kineto"]))
    with short_margins():
        whole, part = load(path), load_part(path, wanted)
    if not whole.steps and wanted.span_ns is None:  # only all of it can show such steps
        assert part.part is None
        return
    assert part.part is not None
    assert (part.origin_ns, part.duration_ns) == (whole.origin_ns, whole.duration_ns)
    assert (part.events, part.lanes) == (whole.events, whole.lanes)
    steps = [[(one.number, one.start_ns, one.end_ns) for one in t.steps] for t in (whole, part)]
    assert steps[0] == steps[1]
    keep = Keep(part.part.low_ns, part.part.high_ns)
    touching = keep.inside(whole.start_ns, whole.end_ns)
    expected = touching | kept_in(whole)
    rows = np.flatnonzero(expected).tolist()
    assert [whole.name(row) for row in rows] == [part.name(row) for row in range(len(part))]
    assert whole.start_ns[expected].tolist() == part.start_ns.tolist()
    assert [dict(whole.detail(row)) for row in rows] == [
        dict(part.detail(row)) for row in range(len(part))
    ]
    work = np.flatnonzero(part.launch >= 0)
    assert part.start_ns[part.launch[work]].tolist() == (
        whole.start_ns[whole.launch[whole.launch >= 0]].tolist()
    )
