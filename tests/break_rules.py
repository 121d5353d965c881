"""Breaks every rule on purpose and sees its tests fail: ``python tests/break_rules.py [RULE ...]``.

For each rule of the catalogue the tests that docs/field-notes.md names are run with the rule silent
(it labels and finds nothing), and with each of its thresholds far too low and far too high. A
rule is held by its tests if they fail when it is silent, and if for each threshold they fail at one
end at least. What decides how prominent a finding is (``note``, ``major``) is left out: it has
tests of its own. Not a part of the suite: it takes some minutes.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whichlayer.analysis import settings
from whichlayer.analysis.findings.catalogue import shipped_rules
from whichlayer.analysis.gaps.catalogue import cause_code, cause_rules
from whichlayer.analysis.gaps.warm_up import without_warm_up
from whichlayer.analysis.kernels.rulebook import Rulebook, default_rulebook
from whichlayer.analysis.options import Options
from whichlayer.analysis.results import Gaps
from whichlayer.analysis.rule import Rule

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "field-notes.md"
#: Thresholds of how prominent a finding is.
LISTING = ("note", "major")
FAR = 1e6


def tests_of(rule_id: str) -> list[str]:
    """Where a rule must fire and where it must not, as the page has them."""
    page = PAGE.read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {rule_id} \| (.+) \| (.+) \| .+ \|$", page, re.MULTILINE)
    named = [re.fullmatch(r"`([\w/.]+)`: (\w+)", cell) for cell in row]
    return list(dict.fromkeys(f"tests/analysis/{one[1]}::test_{one[2]}" for one in named if one))


@contextlib.contextmanager
def patched(changes: dict[Any, Any]) -> Iterator[None]:
    """Puts other functions in the place of some, wherever a module of ours holds them."""
    undo: list[tuple[Any, str, Any]] = []
    for module in [m for name, m in sys.modules.items() if name.startswith("whichlayer.")]:
        for name, value in list(vars(module).items()):
            if callable(value) and any(value is held for held in changes):
                undo.append((module, name, value))
                setattr(module, name, changes[value])
    try:
        yield
    finally:
        for module, name, value in undo:
            setattr(module, name, value)


@contextlib.contextmanager
def silent(rule_id: str) -> Iterator[None]:
    """The rule labels nothing and finds nothing."""
    enabled, labelled, book = settings.enabled, without_warm_up, Rulebook.of

    def is_on(options: Options, asked: str) -> bool:
        return asked != rule_id and enabled(options, asked)

    def without(*arguments: Any) -> Gaps:
        gaps = labelled(*arguments)
        if rule_id not in cause_rules():
            return gaps
        other = cause_code("unattributed" if rule_id != "unattributed" else "launch-bound")
        cause = np.where(gaps.cause == cause_code(rule_id), other, gaps.cause)
        return replace(gaps, cause=cause.astype(gaps.cause.dtype))

    def of(options: Options) -> Rulebook:
        found = book(options)
        return replace(found, off=found.off | {rule_id})

    default_rulebook.cache_clear()
    Rulebook.of = of  # type: ignore[method-assign]
    try:
        with patched({enabled: is_on, labelled: without}):
            yield
    finally:
        Rulebook.of = book  # type: ignore[method-assign]
        default_rulebook.cache_clear()


@contextlib.contextmanager
def moved(rule: Rule, name: str, value: float) -> Iterator[None]:
    """A threshold of the rule has another default."""
    held: dict[str, float] = rule.thresholds  # type: ignore[assignment]
    before = held[name]
    held[name] = value
    default_rulebook.cache_clear()
    try:
        yield
    finally:
        held[name] = before
        default_rulebook.cache_clear()


def fails(tests: list[str]) -> bool:
    """Whether any of these tests fails."""
    with contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main(["-q", "-x", "--no-header", "-p", "no:cacheprovider", *tests])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(f"cannot run {tests}: {status!r}")
    return status == pytest.ExitCode.TESTS_FAILED


def breaks(rule: Rule) -> Iterator[tuple[str, list[Callable[[], Any]]]]:
    """Each part of a rule, with the ways to break it of which one at least must be noticed."""
    yield "silent", [partial(silent, rule.id)]
    for name, value in rule.thresholds.items():
        if name not in LISTING:
            yield name, [partial(moved, rule, name, end) for end in (value / FAR, value * FAR)]


def notice(ways: list[Callable[[], Any]], tests: list[str]) -> str:
    """Who notices that a rule is broken: its own tests, those beside them, or nobody."""
    files = list(dict.fromkeys(one.partition("::")[0] for one in tests))
    for who, asked in (("its tests", tests), ("their files", files)):
        for way in ways:
            with way():
                if fails(asked):
                    return who
    return ""


def main(chosen: list[str]) -> int:
    """Prints what each rule's tests notice; 1 if anything is noticed by none."""
    os.chdir(ROOT)
    os.environ.pop("WHICHLAYER_TRACES", None)
    survived = 0
    for rule in shipped_rules().values():
        if chosen and rule.id not in chosen:
            continue
        tests = tests_of(rule.id)
        if fails(tests):
            raise SystemExit(f"{rule.id}: its tests fail as it is: {tests}")
        for what, ways in breaks(rule):
            who = notice(ways, tests)
            survived += not who
            said = f"noticed by {who}" if who else "SURVIVED"
            print(f"{rule.id:22} {what:22} {said}", flush=True)
    return int(survived > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
