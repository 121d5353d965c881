"""Whole files against the plain JSON module, in every layout and at every chunk size."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.reader.conftest import Read, damage
from tests.support.chrome_text import LAYOUTS, Layout, Verbatim, write_event, write_file
from whichlayer.analysis.reader.structure import ValueScan, find_elements
from whichlayer.analysis.trace.columns import Trace

CHUNKS = (16, 100, 700, 1 << 19)

TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ['}},{"', "},\n  {", '"}]}', "\\", 'a\\"b', "] , {", '{"ph":"X"', "é☃", "\x1b[31m\n"]
    ),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
TIMES = st.one_of(
    st.integers(0, 3 * 10**9).map(str),
    st.decimals(0, 3 * 10**9, places=3).map(lambda number: format(number, "f")),
).map(Verbatim)


@st.composite
def slices(draw: st.DrawFn) -> dict[str, Any]:
    event = {
        "ph": "X",
        "name": draw(TEXT),
        "cat": "work",
        "pid": draw(st.integers(0, 2)),
        "tid": draw(st.one_of(st.integers(0, 2**64), st.sampled_from(["main", "ü"]))),
        "ts": draw(TIMES),
        "dur": draw(TIMES),
        "args": draw(st.dictionaries(TEXT, VALUES, max_size=3)),
    }
    keys = draw(st.permutations(list(event)))
    return {key: event[key] for key in keys}


def read_back(trace: Trace) -> list[str]:
    """What the trace says about every slice."""
    found = []
    for row in range(len(trace)):
        lane = trace.lanes[int(trace.lane_id[row])]
        start = int(trace.start_ns[row]) + trace.origin_ns
        end = int(trace.end_ns[row]) + trace.origin_ns
        found.append(repr((trace.name(row), lane.pid, lane.tid, start, end, trace.args(row))))
    return sorted(found)


def told_by_json(text: str) -> list[str]:
    """The same, as the plain JSON module reads it."""
    document = json.loads(text, parse_float=Decimal)
    events = document if isinstance(document, list) else document["traceEvents"]
    return sorted(
        repr(
            (
                event["name"],
                event["pid"],
                event["tid"],
                round(event["ts"] * 1000),
                round((event["ts"] + event["dur"]) * 1000),
                event["args"],
            )
        )
        for event in events
        if event.get("ph") == "X"
    )


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=list(LAYOUTS))
@settings(max_examples=25)
@given(
    events=st.lists(st.one_of(slices(), st.just({})), min_size=1, max_size=12).filter(any),
    chunk=st.sampled_from(CHUNKS),
)
def test_every_event_is_read_as_the_json_module_reads_it(
    read: Read, layout: Layout, events: list[dict[str, Any]], chunk: int
) -> None:
    text = write_file(events, layout)
    trace = read(text, chunk)
    assert trace.events == len(events)
    assert read_back(trace) == told_by_json(text)
    assert not damage(trace)


@given(st.lists(slices(), min_size=1, max_size=6), st.sampled_from(list(LAYOUTS.values())))
def test_exact_ends_are_where_the_events_end(events: list[dict[str, Any]], layout: Layout) -> None:
    texts = [write_event(event, layout).encode() for event in events]
    joined = layout.event.encode().join(texts)
    found = find_elements(joined + b" ]" + layout.after.encode())
    assert (found.last_end, found.close) == (len(joined), len(joined) + 1)
    assert ValueScan().feed(joined) == len(texts[0])
    assert find_elements(joined[:-1]).close == -1


def test_header_keys_before_and_after_the_events_are_kept(read: Read) -> None:
    before = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A"}, {"id": 1}]}
    inner = {"metadata": {"traceEvents": [{"ph": "X"}], "odd": '"traceEvents": ['}}
    after = {"traceName": "/a]b}.json", "INFO": ["}", "]"], "baseTimeNanoseconds": 17 * 10**17}
    text = json.dumps({**before, **inner, "traceEvents": [{"ph": "M"}], **after})
    for chunk in CHUNKS:
        trace = read(text, chunk)
        assert trace.header == {**before, **inner, **after}
        assert (trace.events, trace.producer, trace.base_ns) == (1, "pytorch", 17 * 10**17)


def test_a_byte_order_mark_is_no_damage(read: Read) -> None:
    trace = read(b'\xef\xbb\xbf [{"ph":"X","name":"a","ts":1,"dur":1} ]')
    assert (len(trace), damage(trace)) == (1, [])


def test_odd_types_are_read_beside_ordinary_ones(read: Read) -> None:
    events = """
        {"ph":"X","name":null,"pid":"7","tid":"stream 7","ts":"1.5","dur":"2"},
        {"ph":"X","name":12,"pid":7.0,"tid":null,"ts":1,"dur":2,"args":null},
        {"ph":"X","name":["x"],"pid":true,"tid":99999999999999999999999,"ts":1,"dur":2,"args":[1]},
        3, null, "text", [{"a":"X"}],
        {"ph":"X","name":"k","cat":"kernel","pid":0,"tid":1,"ts":1,"dur":2,
         "args":{"device":"0","stream":"3","correlation":"5"}}
    """
    trace = read(f"[{events}]")
    assert (trace.events, len(trace), damage(trace)) == (8, 4, [])
    names = sorted(trace.name(row) for row in range(4))
    assert names == ["", "12", '["x"]', "k"]
    kernel = next(row for row in range(4) if trace.name(row) == "k")
    lane = trace.lanes[int(trace.lane_id[kernel])]
    assert (lane.device, lane.stream, int(trace.correlation[kernel])) == (0, 3, 5)
    assert {lane.tid for lane in trace.lanes} >= {"stream 7", "", 99999999999999999999999}


def test_progress_may_cancel_the_reading(read: Read, tmp_path: Any) -> None:
    from whichlayer.analysis.reader import Progress, open_trace

    path = tmp_path / "trace.json"
    path.write_text(write_file([{"ph": "X", "ts": 1, "dur": 1}] * 100_000, LAYOUTS["kineto"]))
    seen: list[Progress] = []

    def cancel(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_trace(path, progress=cancel)
    assert 0 < seen[0].bytes_read < seen[1].bytes_read <= seen[1].bytes_total
    assert seen[0].events < seen[1].events < 100_000
