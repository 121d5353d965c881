"""What is typed to search, and what it asks for."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.search import query as module
from whichlayer.analysis.search.query import (
    INT64_MAX,
    KINDS,
    Field,
    QueryError,
    Term,
    parse_query,
    quoted,
    toggled_regex,
)
from whichlayer.analysis.trace.kinds import SliceKind


def terms(text: str) -> list[Term]:
    return list(parse_query(text).terms)


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).attempted > 0
    assert doctest.testmod(module).failed == 0


def test_words_are_conditions_on_names_that_all_have_to_be_met() -> None:
    assert terms("gemm bf16") == [Term(Field.NAME, "gemm"), Term(Field.NAME, "bf16")]
    assert terms("   ") == []


def test_quotes_keep_blanks_and_a_regex_goes_to_its_slash() -> None:
    assert terms('"void at::native"') == [Term(Field.NAME, "void at::native")]
    assert terms("/a b/ c") == [Term(Field.NAME, "a b", is_regex=True), Term(Field.NAME, "c")]
    assert terms("/unfinished and") == [Term(Field.NAME, "unfinished and", is_regex=True)]
    assert terms("/usr/lib/x.py") == [Term(Field.NAME, "usr/lib/x.py", is_regex=True)]
    assert terms("/") == []


def test_names_with_colons_are_no_keys() -> None:
    for name in ("aten::mm", "kernel::launch", "train.py:42", "file:line"):
        assert terms(name) == [Term(Field.NAME, name)]


@pytest.mark.parametrize("key", KINDS)
def test_a_kind_alone_asks_for_all_of_it(key: str) -> None:
    assert terms(f"{key}:") == [Term(Field.NAME, "", kinds=KINDS[key])]
    assert terms(f"{key}:x") == [Term(Field.NAME, "x", kinds=KINDS[key])]


def test_every_field_has_its_key() -> None:
    assert terms("family~gemm")[0] == Term(Field.FAMILY, "gemm")
    assert terms("-lane:s7")[0] == Term(Field.LANE, "s7", negated=True)
    assert terms("shape:/^8,/")[0] == Term(Field.SHAPE, "^8,", is_regex=True)
    assert terms("name:")[0:] == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("dur>100us", 100_001, INT64_MAX),
        ("dur>=100us", 100_000, INT64_MAX),
        ("dur:1.5ms", 1_500_000, INT64_MAX),
        ("dur<2s", 0, 2 * 10**9 - 1),
        ("dur<=7ns", 0, 7),
        ("dur>3", 3_001, INT64_MAX),
        ("dur>99999999999999999999s", INT64_MAX + 1, INT64_MAX),
    ],
)
def test_durations_have_ends(text: str, low: int, high: int) -> None:
    assert terms(text) == [Term(Field.DURATION, low_ns=low, high_ns=high)]


def test_a_duration_that_is_still_typed_is_nothing_and_a_wrong_one_is_told() -> None:
    assert terms("dur>") == []
    with pytest.raises(QueryError, match="'soon' is not a time"):
        parse_query("dur>soon")
    with pytest.raises(QueryError, match="more than 64"):
        parse_query("a " * 65)


def test_a_capital_letter_asks_for_capitals_but_an_escape_does_not() -> None:
    assert Term(Field.NAME, "gemm").ignores_case
    assert not Term(Field.NAME, "Gemm").ignores_case
    assert Term(Field.NAME, r"\Sgemm", is_regex=True).ignores_case


@given(st.text(max_size=60))
def test_anything_may_be_typed(text: str) -> None:
    try:
        parse_query(text)
    except QueryError as error:
        assert str(error) and "\n" not in str(error)
    assert toggled_regex(toggled_regex(text)) in (text, text.removesuffix("/"), f"/{text[1:]}/")


@given(st.text(min_size=1, max_size=40).filter(str.isprintable))
def test_a_quoted_name_asks_for_that_name_alone(name: str) -> None:
    found = terms(quoted(name))
    assert len(found) == 1
    assert found[0].field is Field.NAME
    assert found[0].kinds == ()
    assert not found[0].negated
    assert found[0].is_regex == ('"' in name)
    if not found[0].is_regex:
        assert found[0].text == name


def test_kinds_leave_no_recorded_work_out() -> None:
    named = {kind for kinds in KINDS.values() for kind in kinds}
    left = set(SliceKind) - named
    assert left == {
        SliceKind.GPU_SYNC, SliceKind.OVERHEAD, SliceKind.PROFILER, SliceKind.OTHER,
    }  # fmt: skip
