"""Frozen dataclasses that are made as quickly as those that may change.

``dataclass(frozen=True)`` sets every field through ``object.__setattr__``, a call each: five times
the work of a plain assignment, which counts where there are a dozen objects for each of a hundred
thousand kinds of kernels.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

_T = TypeVar("_T")


def quick(cls: type[_T]) -> type[_T]:
    """Make a frozen slotted dataclass quick to construct; in all else it stays as it is.

    While ``__init__`` runs, the object belongs to a subclass that may be assigned to.

    Raises:
        TypeError: the class has fields that ``__init__`` does not take, takes only by name, or
            more to do after it.
    """
    if hasattr(cls, "__post_init__"):
        raise TypeError(f"{cls.__name__} has a __post_init__")
    # Both: a class that overrides one of them has its assignments looked up, not compiled.
    plain = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    thawed = type(cls.__name__, (cls,), {"__slots__": (), **plain})
    names: dict[str, Any] = {
        "_thaw": object.__setattr__, "_thawed": thawed, "_frozen": cls, "_made": MISSING,
    }  # fmt: skip
    parameters, body = [], ['_thaw(self, "__class__", _thawed)']
    for field in fields(cls):  # type: ignore[arg-type]
        parameters.append(_parameter(cls, field, names))
        body.append(f"self.{field.name} = {_value(field)}")
    body.append("self.__class__ = _frozen")
    source = f"def __init__(self, {', '.join(parameters)}):\n " + "\n ".join(body)
    exec(source, names)  # noqa: S102 - names of fields only, as dataclasses themselves do it
    made, old = names["__init__"], cls.__dict__["__init__"]
    made.__qualname__, made.__module__ = old.__qualname__, cls.__module__
    made.__annotations__ = old.__annotations__
    setattr(cls, "__init__", made)  # noqa: B010 - no method is assigned to by name
    return cls


def _parameter(cls: type, field: Field[Any], names: dict[str, Any]) -> str:
    """The field as a parameter; its default goes into ``names``."""
    if not field.init or field.kw_only:
        raise TypeError(f"{cls.__name__}.{field.name} is no parameter like others")
    if field.default is not MISSING:
        names[f"_of_{field.name}"] = field.default
        return f"{field.name}=_of_{field.name}"
    if field.default_factory is not MISSING:
        names[f"_of_{field.name}"] = field.default_factory
        return f"{field.name}=_made"
    return field.name


def _value(field: Field[Any]) -> str:
    if field.default_factory is MISSING:
        return field.name
    return f"_of_{field.name}() if {field.name} is _made else {field.name}"
