"""Numbering keys gives what sorting them would."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.numbering import first_of, number_keys, number_pairs

KEYS = st.lists(st.integers(-5, 20) | st.integers(-(2**62), 2**62), max_size=30)


@given(keys=KEYS)
def test_keys_are_numbered_in_ascending_order(keys: list[int]) -> None:
    numbers, values = number_keys(np.array(keys, np.int64))
    assert values.tolist() == sorted(set(keys))
    assert [values[number] for number in numbers] == keys
    first = first_of(numbers, len(values))
    assert [keys.index(value) for value in values.tolist()] == first.tolist()


@given(pairs=st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), max_size=30))
def test_equal_pairs_share_a_number(pairs: list[tuple[int, int]]) -> None:
    one = np.array([pair[0] for pair in pairs], np.int64)
    two = np.array([pair[1] for pair in pairs], np.int64)
    numbers, count = number_pairs(one, two)
    assert count == len(set(pairs))
    for a, first in zip(pairs, numbers.tolist(), strict=True):
        for b, second in zip(pairs, numbers.tolist(), strict=True):
            assert (a == b) == (first == second)
