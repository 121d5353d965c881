"""What is read by line is what decoding every event gives."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from whichlayer.analysis.reader.collector import Collector
from whichlayer.analysis.reader.events import Event
from whichlayer.analysis.reader.framing import Chunk, Span, decode_guess
from whichlayer.analysis.reader.kineto_text import KinetoText
from whichlayer.analysis.trace.assemble import Slices

_WORDS = ("aten::mm", 'a "quote"', "back\\slash", "line\nend", "naïve", "}, {", "0,", "a" * 300, "")
_CATEGORIES = ("cpu_op", "cuda_runtime", "kernel", "python_function", "user_annotation", "odd")

_number = st.one_of(
    st.integers(0, 10**16 - 1).map(str),
    st.tuples(st.integers(0, 10**13), st.integers(0, 999)).map("{0[0]}.{0[1]:03d}".format),
    st.sampled_from(
        (
            "-1",
            "1.5",
            "1e3",
            "007",
            "1.2345",
            "99999999999999999",
            "1.",
            "2305843009213693.952",
            "0",
        )
    ),
)
_value = st.one_of(
    st.integers(-5, 10**17).map(str),
    st.sampled_from(_WORDS).map(json.dumps),
    st.sampled_from(
        ("null", "[[2, 3], []]", "{}", '{"External id": 3}', "01", "[1,", "1}, {", "NaN")
    ),
)
_key = st.sampled_from(
    (
        "External id",
        "external id",
        "Record function id",
        "Sequence number",
        "Fwd thread id",
        "Input Dims",
        "cbid",
        "device",
        "stream",
        "correlation",
        "Ev Idx",
    )
)


@st.composite
def _arguments(draw: st.DrawFn) -> str:
    members: list[tuple[str, str]] = []
    number = st.integers(0, 10**16).map(str)
    if draw(st.booleans()):
        members.append(("External id", draw(number)))
        for name in ("Record function id", "Sequence number"):
            members += [(name, draw(number))] if draw(st.booleans()) else []
    members += draw(st.lists(st.tuples(_key, _value), max_size=3))
    if draw(st.booleans()):
        members.append((draw(st.sampled_from(("Ev Idx", "correlation"))), draw(number)))
    between = draw(st.sampled_from((", ", ",", ",\n      ", ",  ")))
    return between.join(f"{json.dumps(name)}: {value}" for name, value in members)


@st.composite
def _event(draw: st.DrawFn) -> str:
    head = '"cat": {}, "name": {}, "pid": 1, "tid": {},'.format(
        json.dumps(draw(st.sampled_from(_CATEGORIES))),
        json.dumps(draw(st.sampled_from(_WORDS)), ensure_ascii=False),
        draw(st.sampled_from(("1", "2", '"stream 7"', "1.5"))),
    )
    kind = draw(st.sampled_from("XXXXXXsif"))
    if kind != "X":
        return f'  {{\n    "ph": "{kind}", "id": 3, {head}\n    "ts": {draw(_number)}\n  }}'
    times = f'"ts": {draw(_number)}, "dur": {draw(_number)}'
    return (
        f'  {{\n    "ph": "X", {head}\n    {times},\n    "args": {{\n      {draw(_arguments())}'
        "\n    }\n  }"
    )


def _rows(collector: Collector) -> list[tuple[Any, ...]]:
    """Every slice in full, whatever its strings are numbered."""
    strings, details = list(collector.strings), [*collector.slices.arguments.details, b""]
    lanes = collector.lanes.all()
    columns: Slices = collector.slices.finish_with(_none())[0]
    order = np.argsort(columns.event, kind="stable")
    columns.take(order)
    return [
        (start, end, strings[name], strings[cat], kind, lanes[lane], corr, ext, details[det], event)
        for start, end, name, cat, kind, lane, corr, ext, det, event in zip(
            columns.start_ns.tolist(),
            columns.end_ns.tolist(),
            columns.name_id.tolist(),
            columns.category_id.tolist(),
            columns.kind.tolist(),
            columns.lane_id.tolist(),
            columns.correlation.tolist(),
            columns.external_id.tolist(),
            columns.detail_id.tolist(),
            columns.event.tolist(),
            strict=True,
        )
    ]


def _none() -> Slices:
    wide, narrow = np.zeros(0, np.int64), np.zeros(0, np.int32)
    byte = np.zeros(0, np.uint8)
    return Slices(wide, wide, narrow, narrow, byte, narrow, wide, wide, narrow, wide)


def _collected(chunks: Sequence[Chunk]) -> Collector:
    collector = Collector()
    for chunk in chunks:
        collector.add(chunk)
    return collector


def _chunk(events: list[Event], complete: Any = None) -> Chunk:
    chunk = Chunk(events, [], complete)
    chunk.spans.append(Span(0, 1, chunk.count))
    return chunk


def _check(text: bytes, reader: KinetoText) -> bool:
    """Compares the two ways; whether the text could be read by line."""
    apart = reader.read(text)
    if apart is None:
        return False
    events = decode_guess(text)
    assert events is not None
    found, expected = _collected([_chunk(*apart)]), _collected([_chunk(events)])
    assert _rows(found) == _rows(expected)
    assert (found.events, found.ignored, found.first) == (
        expected.events,
        expected.ignored,
        expected.first,
    )
    return True


@given(st.lists(_event(), min_size=1, max_size=12))
def test_what_is_read_by_line_is_what_decoding_gives(events: list[str]) -> None:
    text = ",\n".join(events).lstrip().encode()
    reader = KinetoText()
    if _check(text, reader):
        assert _check(text, reader)  # now everything is known


@given(st.data())
def test_damage_is_left_to_those_who_decode_everything(data: st.DataObject) -> None:
    text = bytearray(_plain(20).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        size = data.draw(st.integers(0, 3))
        text[at : at + size] = data.draw(
            st.sampled_from((b"", b"}", b"{", b'"', b"\n", b"9", b"\x00", b",", b"  },\n  {\n"))
        )
    _check(bytes(text), KinetoText())


def test_events_as_kineto_writes_them_are_read_by_line() -> None:
    assert _check(_plain(50).encode(), KinetoText())


def test_brackets_that_only_fit_together_are_no_arguments() -> None:
    text = _plain(20).replace('"cbid": 0', '"cbid": [1, {"a": 1', 1)
    text = text.replace('"cbid": 1', '"cbid": 1}], "b": 2', 1)
    assert KinetoText().read(text.encode()) is None


def test_other_events_keep_their_place_in_the_file() -> None:
    flow = '  {\n    "ph": "s", "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": 5\n  },\n'
    apart = KinetoText().read((_plain(3) + ",\n" + flow + _plain(4, indent="  ")).encode())
    assert apart is not None
    assert len(apart[0]) == 1
    assert_array_equal(apart[1].other, [3])
    assert_array_equal(apart[1].row, [0, 1, 2, 4, 5, 6, 7])


def _plain(count: int, indent: str = "") -> str:
    events = [
        f'  {{\n    "ph": "X", "cat": "cuda_runtime", "name": "launch", "pid": 1, "tid": {row % 3},\n'
        f'    "ts": {row + 1}000000.{row % 1000:03d}, "dur": 12.500,\n    "args": {{\n'
        f'      "External id": {row}, "cbid": {row % 4}, "correlation": {row + 7}\n    }}\n  }}'
        for row in range(count)
    ]
    return indent + ",\n".join(events).lstrip()


def test_text_that_hardly_recurs_is_decoded() -> None:
    reader = KinetoText()
    assert reader.read(_plain(100).encode()) is not None
    parts = _plain(9000).split("launch")
    various = parts[0] + "".join(f"name {at}{part}" for at, part in enumerate(parts[1:]))
    assert reader.read(various.encode()) is None


@pytest.mark.parametrize("path", ["pt_a100pcie_particle.json", "tl_mi210_gpu_only.json.gz"])
def test_real_recordings_are_read_by_line(path: str, traces: Path) -> None:
    data = (traces / path).read_bytes()
    text = gzip.decompress(data) if path.endswith(".gz") else data
    begin = text.index(b"{", text.index(b'"traceEvents"'))
    chunk = text[begin : text.rindex(b",\n  {", 0, min(len(text), begin + (1 << 20)))]
    assert _check(chunk, KinetoText())
