"""Arguments come out the same whatever keys were seen before."""

from __future__ import annotations

import json
import pickle
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.reader import layouts
from whichlayer.analysis.reader.arguments import ArgumentReader
from whichlayer.analysis.reader.details import decode_detail
from whichlayer.analysis.reader.events import ABSENT
from whichlayer.analysis.trace.kinds import SliceKind

KINDS = (SliceKind.CPU_OP, SliceKind.RUNTIME, SliceKind.KERNEL, SliceKind.GPU_SYNC)

NAMES = (
    *("External id", "external id", "correlation", "device", "stream", "grid", "Input Dims"),
    *("cbid", "Ev Idx", "queued", 'a "quoted" key', "back\\slash", "é", ""),
)

keys = st.sampled_from(NAMES)
values = st.one_of(
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
    st.booleans(),
    st.text(max_size=3),
    st.lists(st.integers(0, 9), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(0, 9), max_size=2),
)
arguments = st.one_of(st.none(), st.dictionaries(keys, values, max_size=6))


def forget() -> None:
    """Begins anew: no keys are known."""
    layouts._learned.clear()


def texts(many: list[dict[str, Any] | None]) -> list[msgspec.Raw]:
    """The text of arguments, absent for None."""
    return [ABSENT if one is None else msgspec.Raw(msgspec.json.encode(one)) for one in many]


def rows(
    reader: ArgumentReader, kind: SliceKind, many: list[dict[str, Any] | None]
) -> list[tuple[Any, ...]]:
    """What is read of each: its numbers and its details."""
    found = reader.read(kind, texts(many))
    numbers = zip(
        found.external_id.tolist(),
        found.correlation.tolist(),
        found.device.tolist(),
        found.stream.tolist(),
        strict=True,
    )
    stored = [*reader.details, b"{}"]
    details = [decode_detail(stored[one]) for one in found.detail_id.tolist()]
    return list(zip(numbers, details, strict=True))


@given(st.sampled_from(KINDS), st.lists(st.lists(arguments, max_size=4), max_size=4))
def test_keys_seen_before_change_no_argument(
    kind: SliceKind, chunks: list[list[dict[str, Any] | None]]
) -> None:
    alone = {}
    for one in (one for chunk in chunks for one in chunk):
        forget()
        alone[json.dumps(one)] = rows(ArgumentReader(), kind, [one])
    forget()
    reader = ArgumentReader()
    for chunk in [*chunks, *reversed(chunks)]:
        expected = [row for one in chunk for row in alone[json.dumps(one)]]
        assert rows(reader, kind, chunk) == expected


def test_a_key_that_comes_late_is_kept_and_one_that_is_not_wanted_is_not() -> None:
    forget()
    reader = ArgumentReader()
    early: list[dict[str, Any] | None] = [{"External id": n, "Ev Idx": n} for n in range(200)]
    assert rows(reader, SliceKind.CPU_OP, early) == [((n, -1, -1, -1), {}) for n in range(200)]
    assert reader.details == []
    late: list[dict[str, Any] | None] = [*early, {"Input Dims": [[2]], "strange": 5}]
    assert rows(reader, SliceKind.CPU_OP, late)[-1] == ((-1, -1, -1, -1), {"Input Dims": [[2]]})
    assert rows(reader, SliceKind.CPU_OP, early)[-1] == ((199, -1, -1, -1), {})
    assert reader.details == [b'{"Input Dims":[[2]]}']


@pytest.mark.parametrize("key", ['a "quoted" key', "back\\slash", *map(str, range(2))])
def test_no_number_or_form_of_keys_is_too_odd(key: str) -> None:
    forget()
    reader = ArgumentReader()
    many: list[dict[str, Any] | None] = [
        {"correlation": n, f"{key}{n}": n, "grid": [n % 3, 1, 1]} for n in range(300)
    ]
    for _ in range(2):
        assert rows(reader, SliceKind.KERNEL, many) == [
            ((-1, n, -1, -1), {"grid": [n % 3, 1, 1]}) for n in range(300)
        ]
    assert len(reader.details) == 3


def test_equal_details_are_one_whatever_else_stands_beside_them() -> None:
    forget()
    reader = ArgumentReader()
    first: list[dict[str, Any] | None] = [{"grid": [1, 1, 1], "device": 0}]
    second: list[dict[str, Any] | None] = [{"device": 0, "queued": 0, "grid": [1, 1, 1]}]
    third: list[dict[str, Any] | None] = [{"device": 0.0, "grid": [1, 1, 1]}, {"device": "x"}]
    ids = [reader.read(SliceKind.KERNEL, texts(one)).detail_id[0] for one in (first, second, third)]
    assert ids == [0, 0, 0]
    assert reader.details == [b'{"device":0,"grid":[1,1,1]}']


def test_a_reader_sent_to_another_process_keeps_its_details() -> None:
    forget()
    reader = ArgumentReader()
    many: list[dict[str, Any] | None] = [{"grid": [n, 1, 1]} for n in range(3)]
    before = rows(reader, SliceKind.KERNEL, many)
    sent = pickle.loads(pickle.dumps(reader))
    assert sent.details == reader.details
    assert rows(sent, SliceKind.KERNEL, many) == before
