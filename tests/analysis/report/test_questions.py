"""Questions in free words lead to the entry that they are about, or to those near it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.report.explanations import explain
from whichlayer.analysis.report.questions import answer


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("what is this 2 ms between launch and kernel?", "launch delay"),
        ("Why is my GPU idle?", "gap"),
        ("how are GB/s computed", "bytes"),
        ("what is the profiler costing me", "profiler-overhead"),
        ("how deep is the queue", "queue depth"),
        ("module loading", "module-load"),
        ("why is my verdict unclear", "verdict"),
        ("what is a graph break?", "graph-break"),
    ],
)
def test_a_question_finds_its_entry(question: str, word: str) -> None:
    assert answer(question).word == word


@pytest.mark.parametrize("question", ["why does the kernel wait in the queue", "who owns this gap"])
def test_where_it_is_not_clear_the_nearest_entries_are_named(question: str) -> None:
    found = answer(question)
    assert found.word == ""
    assert 2 <= len(found.near) <= 5


@pytest.mark.parametrize("question", ["", "xyzzy plugh", "what is the of", "?!"])
def test_words_that_no_entry_has_find_nothing(question: str) -> None:
    assert answer(question).word == ""
    assert answer(question).near == ()


@given(st.text(max_size=80))
def test_whatever_is_named_can_be_explained(question: str) -> None:
    found = answer(question)
    for word in (found.word, *found.near):
        assert not word or explain(word)
