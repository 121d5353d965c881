"""Events come out the same whatever words the decoder has learned before."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.reader.events import Event, decode_strict
from whichlayer.analysis.reader.vocabulary import Vocabulary

ids = st.one_of(st.integers(-(1 << 66), 1 << 66), st.text(max_size=3))
events = st.fixed_dictionaries(
    {},
    optional={
        "ph": st.sampled_from(["X", "s", "f", ""]),
        "cat": st.text(max_size=2),
        "name": st.text(max_size=5),
        "pid": ids,
        "tid": ids,
        "ts": st.integers(0, 1 << 50),
        "args": st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    },
)


def fields(decoded: list[Event]) -> list[tuple[Any, ...]]:
    """The events as plain values."""
    return [
        (one.ph, one.cat, one.name, one.pid, one.tid, bytes(one.ts), bytes(one.args), one.id)
        for one in decoded
    ]


@given(st.lists(st.lists(events, max_size=5), max_size=5))
def test_words_learned_before_change_no_event(chunks: list[list[dict[str, Any]]]) -> None:
    vocabulary = Vocabulary()
    for chunk in [*chunks, *reversed(chunks)]:
        text = json.dumps(chunk).encode()
        try:
            expected = fields(decode_strict(text))
        except msgspec.ValidationError:
            with pytest.raises(msgspec.ValidationError):
                vocabulary.decode(text)
        else:
            assert fields(vocabulary.decode(text)) == expected


def test_known_words_are_the_same_objects_again() -> None:
    vocabulary = Vocabulary()
    text = b'[{"ph":"X","cat":"an operator","pid":123456,"tid":"main thread"}]'
    (learned,), (first,), (second,) = (vocabulary.decode(text) for _ in range(3))
    assert fields([first]) == fields([learned])
    assert first.cat is second.cat
    assert first.pid is second.pid
    assert first.tid is second.tid


def test_a_field_of_too_many_words_takes_any() -> None:
    vocabulary = Vocabulary()
    many = json.dumps([{"ph": "X", "tid": tid} for tid in range(1000, 3000)]).encode()
    for _ in range(2):
        assert [one.tid for one in vocabulary.decode(many)] == list(range(1000, 3000))
    (event,) = vocabulary.decode(b'[{"ph":"X","tid":99999}]')
    assert event.tid == 99999


def test_text_that_is_no_json_is_refused_before_and_after_learning() -> None:
    vocabulary = Vocabulary()
    for text in (b'[{"ph":"X"},]', b'[{"ph":"X"}]', b'[{"ph":"X"},]', b'[{"ph":"f"},]'):
        if text.endswith(b",]"):
            with pytest.raises(msgspec.DecodeError):
                vocabulary.decode(text)
        else:
            assert [one.ph for one in vocabulary.decode(text)] == ["X"]
