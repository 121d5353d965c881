"""Small numbers for large keys, without sorting where the keys lie close together."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]

#: A table over the keys' range is used up to this many entries per key.
_TABLE: Final = 32
_SMALL: Final = 1 << 16
_LARGE: Final = 1 << 31
#: At most so many bits of a hash are looked up in a table (32 MB).
_BITS: Final = 22


def number_keys(keys: NDArray[Any]) -> tuple[Int64, Int64]:
    """Number the distinct keys in ascending order.

    Args:
        keys: integers (n,).

    Returns:
        int64 (n,), the number of each key's value, and the distinct values, ascending.
    """
    if not len(keys):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    low, high = int(keys.min()), int(keys.max())
    if high - low >= _TABLE * len(keys) + _SMALL:
        values, inverse = np.unique(keys, return_inverse=True)
        return inverse.astype(np.int64), values.astype(np.int64)
    shifted = keys.astype(np.int64) - low
    present = np.zeros(high - low + 1, np.bool_)
    present[shifted] = True
    values = np.flatnonzero(present)
    number = np.cumsum(present, dtype=np.int32 if len(values) < _LARGE else np.int64)
    return number[shifted].astype(np.int64) - 1, values + low


def number_hashes(hashes: NDArray[np.uint64]) -> tuple[Int64, int]:
    """Number distinct well-mixed numbers in no particular order: int64 (n,) and how many.

    A table by their upper bits tells nearly all of them apart; the rest is sorted.
    """
    if not len(hashes):
        return np.empty(0, np.int64), 0
    bits = min(max(len(hashes), 2).bit_length() + 2, _BITS)
    bucket = (hashes >> np.uint64(64 - bits)).astype(np.int64)
    holder = np.zeros(1 << bits, np.uint64)
    holder[bucket] = hashes
    fits = holder[bucket] == hashes
    numbers, values = number_keys(bucket)
    rest = np.flatnonzero(~fits)
    if not len(rest):
        return numbers, len(values)
    others, inverse = np.unique(hashes[rest], return_inverse=True)
    numbers[rest] = len(values) + inverse
    return numbers, len(values) + len(others)


def first_of(numbers: Int64, count: int) -> Int64:
    """Index of the first key of each number: int64 (count,)."""
    first = np.zeros(count, np.int64)
    # Written backwards, so that the first one stays.
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def number_pairs(first: NDArray[Any], second: NDArray[Any]) -> tuple[Int64, int]:
    """Number distinct pairs of integers: int64 (n,) and how many there are."""
    one, _ = number_keys(first)
    two, two_values = number_keys(second)
    numbers, values = number_keys(one * max(1, len(two_values)) + two)
    return numbers, len(values)
