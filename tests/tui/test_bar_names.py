"""Names on bars that are shorter than they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.tui.bar_names import fitted


@pytest.mark.parametrize(
    ("name", "room", "shown"),
    [
        ("forward", 7, "forward"),
        ("aten::_local_scalar_dense", 22, "_local_scalar_dense"),
        ("autograd::engine::evaluate_function: MmBackward0", 14, "MmBackward0"),
        ("Optimizer.step#SGD.step", 10, "SGD.step"),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 24,
         "enumerate(DataLoader)"),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 9, "enumerate"),
        ("Memcpy HtoD (Pinned -> Device)", 15, "Memcpy HtoD"),
        ("ProfilerStep#1234", 10, "Step#1234"),
        ("ProfilerStep#1234", 5, "#1234"),
        ("step#7", 3, "#7"),
        ("a_long_function", 7, "a_long…"),
        ("a_long_function", 5, "a_lon"),
        ("(((", 2, "(("),
        ("## forward ##", 7, "forward"),
        ("## forward ##", 5, "forwa"),
        ("####", 3, "###"),
    ],
)  # fmt: skip
def test_the_telling_part_of_a_name_is_kept(name: str, room: int, shown: str) -> None:
    assert fitted(name, room) == shown


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_name_never_takes_more_than_its_room_and_is_whole_where_it_fits(
    name: str, room: int
) -> None:
    shown = fitted(name, room)
    assert len(shown) <= room
    assert shown == name or len(name) > room


@given(st.text("abc:#() ", min_size=1, max_size=30), st.integers(1, 30))
def test_what_is_shown_is_of_the_name(name: str, room: int) -> None:
    assert fitted(name, room).removesuffix("…") in name
