"""The causes of gaps as one table: ids, codes for columns, and what marks a slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from whichlayer.analysis.gaps import causes
from whichlayer.analysis.rule import Rule, rule_modules
from whichlayer.analysis.trace.kinds import SliceKind

Marks = Callable[[str, SliceKind, str], bool]


@cache
def cause_rules() -> dict[str, Rule]:
    """Every cause by id, in the order of its code."""
    return {module.RULE.id: module.RULE for module in rule_modules(causes)}


@cache
def cause_ids() -> tuple[str, ...]:
    """Cause ids; the position of one is its code in columns."""
    return tuple(cause_rules())


@cache
def cause_code(rule_id: str) -> int:
    """The code of a cause.

    Raises:
        ValueError: no cause has that id.
    """
    return cause_ids().index(rule_id)


@cache
def marking_causes() -> tuple[tuple[int, Marks], ...]:
    """(code, predicate) of the causes that are told by a slice's name."""
    return tuple(
        (cause_code(module.RULE.id), module.marks)
        for module in rule_modules(causes)
        if hasattr(module, "marks")
    )


@cache
def _fix_functions() -> dict[str, Callable[[str, Sequence[str]], str]]:
    return {
        module.RULE.id: module.fix_for
        for module in rule_modules(causes)
        if hasattr(module, "fix_for")
    }


def fix_of(rule_id: str, culprit: str, around: Sequence[str] = ()) -> str:
    """What to change, given the slice that explains the gap.

    Args:
        rule_id: the cause.
        culprit: name of the slice, or empty.
        around: names of the slices around it, innermost first.
    """
    special = _fix_functions().get(rule_id)
    return special(culprit, around) if special and culprit else cause_rules()[rule_id].fix


def cause_of_slice(name: str, kind: SliceKind, category: str) -> int:
    """The cause that a slice is a mark of, or -1."""
    for code, marks in marking_causes():
        if marks(name, kind, category):
            return code
    return -1
