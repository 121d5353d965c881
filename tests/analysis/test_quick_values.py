"""Dataclasses that are quick to make are frozen dataclasses in all else."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from whichlayer.analysis.quick_values import quick


@quick
@dataclass(frozen=True, slots=True)
class Point:
    """Something with every kind of field."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)


def test_fields_are_set_by_place_and_by_name() -> None:
    made = Point(1, names=["a"], note="seen")
    assert (made.x, made.y, made.names, made.note) == (1, 2, ["a"], "seen")


def test_what_a_factory_makes_is_not_shared() -> None:
    assert Point(1).names is not Point(1).names


def test_a_field_can_be_neither_set_nor_deleted_afterwards() -> None:
    made = Point(1)
    with pytest.raises(FrozenInstanceError):
        made.x = 3  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del made.x
    assert made.x == 1


def test_it_belongs_to_its_own_class_also_when_replaced_copied_or_sent() -> None:
    made = Point(1, 5, ["a"], "seen")
    others = [replace(made), copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
    assert all(type(one) is Point and one == made and one.note == "seen" for one in others)
    assert replace(made, y=7).y == 7


def test_equality_and_text_are_those_of_the_dataclass() -> None:
    assert Point(1, note="a") == Point(1, note="b") != Point(2)
    assert repr(Point(1)).endswith("Point(x=1, y=2, names=[])")
    assert [one.name for one in fields(Point)] == ["x", "y", "names", "note"]


def test_a_wrong_number_of_arguments_is_refused() -> None:
    assert list(inspect.signature(Point).parameters) == ["x", "y", "names", "note"]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)  # type: ignore[call-arg]


def test_classes_with_more_to_do_are_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            raise AssertionError

    @dataclass(frozen=True, slots=True)
    class Named:
        x: int = field(kw_only=True)

    with pytest.raises(TypeError, match="__post_init__"):
        quick(Checked)
    with pytest.raises(TypeError, match=r"Named\.x"):
        quick(Named)
