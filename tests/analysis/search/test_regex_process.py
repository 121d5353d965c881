"""Patterns in a process of their own: right, wrong, endless, enormous."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whichlayer.analysis.search.query import QueryError
from whichlayer.analysis.search.regex_process import Interrupted, RegexProcess

TEXTS = ["aten::mm", "void f(int)\nf", "Ünïcode ✓", "", "a" * 40 + "b"]


@pytest.fixture(scope="module")
def process() -> Iterator[RegexProcess]:
    one = RegexProcess(TEXTS, limit_s=1.0)
    yield one
    one.close()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.from_regex(r"[a-f:^$.|✓]{0,8}", fullmatch=True), st.booleans())
def test_it_finds_what_re_finds(process: RegexProcess, pattern: str, ignore_case: bool) -> None:
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    expected = [re.search(pattern, text, flags) is not None for text in TEXTS]
    assert process.match(pattern, ignore_case).tolist() == expected


@pytest.mark.parametrize("pattern", ["[", "(?P<a>", "*", "a{2,1}", "(?<=a+)b"])
def test_a_wrong_pattern_is_one_line(process: RegexProcess, pattern: str) -> None:
    with pytest.raises(QueryError) as raised:
        process.match(pattern, True)
    assert str(raised.value).startswith("not a regular expression: ")
    assert "\n" not in str(raised.value)


def test_an_endless_pattern_ends_and_the_next_one_is_answered() -> None:
    process = RegexProcess(TEXTS, limit_s=0.2)
    try:
        for _ in range(2):
            with pytest.raises(QueryError, match=r"longer than 0\.2 s"):
                process.match("(a+)+$", False)
        assert process.match("mm", False).tolist() == [True, False, False, False, False]
    finally:
        process.close()
    process.close()


def test_an_enormous_pattern_fails_in_one_line(process: RegexProcess) -> None:
    with pytest.raises(QueryError):
        process.match("(" * 100_000, False)
    assert process.match("mm", False).any()


def test_no_text_at_all_matches_nothing() -> None:
    process = RegexProcess([])
    assert process.match("a", False).tolist() == []
    process.close()


def test_an_idle_process_that_was_ended_is_replaced() -> None:
    process = RegexProcess(TEXTS)
    assert process.match("mm", False).any()
    process.interrupt()
    assert process.match("mm", False).any()
    process.close()


def test_another_thread_can_end_a_match() -> None:
    process = RegexProcess(TEXTS, limit_s=30.0)
    assert process.match("mm", False).any()
    timer = threading.Timer(0.2, process.interrupt)
    timer.start()
    with pytest.raises(Interrupted):
        process.match("(a+)+$", False)
    timer.join()
    process.close()
