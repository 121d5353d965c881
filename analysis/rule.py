"""What a rule is, and how the rules of a folder are found.

A rule is one small module: its docstring explains the rule to users, its ``RULE`` names it,
and the rest of the module decides when it applies. Adding a rule means adding a file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import ModuleType

from whichlayer.analysis.layers import Layer


@dataclass(frozen=True, slots=True)
class Rule:
    """A diagnosis that whichlayer can make.

    Attributes:
        id: the word users type and read, such as ``host-sync``.
        layer: the owner of the fix.
        title: what is wrong, in a few words.
        fix: what to change, in one line.
        thresholds: named settings with their defaults.
        source: where the condition or the thresholds come from.
        example: what it looks like in a trace, with figures: one of the samples, a real recording,
            or one that was made for a test.
    """

    id: str
    layer: Layer
    title: str
    fix: str
    thresholds: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a rule about a whole recording has found; its time is in other findings.

    Attributes:
        evidence: lines that prove it.
        rows: trace rows that show it, in order of time.
        fix: what to change here, where the rule's own fix is not the one; else empty.
    """

    evidence: tuple[str, ...]
    rows: tuple[int, ...]
    fix: str = ""


def rule_modules(package: ModuleType) -> Iterator[ModuleType]:
    """The modules of a rules folder, by file name, each holding a ``RULE``."""
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        if isinstance(getattr(module, "RULE", None), Rule):
            yield module
