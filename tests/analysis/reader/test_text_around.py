"""A recording behind lines of a log is read whole, and a second one behind it is told of."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.reader.conftest import Read
from whichlayer.analysis.reader.leading import begins_usually, find_recording
from whichlayer.analysis.trace.columns import Trace

DEVICE = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "nested": [{"traceEvents": 1}]}
EVENTS = [
    {"ph": "X", "name": f"n{number}", "pid": 1, "tid": 1, "ts": 10 * number, "dur": 4}
    for number in range(40)
]
RECORDING = json.dumps({"schemaVersion": 1, "deviceProperties": [DEVICE], "traceEvents": EVENTS})
WITH_TAIL = RECORDING[:-1] + ', "traceName": "x.json"}'
LIST = json.dumps(EVENTS)


def told(trace: Trace, word: str) -> list[int]:
    return [one.byte_offset for one in trace.warnings if word in one.message]


@pytest.mark.parametrize(
    "before",
    [
        "WARNING: foo [profiler]\nINFO {x}\n",
        "[INFO] foo\n",
        "[rank0]: WARNING [x]\n",
        "[2024-01-01 10:00:00,000] {'a': 1}\n",
        "[1] foo\n",
        "{x} foo\n",
        '{"level": "info", "traceEvents": 3}\n',
        'saved "traceEvents": [\n',
        "é \x00 \x1b[0m\n" * 20_000,
    ],
)
@pytest.mark.parametrize("recording", [RECORDING, WITH_TAIL])
def test_what_is_printed_before_a_recording_costs_no_key(
    read: Read, before: str, recording: str
) -> None:
    trace = read(before + recording)
    assert len(trace) == len(EVENTS)
    assert trace.header["deviceProperties"] == [DEVICE]
    assert told(trace, "the recording begins at byte") == [len(before.encode())]
    assert not told(trace, "second recording")
    assert not told(trace, "could not be read")


def test_a_recording_inside_an_object_keeps_its_keys(read: Read) -> None:
    trace = read(f'{{"trace": {RECORDING}}}')
    assert trace.header["deviceProperties"] == [DEVICE]
    assert len(trace) == len(EVENTS)


@pytest.mark.parametrize("text", [RECORDING, WITH_TAIL, LIST, f"[1, 2, {LIST[1:]}"])
def test_what_begins_as_it_should_is_not_told_of(read: Read, text: str) -> None:
    trace = read(text)
    assert len([one for one in trace.strings if one.startswith("n")]) == len(EVENTS)
    assert not told(trace, "begins at byte")


@given(st.text('{}[]":, \na1', max_size=60))
def test_the_beginning_found_is_that_of_the_recording(before: str) -> None:
    text = before.encode()
    found = find_recording(text + RECORDING.encode())
    if found != len(text):
        keys = json.loads(before[found:] + RECORDING, strict=False)
        assert "traceEvents" in keys
    assert begins_usually(RECORDING.encode()) and begins_usually(LIST.encode())


@pytest.mark.parametrize("between", ["", "\n", ",", "\nbye\n"])
@pytest.mark.parametrize("first", [RECORDING, WITH_TAIL])
def test_a_second_recording_is_told_of(read: Read, first: str, between: str) -> None:
    trace = read(first + between + RECORDING)
    assert told(trace, "a second recording begins at byte") == [len(first + between)]
    assert len(trace) == 2 * len(EVENTS)
    assert told(trace, "events are read as well")


def test_of_several_more_the_first_is_located(read: Read) -> None:
    trace = read(RECORDING * 3)
    assert told(trace, "2 more recordings begin") == [len(RECORDING)]
    assert len(trace) == 3 * len(EVENTS)


def test_a_second_recording_in_the_midst_of_an_event_is_located(read: Read) -> None:
    torn = RECORDING[: RECORDING.index("n30")]
    trace = read(torn + RECORDING)
    assert told(trace, "a second recording begins at byte") == [len(torn)]


def test_a_second_recording_that_is_not_read_is_said_not_to_be(read: Read) -> None:
    trace = read(RECORDING + '\n{"schemaVersion": 1, "traceEvents": []}')
    assert told(trace, "second recording") == told(trace, "is not read") == [len(RECORDING) + 1]


@pytest.mark.parametrize("piece", ['{"a":{', '{"a":"', '{"a":[1,2],', '{"a":{"b":{"c":[[1],'])
def test_text_full_of_beginnings_takes_no_long_search(piece: str) -> None:
    text = b"x" + piece.encode() * 100_000 + b'"traceEvents": [{'
    begun = time.process_time()
    assert find_recording(text[-1_000_000:]) == -1
    assert time.process_time() - begun < 5


def test_other_text_behind_a_recording_is_no_recording(read: Read) -> None:
    trace = read(RECORDING + '\nbye {"traceEvents": 1}\n')
    assert not told(trace, "second recording")
    assert told(trace, "text behind the end")
