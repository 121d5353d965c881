"""A reopened trace reads the arguments of many slices as of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from whichlayer.analysis import load
from whichlayer.analysis.cache.later_arguments import LaterArguments


def test_many_arguments_of_a_reopened_trace_are_those_of_each(path: Path, folder: Path) -> None:
    first = load(path, cache=True)
    assert folder.exists()
    again = load(path, cache=True)
    assert isinstance(again._full_args, LaterArguments)
    rows = np.arange(len(again), dtype=np.int32)
    assert again.args_of(rows) == first.args_of(rows) == [first.args(int(row)) for row in rows]
    assert any(again.args_of(rows))
