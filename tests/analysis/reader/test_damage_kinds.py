"""Every kind of damage that the documentation lists: what is kept, and what is said."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.analysis.reader.conftest import Read
from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.reader import open_trace
from whichlayer.analysis.trace.columns import Trace

GOOD = '{"ph":"X","name":"good","cat":"cpu_op","pid":1,"tid":1,"ts":5,"dur":1}'
LAYOUTS = {
    "compact": ('{{"traceEvents":[{0}]}}', ","),
    "pretty": ('{{\n  "schemaVersion": 1,\n  "traceEvents": [\n  {0}\n  ]\n}}\n', ",\n  "),
}
DOCUMENT = Path(__file__).parents[3] / "docs" / "damage.md"


def event(name: str, **keys: object) -> str:
    return json.dumps({"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": 7, "dur": 1} | keys)


@dataclass(frozen=True)
class Kind:
    """A kind of damage to the second of three events.

    Attributes:
        code: of the warning that tells it, empty where it is no damage.
        text: the second event.
        kept: names of the slices that there are.
        count: what the warning counts.
    """

    code: str
    text: str
    kept: tuple[str, ...] = ("good", "good", "odd")
    count: int = 1


KINDS = {
    "NaN": Kind("repaired", event("odd", args={"a": float("nan")})),
    "infinity": Kind("repaired", event("odd", args={"a": float("-inf")})),
    "N/A": Kind("repaired", event("odd").replace('"dur": 1', '"dur": 1, "args": {"a": N/A}')),
    "control characters": Kind("repaired", event("odd", args={"a": "x"}).replace('"x"', '"\x01"')),
    "single backslashes": Kind(
        "repaired", event("odd", args={"a": "x"}).replace('"x"', r'"C:\dir"')
    ),
    "quotes inside a name": Kind(
        "repaired", event("odd", cat="x").replace('"x"', '"say "hi" now"'), count=2
    ),
    "trailing comma": Kind("repaired", event("odd").replace('"dur": 1', '"dur": 1,')),
    "two commas": Kind("repaired", event("odd") + ","),
    "missing value": Kind("damaged", event("odd").replace('"ts": 7', '"ts": '), ("good", "good")),
    "garbage": Kind("damaged", event("odd").replace('"pid"', "@@@"), ("good", "good")),
    "deep nesting": Kind(
        "damaged",
        event("odd", args=1).replace("1}", "[" * 5000 + "]" * 5000 + "}"),
        ("good", "good"),
    ),
    "key twice": Kind("repeated-key", event("first").replace('"dur"', '"name": "odd", "dur"')),
    "key twice in arguments": Kind(
        "repeated-key", event("odd").replace('"dur": 1', '"dur": 1, "args": {"a": 1, "a": 2}')
    ),
    "no duration": Kind("Q6", event("odd", dur=None)),
    "negative duration": Kind("Q6", event("odd", dur=-5)),
    "no time": Kind("Q6", event("odd", ts=None), ("good", "good")),
    "a time that is no number": Kind("Q6", event("odd", ts="soon"), ("good", "good")),
    "a counter value that is no finite number": Kind(
        "not-finite", event("odd", ph="C", args={"a": "inf", "b": 1}), ("good", "good")
    ),
    "no event": Kind("no-phase", "null", ("good", "good")),
    "unknown phase": Kind("no-phase", event("odd", ph="?"), ("good", "good")),
    "string numbers": Kind("", event("odd", ts="7", dur="1.5", pid="1", tid="1")),
    "numbers beyond 64 bits": Kind("", event("odd", pid=10**25, tid=-(10**25))),
    "zero length": Kind("", event("odd", dur=0)),
}


def told(trace: Trace) -> list[TraceWarning]:
    return [one for one in trace.warnings if one.code not in ("Q1", "unclosed")]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_costs_no_other_event_and_is_counted_and_located(
    read: Read, kind: str, layout: str
) -> None:
    frame, comma = LAYOUTS[layout]
    before = comma.join([GOOD, KINDS[kind].text])
    text = frame.format(comma.join([before, GOOD]))
    trace = read(text)
    assert sorted(trace.name(row) for row in range(len(trace))) == list(KINDS[kind].kept)
    if not KINDS[kind].code:
        assert not told(trace)
        return
    (warning,) = told(trace)
    assert (warning.code, warning.count) == (KINDS[kind].code, KINDS[kind].count)
    assert 0 <= warning.byte_offset <= text.index(before) + len(before)
    assert str(warning.byte_offset) in warning.message
    assert warning.message.isprintable()


def test_two_events_without_a_comma_between_are_both_kept(read: Read) -> None:
    trace = read('{"traceEvents":[' + GOOD + event("odd") + "," + GOOD + "]}")
    assert len(trace) == 3
    assert [one.code for one in told(trace)] == ["repaired"]


def test_a_comma_before_the_closing_bracket_is_told(read: Read) -> None:
    for end in (",]}", " ,\n]}", ",,]}"):
        trace = read('{"traceEvents":[' + GOOD + end)
        assert len(trace) == 1
        (warning,) = told(trace)
        assert (warning.code, warning.byte_offset) == ("repaired", 16 + len(GOOD))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_other_encodings_are_read_and_told(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "trace.json"
    text = '{"traceEvents":[' + event("größe") + "]}"
    for pack in (bytes, gzip.compress):
        path.write_bytes(pack(json.dumps(json.loads(text), ensure_ascii=False).encode(encoding)))
        trace = open_trace(path)
        assert trace.name(0) == "größe"
        (warning,) = told(trace)
        assert warning.code == "encoding" and encoding[:6].upper() in warning.message
        assert trace.args(0) == {}


def test_bytes_of_another_encoding_are_replaced_and_counted(read: Read) -> None:
    trace = read(b'[{"ph":"X","name":"gr\xf6\xdfe","ts":1,"dur":1}]')
    assert trace.name(0) == "gr\ufffd\ufffde"
    (warning,) = told(trace)
    assert (warning.code, warning.count, warning.byte_offset) == ("repaired", 2, 21)


def test_bytes_of_another_encoding_in_arguments_are_told_as_well(read: Read) -> None:
    first = b'[{"ph":"X","name":"a","ts":1,"dur":1},'
    trace = read(first + b'{"ph":"X","name":"b","ts":1,"dur":1,"args":{"a":"\xf6"}}]')
    (warning,) = told(trace)
    assert (warning.code, warning.byte_offset) == ("repaired", len(first) + 49)
    assert trace.args(1) == {"a": "\ufffd"}


def test_the_unit_of_display_never_scales(read: Read) -> None:
    for unit in ("ns", "ms", "us", 5, None):
        trace = read(json.dumps({"displayTimeUnit": unit, "traceEvents": [json.loads(GOOD)]}))
        assert int(trace.end_ns[0] - trace.start_ns[0]) == 1000


@pytest.mark.parametrize(
    ("value", "base"),
    [
        ("17", 17),
        ('"17"', 17),
        ("17.0", 17),
        ("-17", None),
        ("1e400", None),
        ("9223372036854775808", None),
        ('"soon"', None),
        ("[1]", None),
        ("null", None),
    ],
)
def test_the_base_of_times_is_a_number_or_nothing(read: Read, value: str, base: int | None) -> None:
    trace = read('{"baseTimeNanoseconds": ' + value + ', "traceEvents": [' + GOOD + "]}")
    assert (trace.base_ns, len(trace)) == (base, 1)


def test_top_level_keys_that_differ_are_told_and_the_last_counts(read: Read) -> None:
    trace = read('{"a": 1, "b": 2, "a": 1, "b": 3, "traceEvents": [' + GOOD + "]}")
    assert trace.header == {"a": 1, "b": 3}
    (warning,) = told(trace)
    assert (warning.code, warning.count, warning.byte_offset) == ("repeated-key", 1, 30)
    assert "first: b" in warning.message


def test_all_lists_of_events_are_read(read: Read) -> None:
    one = '"traceEvents": [' + GOOD + "]"
    for times in (2, 3, 150):
        trace = read("{" + ", ".join([one] * times) + ', "z": 1}')
        assert len(trace) == min(times, 100)
        assert any("the second time at byte" in warning.message for warning in told(trace))
        assert [one.code for one in told(trace)] == ["too-large"] * (times > 100) + ["repeated-key"]
        assert times > 100 or trace.header == {"z": 1}


def test_header_values_that_cannot_be_read_are_told(read: Read) -> None:
    deep = "[" * 3000 + "]" * 3000
    text = '{"a": {"x" 1 2}, "b": NaN, "c": ' + deep + ', "d": 4, "traceEvents": [' + GOOD + "]}"
    trace = read(text)
    assert trace.header == {"a": None, "b": None, "d": 4}
    assert [one.code for one in told(trace)] == ["damaged", "repaired", "too-large"]
    assert [one.byte_offset for one in told(trace)] == [
        text.index('{"x"'),
        text.index("NaN"),
        text.index(deep),
    ]


CUTS: list[Callable[[bytes], bytes]] = [
    lambda text: text[: text.rindex(b"]")],
    lambda text: text[: text.rindex(b'"dur"')],
    lambda text: gzip.compress(text)[:-12],
]


@pytest.mark.parametrize("cut", CUTS, ids=["no closing bracket", "inside an event", "gzip"])
def test_a_cut_file_says_where(tmp_path: Path, cut: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "trace.json"
    events = ",".join(event(str(number)) for number in range(50))
    path.write_bytes(cut(('{"traceEvents":[' + events + "]}").encode()))
    trace = open_trace(path)
    assert 1 <= len(trace) <= 50
    (warning,) = told(trace)
    assert warning.code == "truncated"
    assert f"read up to byte {warning.byte_offset} of" in warning.message


def test_a_list_without_its_colon_is_found(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('{"schemaVersion": 1, "traceEvents" [' + event("here") + "]}")
    trace = open_trace(path)
    assert [trace.name(row) for row in range(len(trace))] == ["here"]
    assert told(trace)


@pytest.mark.parametrize("layout", ["[{0}]", '{{"traceEvents":[{0}],"z":1}}'])
@pytest.mark.parametrize("space", ["", " \n", " " * 200_000], ids=len)
def test_text_behind_the_end_is_told(read: Read, layout: str, space: str) -> None:
    text = layout.format(GOOD) + space
    for tail in ("xxxxx", "trailing garbage {}", "}", ",", "\0\0"):
        trace = read(text + tail, 1 << 12)
        (warning,) = told(trace)
        assert (len(trace), warning.code, warning.byte_offset) == (1, "damaged", len(text))
        assert f"from byte {len(text)} on" in warning.message
    assert not told(read(text))


def test_the_documentation_lists_every_kind() -> None:
    rows = re.findall(r"(?m)^\| ([^|]+?) \| ([^|]*?) \| ([^|]*?) \|$", DOCUMENT.read_text())
    listed = {kind: code.strip("`") for kind, _, code in rows}
    assert {name: kind.code or "-" for name, kind in KINDS.items()}.items() <= listed.items()
