"""Rules and operator models that other installed packages bring along.

A package names them as entry points: group ``whichlayer.rules`` for modules of kernel rules and of
rules about whole recordings, written as those in ``analysis/kernels/rules`` are, and group
``whichlayer.operator_models`` for modules that register bytes and flops of operators when they are
imported, as those in ``analysis/kernels/operators`` do. They are looked up at the first analysis.
One that is broken is left out, and said to be: it never ends a run.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from types import ModuleType, NoneType
from typing import Any, Final

import numpy as np

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Hint, Rule, rule_modules
from whichlayer.analysis.text import clean

RULES: Final = "whichlayer.rules"
MODELS: Final = "whichlayer.operator_models"
#: Order of rules that say none: behind all that are shipped.
_LAST: Final = 1000
#: What a rule answers where its own code fails, by function.
_OTHERWISE: Final[dict[str, Any]] = {
    "applies": False,
    "find": None,
    "why": "",
    "reason": "",
    "ideal_rate": None,
}
#: Types of sound answers.
_ANSWERS: Final[dict[str, tuple[type, ...]]] = {
    "applies": (bool, np.bool_),
    "find": (Hint, NoneType),
    "why": (str,),
    "reason": (str,),
    "fix": (str,),
    "owner": (Layer,),
    "ideal_rate": (float, int, NoneType),
}

_problems: dict[str, None] = {}


def plugin_rules() -> tuple[ModuleType, ...]:
    """Modules of rules from other packages, guarded, in the order of their entry points."""
    return _plugin_rules()


def load_plugin_models() -> None:
    """Import the modules of operator models of other packages."""
    for name, load in _entries(MODELS):
        try:
            load()
        except Exception as error:  # noqa: BLE001  a stranger's code may fail in any way
            _report(name, error)


def plugin_warnings() -> tuple[TraceWarning, ...]:
    """What is wrong with plugins, as far as that has been seen."""
    return tuple(TraceWarning("plugin", text) for text in _problems)


def report_model(name: str, error: BaseException) -> str:
    """Note that a model of another package failed; the reason why a figure is missing."""
    _report(f"the model of {name}", error)
    return f"its model failed ({type(error).__name__})"


@cache
def _plugin_rules() -> tuple[ModuleType, ...]:
    found: dict[str, ModuleType] = {}
    for name, load in _entries(RULES):
        try:
            for module in _modules(load()):
                guarded = _guarded(module)
                rule_id = guarded.RULE.id
                if rule_id in found or rule_id in _shipped():
                    raise ValueError(f"there is a rule {rule_id!r} already")
                found[rule_id] = guarded
        except Exception as error:  # noqa: BLE001  likewise
            _report(name, error)
    return tuple(found.values())


def _shipped() -> frozenset[str]:
    from whichlayer.analysis.findings.catalogue import shipped_rules
    from whichlayer.analysis.quality.catalogue import gates_by_id

    return frozenset(shipped_rules()) | frozenset(gates_by_id())


def _modules(loaded: object) -> list[ModuleType]:
    """The rule modules that an entry point names: itself, or those of a package."""
    if not isinstance(loaded, ModuleType):
        raise TypeError("the entry point names no module")
    if hasattr(loaded, "RULE"):
        return [loaded]
    modules = list(rule_modules(loaded)) if hasattr(loaded, "__path__") else []
    if not modules:
        raise TypeError("there is no RULE in it")
    return modules


def _guarded(module: ModuleType) -> ModuleType:
    """A module that answers as another one does, and with nothing where that fails.

    Raises:
        TypeError: it is no module of a rule.
    """
    rule = module.RULE
    if not isinstance(rule, Rule) or not isinstance(rule.id, str) or not rule.id:
        raise TypeError("RULE is no rule")
    guarded = ModuleType(module.__name__, module.__doc__)
    numbers = {str(name): float(value) for name, value in rule.thresholds.items()}
    guarded.__dict__["RULE"] = replace(rule, thresholds=numbers)
    guarded.__dict__["RANK"] = int(getattr(module, "RANK", _LAST))
    guarded.__dict__["AVOIDABLE"] = getattr(module, "AVOIDABLE", False) is True
    guarded.__dict__["applies"] = lambda measured, settings: False
    answers = {**_OTHERWISE, "owner": rule.layer, "fix": rule.fix}
    for name, otherwise in answers.items():
        function = getattr(module, name, None)
        if callable(function):
            guarded.__dict__[name] = _guard(rule.id, name, function, otherwise)
    if guarded.AVOIDABLE and "why" not in guarded.__dict__:
        guarded.__dict__["why"] = lambda measured: rule.title
    return guarded


def _guard(
    rule_id: str, name: str, function: Callable[..., Any], otherwise: Any
) -> Callable[..., Any]:
    """A function that fails once and then no more: it is not asked again."""
    broken = False

    def call(*given: Any) -> Any:
        nonlocal broken
        if broken:
            return otherwise
        try:
            return _sound(name, function(*given), given)
        except Exception as error:  # noqa: BLE001  likewise
            broken = True
            _report(f"rule {rule_id}", error)
            return otherwise

    return call


def _sound(name: str, answer: Any, given: tuple[Any, ...]) -> Any:
    """An answer that can be used.

    Raises:
        TypeError: it has another type than it must.
        ValueError: a hint shows nothing, or rows that are not there.
    """
    if not isinstance(answer, _ANSWERS[name]):
        raise TypeError(f"{name} gave {type(answer).__name__}")
    if isinstance(answer, Hint):
        rows = [operator.index(row) for row in answer.rows]
        if not rows or min(rows) < 0 or max(rows) >= len(given[0].trace):
            raise ValueError("find gave a hint whose rows are not in the trace")
        return Hint(tuple(str(line) for line in answer.evidence), tuple(rows))
    return answer


def _report(name: str, error: BaseException) -> None:
    text = " ".join(str(error).split())[:160]
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    _problems[clean(f"the plugin {name} is left out: {said}")] = None


def _entries(group: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Each entry point of a group: its name for people, and what loads it."""
    if not _declared():
        return
    from importlib.metadata import entry_points

    for entry in sorted(entry_points(group=group), key=lambda one: (one.name, one.value)):
        yield f"{entry.name} ({entry.value})", entry.load


@cache
def _declared() -> bool:
    """Whether any installed package names an entry point of ours.

    Looked up in the files themselves: importlib.metadata takes longer to import than this does.
    """
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                names = [
                    one.path for one in entries if one.name.endswith((".dist-info", ".egg-info"))
                ]
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(name, "entry_points.txt"), "rb") as file:
                    if b"[whichlayer." in file.read(1 << 20):
                        return True
            except OSError:
                continue
    return False
