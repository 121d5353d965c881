"""Entries that are nothing but brackets are lost, located and counted, wherever they stand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.reader.conftest import Read
from whichlayer.analysis.reader.recovery import recover_events


def event(number: int) -> str:
    told = {"ph": "X", "name": f"n{number}", "pid": 1, "tid": 1, "ts": 10 * number, "dur": 4}
    return json.dumps(told | {"args": {"External id": number}}, indent=2)


def written(entries: list[str]) -> str:
    return '{\n"schemaVersion": 1,\n"traceEvents": [\n' + ",\n".join(entries) + "\n]\n}"


@pytest.mark.parametrize("place", [0, 10, 19])
@pytest.mark.parametrize("noise", ["[[[", "[" * 300, "[[,[[", "[,["])
def test_an_entry_of_brackets_is_one_lost_place(read: Read, place: int, noise: str) -> None:
    entries = [event(number) for number in range(20)]
    entries[place] = noise
    text = written(entries)
    trace = read(text)
    assert len(trace) == 19
    (warning,) = [one for one in trace.warnings if one.code not in ("Q1", "unclosed")]
    assert (warning.code, warning.count) == ("damaged", 1)
    assert warning.byte_offset == text.index("\n" + noise + (",\n" if place < 19 else "\n]")) + 1


@given(
    place=st.integers(0, 5),
    noise=st.text("[]{}", min_size=1, max_size=12).filter(
        lambda text: text.strip("{}") or len(text) > 2
    ),
)
def test_noise_of_brackets_in_the_place_of_an_event_is_never_silent(place: int, noise: str) -> None:
    entries = [event(number) for number in range(6)]
    entries[place] = noise
    text = (",\n".join(entries) + "\n]\n}").encode()
    found = recover_events(text)
    assert [one for one in found.events if one.ph]
    silent = not found.loss and not found.repaired
    unread = len([one for one in found.events if not one.ph])
    unfinished = not text[found.consumed :].startswith(b"]")
    assert not silent or unread or unfinished


def test_a_bracket_beside_an_event_costs_no_event(read: Read) -> None:
    first, second, third = (event(number) for number in range(3))
    for text in (f"{first}],\n{second},\n{third}", f"{first},\n[{second},\n{third}"):
        trace = read(written([text]))
        assert len(trace) == 3
        assert [one.code for one in trace.warnings if one.code != "Q1"] == ["repaired"]


@pytest.mark.parametrize("tail", ["\n]\n}", "]}", '],"traceName":"x.json"}', '],"a":[{"b":[]}]}'])
def test_a_quote_inside_a_name_of_the_last_event_is_repaired(read: Read, tail: str) -> None:
    events = [event(0), event(1), event(2).replace('"n2"', '"say "hi" now"')]
    trace = read('{"traceEvents":[' + ",".join(events) + tail)
    assert sorted(trace.name(row) for row in range(3)) == ["n0", "n1", 'say "hi" now']
    assert [(one.code, one.count) for one in trace.warnings if one.code != "Q1"] == [
        ("repaired", 2)
    ]


def test_lists_in_the_arguments_of_a_damaged_last_event_do_not_end_it(read: Read) -> None:
    last = event(1).replace('"External id": 1', '"a": [{"b": [{"c": 1}], "d": "x "y" z"}], "e": 2')
    trace = read(written([event(0), last]))
    row = next(row for row in range(len(trace)) if trace.name(row) == "n1")
    assert trace.args(row) == {"a": [{"b": [{"c": 1}], "d": 'x "y" z'}], "e": 2}
