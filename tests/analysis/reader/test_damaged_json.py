"""Damaged files: nothing but the damaged events is lost, and every loss is told."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.reader.conftest import Read, damage
from tests.support.chrome_text import LAYOUTS, Layout, Verbatim, write_event
from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.trace.columns import Trace

COUNT = 24
TOKENS = [
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\0", b"\x07", b"\n", b"\xff", b"\xc3"),
    *(b"NaN", b"-", b"null", b"9" * 30, b"\\u", b"\\ud800", b'"ph":', b"}},", b"\x7f"),
]


def numbered(number: int) -> dict[str, Any]:
    return {
        "ph": "X",
        "name": f"event {number}",
        "cat": "cpu_op",
        "pid": 1,
        "tid": number % 3,
        "ts": Verbatim(f"{1000 + number}.125"),
        "dur": Verbatim("0.500"),
        "args": {"External id": number, "Input Dims": [[number, 2], []], "Input type": ["float"]},
    }


def with_spans(layout: Layout, count: int = COUNT) -> tuple[bytes, list[tuple[int, int]]]:
    """A file, and where each of its events stands."""
    text, spans = layout.before.encode(), []
    for number in range(count):
        event = write_event(numbered(number), layout).encode()
        spans.append((len(text), len(text) + len(event)))
        text += event + (layout.event.encode() if number < count - 1 else b"")
    return text + layout.after.encode(), spans


def numbers(trace: Trace) -> list[int]:
    """Which events are there, unharmed: with their own name, time, and arguments."""
    found = []
    for row in range(len(trace)):
        number = int(trace.external_id[row])
        start = int(trace.start_ns[row]) + trace.origin_ns
        if (
            trace.name(row) == f"event {number}"
            and start == 1_000_125 + 1000 * number
            and trace.detail(row).get("Input Dims") == [[number, 2], []]
            and trace.args(row).get("External id") == number
        ):
            found.append(number)
    return sorted(found)


def untouched(spans: list[tuple[int, int]], start: int, end: int) -> set[int]:
    """Events that a change from start to end does not touch, nor the separators beside them."""
    reach = 4
    return {
        number
        for number, (first, last) in enumerate(spans)
        if last + reach < start or first - reach > end
    }


@settings(max_examples=120)
@given(
    layout=st.sampled_from(list(LAYOUTS.values())),
    place=st.floats(0, 1, exclude_max=True),
    change=st.one_of(st.sampled_from(TOKENS), st.integers(0, 7), st.integers(-90, -1)),
    chunk=st.sampled_from([200, 900, 1 << 19]),
)
def test_one_damaged_spot_costs_no_event_but_those_it_touches(
    read: Read, layout: Layout, place: float, change: bytes | int, chunk: int
) -> None:
    text, spans = with_spans(layout)
    start = spans[0][0] + int(place * (spans[-1][1] - spans[0][0]))
    end = start + 1
    if isinstance(change, bytes):
        broken = text[:start] + change + text[start:]
    elif change >= 0:
        broken = text[:start] + bytes([text[start] ^ 1 << change]) + text[start + 1 :]
    else:
        end = min(start - change, spans[-1][1])
        broken = text[:start] + text[end:]
    found = numbers(read(broken, chunk))
    assert found == sorted(set(found))
    assert set(found) >= untouched(spans, start, end)


@settings(max_examples=60)
@given(
    layout=st.sampled_from(list(LAYOUTS.values())),
    place=st.floats(0, 1, exclude_max=True),
    chunk=st.sampled_from([200, 1 << 19]),
)
def test_a_cut_file_gives_everything_before_the_cut(
    read: Read, layout: Layout, place: float, chunk: int
) -> None:
    text, spans = with_spans(layout)
    cut = spans[0][1] + int(place * (len(text) - spans[0][1]))
    trace = read(text[:cut], chunk)
    assert numbers(trace) == [number for number, (_, end) in enumerate(spans) if end <= cut]
    if cut <= spans[-1][1]:
        assert damage(trace) == ["truncated"]
        assert spans[0][1] <= trace.warnings[0].byte_offset <= cut


@settings(max_examples=60)
@given(st.binary(max_size=400), st.sampled_from([16, 64, 1 << 19]))
def test_garbage_raises_nothing_but_trace_errors(read: Read, garbage: bytes, chunk: int) -> None:
    for text in (b"[" + garbage, b'{"traceEvents":[{"ph":"X"},' + garbage, b"{" + garbage):
        try:
            trace = read(text, chunk)
        except TraceError as error:
            assert "\n" not in str(error)
        else:
            assert all(warning.message.isprintable() for warning in trace.warnings)


REPAIRS = {
    "bare words": (b'"args":{"a":NaN,"b":-Infinity,"c":N/A,"d":[nan]}', "event"),
    "control characters": (b'"name":"a\x07b\n\tc"', "a\x07b\n\tc"),
    "invalid UTF-8": (b'"name":"a\xff\xfeb"', "a\ufffd\ufffdb"),
    "lone surrogate": (b'"name":"a\\ud83db"', "a\ufffdb"),
    "pretty path": (b'"name":\n  "C:\\dir\\",\n  "dur":1', "C:\\dir\\"),
    "windows path": (b'"name":"C:\\Users\\me"', "C:\\Users\\me"),
    "path that ends in a backslash": (b'"name":"C:\\dir\\"', "C:\\dir\\"),
    "quotes inside": (b'"name":"foo("bar")"', 'foo("bar")'),
}


@pytest.mark.parametrize(("bad", "name"), REPAIRS.values(), ids=list(REPAIRS))
def test_usual_damage_is_repaired(read: Read, bad: bytes, name: str) -> None:
    good = b'{"ph":"X","name":"good","ts":1,"dur":1,"args":{"note":"C: NaN, \\"N/A\\""}}'
    event = b'{"ph":"X","name":"event","ts":5.5,"dur":1,"tid":1,' + bad + b',"cat":"x"}'
    trace = read(b"[" + good + b",\n" + event + b",\n" + good + b"]")
    assert (trace.events, len(trace)) == (3, 3)
    assert damage(trace) == ["repaired"]
    row = next(row for row in range(3) if trace.name(row) != "good")
    assert trace.name(row) == name
    others = [trace.args(other) for other in range(3) if other != row]
    assert others == [{"note": 'C: NaN, "N/A"'}] * 2
    if b"args" in bad:
        assert trace.args(row) == {"a": None, "b": None, "c": None, "d": [None]}


def test_losses_are_counted_and_located(read: Read) -> None:
    text, spans = with_spans(LAYOUTS["kineto"])
    for number in (5, 11):
        start, end = spans[number]
        text = text[:start] + text[start:end].replace(b'"cat"', b'"c"at" oops') + text[end:]
        spans = [(a + 6 * (a > start), b + 6 * (b > start)) for a, b in spans]
    for chunk in (300, 1 << 19):
        trace = read(text, chunk)
        assert numbers(trace) == [number for number in range(COUNT) if number not in (5, 11)]
        (warning,) = (one for one in trace.warnings if one.code == "damaged")
        assert (warning.count, warning.byte_offset) == (2, spans[5][0])


@settings(max_examples=80)
@given(
    layout=st.sampled_from(list(LAYOUTS.values())),
    number=st.integers(0, COUNT - 1),
    garbage=st.text('a{}[]:,"\\0/*@1 \n', min_size=1, max_size=60),
    chunk=st.sampled_from([200, 1 << 19]),
)
def test_no_text_between_events_is_passed_over_in_silence(
    read: Read, layout: Layout, number: int, garbage: str, chunk: int
) -> None:
    text, spans = with_spans(layout)
    at = spans[number][0]
    trace = read(text[:at] + garbage.encode() + text[at:], chunk)
    assert bool(trace.warnings) >= bool(garbage.strip(" \n"))
    assert all(-1 <= one.byte_offset <= at + len(garbage) for one in trace.warnings)


def lost(trace: Trace) -> tuple[int, int, int]:
    """Places, where the first is, and bytes that could not be read."""
    (warning,) = (one for one in trace.warnings if one.code == "damaged")
    size = int(warning.message.split(" byte")[0])
    assert f"{size} bytes in {warning.count} place" in warning.message
    assert f"from byte {warning.byte_offset} on" in warning.message
    assert "how many events were there is not known" in warning.message
    return warning.count, warning.byte_offset, size


@pytest.mark.parametrize("chunk", [300, 1 << 19])
@pytest.mark.parametrize("several", [1, 9])
def test_events_whose_beginning_is_lost_are_told(read: Read, several: int, chunk: int) -> None:
    text, spans = with_spans(LAYOUTS["compact"])
    for number in reversed(range(5, 5 + several)):
        text = text[: spans[number][0]] + text[spans[number][0] + 40 :]
    trace = read(text, chunk)
    assert numbers(trace) == [*range(5), *range(5 + several, COUNT)]
    size = spans[4 + several][1] - spans[5][0] - 40 * several
    assert lost(trace) == (1, spans[5][0], size)


@pytest.mark.parametrize("chunk", [300, 1 << 19])
@pytest.mark.parametrize("filler", [b"\0", b" ", b"\x93\x07q", b""], ids=repr)
@pytest.mark.parametrize("inside", [0, 5, 9, 26])
def test_a_hole_is_told_with_its_bytes_and_no_number_of_events(
    read: Read, filler: bytes, inside: int, chunk: int
) -> None:
    text, spans = with_spans(LAYOUTS["compact"])
    start, end = spans[6][0] + inside, spans[11][0] + 60
    hole = filler * (end - start)
    trace = read(text[:start] + hole[: end - start] + text[end:], chunk)
    assert numbers(trace) == [*range(6), *range(12, COUNT)]
    if inside == 0 and filler in (b" ", b""):
        first, behind = (end if filler else start), spans[11][1] - end
        assert lost(trace) == (1, first, behind)
    else:
        gone = 0 if filler else end - start
        assert lost(trace) == (1, spans[6][0], spans[11][1] - spans[6][0] - gone)
        assert len(trace) == COUNT - 6


def test_zeros_within_a_name_are_a_hole_and_no_name(read: Read) -> None:
    text, spans = with_spans(LAYOUTS["compact"])
    start = text.index(b"event 6") + 2
    end = text.index(b"event 9") + 2
    trace = read(text[:start] + bytes(end - start) + text[end:])
    assert (len(trace), numbers(trace)) == (COUNT - 4, [*range(6), *range(10, COUNT)])
    assert lost(trace) == (1, spans[6][0], spans[9][1] - spans[6][0])


@pytest.mark.parametrize("garbage", [b"@@@@", b"word ", b"/* c */", b"}", b"1}"])
def test_garbage_before_an_event_is_told_and_costs_no_event(read: Read, garbage: bytes) -> None:
    text, spans = with_spans(LAYOUTS["line"])
    at = spans[3][0]
    trace = read(text[:at] + garbage + text[at:])
    assert numbers(trace) == list(range(COUNT))
    (warning,) = (one for one in trace.warnings if one.code == "damaged")
    assert (warning.count, warning.byte_offset) == (1, at)


def test_values_that_are_no_events_are_no_loss_beside_damage(read: Read) -> None:
    text, spans = with_spans(LAYOUTS["compact"])
    at = spans[3][0]
    trace = read(text[:at] + b"}" + text[at : spans[3][1]] + b",null,7" + text[spans[3][1] :])
    assert numbers(trace) == list(range(COUNT))
    counts = {one.code: one.count for one in trace.warnings if one.code in ("damaged", "no-phase")}
    assert counts == {"damaged": 1, "no-phase": 2}


def test_a_damaged_last_event_does_not_hide_the_keys_behind(read: Read) -> None:
    text, spans = with_spans(LAYOUTS["line"])
    start, end = spans[-1]
    broken = text[:start] + text[start:end].replace(b'"cat"', b'"c"at" oops') + text[end:]
    trace = read(broken)
    assert numbers(trace) == list(range(COUNT - 1))
    assert trace.header == {"a": [{}], "b": {"c": [{}, {}]}}
    assert damage(trace) == ["damaged"]


def test_a_damaged_header_costs_no_event(read: Read) -> None:
    text, _ = with_spans(LAYOUTS["compact"])
    broken = b'{"schemaVersion": 1, "a": "x" y", "b": 2, ' + text[1:]
    trace = read(broken)
    assert numbers(trace) == list(range(COUNT))
    assert trace.header == {"schemaVersion": 1, "a": "x"}
    assert damage(trace) == ["damaged"]


def test_an_event_that_is_too_large_is_left_out(read: Read) -> None:
    text, spans = with_spans(LAYOUTS["compact"])
    for giant in (b'"' + b"x" * 200_000 + b'"', b"[" + b'{"a":1},' * 25_000 + b"0]"):
        event = b'{"ph":"X","name":"giant","ts":1,"args":{"x":' + giant + b"}},"
        at = spans[7][0]
        trace = read(text[:at] + event + text[at:], chunk=1 << 10)
        assert numbers(trace) == list(range(COUNT))
        assert damage(trace) == ["too-large"]


def test_a_large_event_is_read_whole(read: Read) -> None:
    text, spans = with_spans(LAYOUTS["compact"])
    event = b'{"ph":"X","name":"large","ts":1,"dur":1,"args":{"x":[' + b'{"a":1},' * 2500 + b"0]}},"
    at = spans[7][0]
    trace = read(text[:at] + event + text[at:], chunk=1 << 10)
    assert (trace.events, damage(trace)) == (COUNT + 1, [])
    row = next(row for row in range(len(trace)) if trace.name(row) == "large")
    assert len(trace.args(row)["x"]) == 2501


@pytest.mark.parametrize(
    "piece",
    [b"{", b"}", b'"', b"[", b"]", b"\\", b'{"ph":', b'{"ph":[0,', b'{"ph":"X","args":[{"a":1},'],
    ids=repr,
)
def test_endless_nonsense_ends(read: Read, piece: bytes) -> None:
    started = time.process_time()
    try:
        read(b"[" + piece * (200_000 // len(piece)), chunk=1 << 14)
    except TraceError as error:
        assert str(error)
    assert time.process_time() - started < 20  # minutes, if it grew with the square
