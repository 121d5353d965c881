"""Membership among few integers is that of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.among import among

TYPES = (np.uint8, np.int32, np.int64)
NUMBERS = st.integers(-3, 20)


@given(
    values=st.lists(st.integers(0, 12), max_size=40),
    wanted=st.lists(NUMBERS, max_size=12),
    kind=st.sampled_from(TYPES),
    as_array=st.booleans(),
)
def test_the_same_is_found_as_numpy_finds(
    values: list[int], wanted: list[int], kind: type[np.generic], as_array: bool
) -> None:
    held: np.ndarray[Any, Any] = np.array(values, kind)
    asked = np.array(wanted, np.int64) if as_array else wanted
    found = among(held, asked)
    assert found.dtype == np.bool_
    assert found.tolist() == np.isin(held, np.array(wanted, np.int64)).tolist()


@pytest.mark.parametrize("wanted", [[], [1], [1, 2, 3], list(range(20))])
def test_what_is_found_may_be_changed_and_has_the_shape_of_the_values(wanted: list[int]) -> None:
    values = np.arange(6, dtype=np.int32).reshape(2, 3)
    found = among(values, wanted)
    assert found.shape == values.shape
    found |= True
    assert values.tolist() == [[0, 1, 2], [3, 4, 5]]
