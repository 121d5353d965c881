"""Files whose beginning is damaged, or that begin anew: the events behind it are all there."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.reader.conftest import Read
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader import open_trace
from whichlayer.analysis.trace.columns import Trace

HEADER = '{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "A100"}],\n  '
LIST = '"traceEvents": [\n  '
COUNT = 12


def event(number: int) -> str:
    told = {"ph": "X", "name": f"n{number}", "pid": 1, "tid": 1, "ts": 10 * number, "dur": 4}
    nested = {"list": [{"name": "inner"}, 1], "nested": {"ph": "X", "ts": 3}}
    return json.dumps(told | {"args": nested}, indent=2)


EVENTS = ",\n  ".join(event(number) for number in range(COUNT))
TAIL = '\n  ],\n  "traceName": "x.json"\n}\n'
EVERY = {f"n{number}" for number in range(COUNT)}


def names(trace: Trace) -> list[str]:
    return sorted(trace.name(row) for row in range(len(trace)))


def told(trace: Trace) -> list[str]:
    return [one.code for one in trace.warnings if one.code not in ("Q1", "unclosed")]


@pytest.mark.parametrize(
    "header",
    [
        HEADER + '"trac\x00\x00\x00\x00\x00\x00ents": [\n  ',
        HEADER + '"traceEvexts": [\n  ',
        HEADER + '"trac\\"eEvents": [\n  ',
        HEADER[:40],
        HEADER[:3] + "}]" + HEADER[3:] + LIST,
        "\0" * 70,
        "{" + "\0" * 70,
        "\xff\xfe\xfd",
        "",
        "# a line of a log\n" + HEADER + LIST,
        HEADER.replace('"id": 0', '"id": 0, "name": "x') + LIST,
    ],
)
@pytest.mark.parametrize("size", [0, 70_000])
def test_whatever_happens_to_a_header_costs_no_event(
    tmp_path: Path, header: str, size: int
) -> None:
    text = (
        header.replace("\0" * 20, "\0" * (20 + size)).encode("latin-1") + (EVENTS + TAIL).encode()
    )
    for name, data in (("trace.json", text), ("trace.json.gz", gzip.compress(text))):
        path = tmp_path / name
        path.write_bytes(data)
        trace = open_trace(path)
        assert set(names(trace)) == EVERY and len(trace) == COUNT
        located = [one for one in trace.warnings if one.code == "damaged"]
        assert located and all(one.byte_offset >= 0 for one in located)
        assert trace.args(0)["list"] == [{"name": "inner"}, 1]


def test_what_the_header_says_before_its_damage_is_kept(read: Read) -> None:
    trace = read('{"baseTimeNanoseconds": 7, "tr\0ceEvents": [' + EVENTS + '], "z": 1}')
    assert (trace.base_ns, trace.header["z"], len(trace)) == (7, 1, COUNT)
    assert "traceEvents" not in trace.header


@settings(max_examples=80)
@given(
    begin=st.integers(0, len(HEADER + LIST) - 1),
    length=st.integers(1, 60),
    chunk=st.sampled_from([100, 1 << 19]),
    byte=st.sampled_from([b"\0", b"#", b'"', b"", b"\xff", b"]", b"{"]),
)
def test_a_hole_in_the_header_costs_no_event(
    read: Read, begin: int, length: int, chunk: int, byte: bytes
) -> None:
    head = (HEADER + LIST).encode()
    end = min(begin + length, len(head))
    damaged = head[:begin] + byte * (end - begin) + head[end:]
    assert EVERY <= set(names(read(damaged + (EVENTS + TAIL).encode(), chunk)))


@pytest.mark.parametrize("cut", [1, 9, 20, 60])
@pytest.mark.parametrize("chunk", [64, 1 << 19])
def test_a_file_that_was_begun_twice_gives_the_events_of_both(
    read: Read, cut: int, chunk: int
) -> None:
    torn = HEADER + LIST + event(90) + ",\n  " + event(91)[:cut]
    trace = read(torn + HEADER + LIST + EVENTS + TAIL, chunk)
    assert set(names(trace)) >= EVERY | {"n90"}
    assert "damaged" in told(trace)


def test_an_event_inside_a_torn_one_is_kept(read: Read) -> None:
    for torn in ('{"ph":"X","name"[', '{"ph":', '{"ph":"X","args":{"a": '):
        trace = read("[" + event(90) + "," + torn + EVENTS + "]", 1 << 19)
        assert set(names(trace)) == EVERY | {"n90"}
        assert "damaged" in told(trace)


@pytest.mark.parametrize(
    "text",
    [
        '{"samples": [{"ph": 7.2}, {"ph": "acid"}]}',
        '{"samples": [{"ph": "X"}]}',
        '{"ph": "A", "b": 1}',
        "hello",
        '{"a": [1, 2], "b',
    ],
)
def test_what_holds_no_events_is_refused_whatever_it_holds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(TraceError, match="not"):
        open_trace(path)


@pytest.mark.parametrize(
    ("text", "spots"),
    [
        ('{,"a":1,"traceEvents":[' + EVENTS + "]}", 1),
        ('{"a":1 "b":2,"traceEvents":[' + EVENTS + "]}", 1),
        ('{"a":1,,,"traceEvents":[' + EVENTS + "]}", 2),
        ('{"a":1,\x0c"traceEvents":[' + EVENTS + "]}", 1),
        ('{"a\x01b":1,"traceEvents":[' + EVENTS + "]}", 1),
        ('{"a":\ufeff1,"traceEvents":[' + EVENTS + "]}", 1),
        ('{"traceEvents":[' + EVENTS + '],"z":1,}', 1),
        ("[," + EVENTS + "]", 1),
    ],
)
def test_separators_and_keys_that_are_odd_are_told(read: Read, text: str, spots: int) -> None:
    trace = read(text)
    assert len(trace) == COUNT
    (warning,) = [one for one in trace.warnings if one.code not in ("Q1", "unclosed")]
    assert warning.code in ("repaired", "damaged")
    assert warning.count == spots
    assert warning.byte_offset >= 0
