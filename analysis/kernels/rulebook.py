"""The rules of kernels that are on, with the thresholds in force, read once for an analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Final

from whichlayer.analysis.kernels.rule_modules import kernel_rule_modules
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import enabled, threshold, thresholds

Entry = tuple[ModuleType, Mapping[str, float]]

#: The gate whose limits tell a rate that no card reaches.
IMPOSSIBLE_RATE: Final = "Q10"


@dataclass(frozen=True, slots=True)
class Rulebook:
    """What kernels are judged by.

    Attributes:
        avoidable: rules that decide before anything is known of bytes, by precedence.
        ordered: all rules that look at one kernel, by precedence.
        off: ids of rules that label nothing.
        at_roof: thresholds of ``at-roof``; None where that rule is off, and nothing short of
            the ideal is good enough.
        drift: from so many times on a kernel is flagged as drifting; None where it never is.
        bandwidth: bytes that no cache can have served are impossible above so many times the
            data sheet's bandwidth.
        matrix: matrix rates are impossible above so many times the data sheet's.
        matrix_geforce: likewise on GeForce cards.
    """

    avoidable: tuple[Entry, ...]
    ordered: tuple[Entry, ...]
    off: frozenset[str]
    at_roof: Mapping[str, float] | None
    drift: float | None
    bandwidth: float
    matrix: float
    matrix_geforce: float

    @classmethod
    def of(cls, options: Options) -> Rulebook:
        """Read the settings of an analysis."""
        on = tuple(
            (module, thresholds(options, module.RULE.id))
            for module in _by_rank()
            if enabled(options, module.RULE.id)
        )
        drifts = enabled(options, "kernel-drift")
        return cls(
            tuple(entry for entry in on if getattr(entry[0], "AVOIDABLE", False)),
            tuple(entry for entry in on if not hasattr(entry[0], "find")),
            options.rules_off,
            thresholds(options, "at-roof") if enabled(options, "at-roof") else None,
            threshold(options, "kernel-drift", "slower") if drifts else None,
            threshold(options, IMPOSSIBLE_RATE, "bandwidth"),
            threshold(options, IMPOSSIBLE_RATE, "matrix"),
            threshold(options, IMPOSSIBLE_RATE, "matrix_geforce"),
        )


@cache
def default_rulebook() -> Rulebook:
    """The rules as they are shipped."""
    return Rulebook.of(Options())


@cache
def _by_rank() -> tuple[ModuleType, ...]:
    return tuple(sorted(kernel_rule_modules(), key=lambda module: int(module.RANK)))
