"""Nanoseconds from decimal text, against exact arithmetic."""

from __future__ import annotations

import warnings
from decimal import ROUND_DOWN, Decimal, InvalidOperation, localcontext

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whichlayer.analysis.reader.decimals import parse_times

NUMBERS = st.one_of(
    st.integers(0, 10**16).map(str),
    st.integers(-5, 10**19).map(str),
    st.decimals(0, 10**16, places=3).map(lambda number: format(number, "f")),
    st.decimals(-(10**6), 10**13, places=12).map(lambda number: format(number, "f")),
    st.floats(1, 1e15).map(repr),
    st.sampled_from(["0.0005", "0.0015", "1e3", "1E-7", "-0.0015", '"12.5"', "1e400", "1e-400"]),
    st.sampled_from(["9999999999999999.999", "2305843009213693.951", "12345678901234567.5"]),
    st.sampled_from(["-", "", "nan", "null", "[]", '"x"', "1.", "1e", "1_0", "0x10", "9" * 2000]),
)


def exact(text: str) -> Decimal | None:
    """Nanoseconds to 1e-12 (more digits do not count), or None where the text is no time."""
    if "_" in text:
        return None
    try:
        number = Decimal(text.strip('"')) * 1000
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number) >= 2**61:
        return None
    return number.quantize(Decimal("1e-12"), ROUND_DOWN)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20))
@example([("0.0005", "0.0005"), ("1695835535123456.789", "0.5")])
@example([("1.0000000000000002", "0.0005")])
def test_starts_and_sums_equal_exact_arithmetic(pairs: list[tuple[str, str]]) -> None:
    first = parse_times([one.encode() for one, _ in pairs])
    second = parse_times([two.encode() for _, two in pairs])
    starts, sums = first.rounded(), first.plus(second)
    with localcontext(prec=2100):
        for row, (one, two) in enumerate(pairs):
            start, length = exact(one), exact(two)
            assert bool(first.bad[row]) == (start is None)
            assert int(starts[row]) == round(start or 0)
            assert int(sums[row]) == round((start or 0) + (length or 0))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["8306017670485", "8306017670486"], [8306017670485000, 8306017670486000]),
        (["1695835535123456.789"], [1695835535123456789]),
        (["0.001", "12.345", "6869181218001.421"], [1, 12345, 6869181218001421]),
        (["1.5", "2", "3.25", "0.0004"], [1500, 2000, 3250, 0]),
    ],
)
def test_usual_forms_are_read_without_a_warning(texts: list[str], expected: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_times([one.encode() for one in texts]).rounded().tolist() == expected
