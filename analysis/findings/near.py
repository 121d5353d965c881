"""What a near miss is, and by how far a threshold may be missed to be near."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.options import Options
from whichlayer.analysis.settings import dotted, is_share, threshold, used

#: A figure within this factor of its threshold is near.
NEAR: Final = 2.0
#: Halvings between a threshold and the loosest that is tried: figures are good to 0.1 %.
_STEPS: Final = 10


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A rule that almost fired.

    Attributes:
        rule: its id.
        layer: who would own it.
        title: what would be wrong.
        figure: what was measured.
        threshold: what the rule asks for, as it is in force.
        setting: the name of the threshold: ``rules.wave-tail.full``.
        time_ns: what the finding would take of the window times its devices; 0 where a rule
            explains time that other findings hold.
        why: why it is no finding, in one line.
    """

    rule: str
    layer: Layer
    title: str
    figure: float
    threshold: float
    setting: str
    time_ns: int
    why: str


def setting_text(options: Options, rule_id: str, name: str) -> str:
    """A threshold in words: ``rules.wave-tail.full = 75 %``."""
    return used(options, rule_id, name)


def figure_text(rule_id: str, name: str, figure: float) -> str:
    """A figure in the unit of its threshold."""
    return f"{100 * figure:.3g} %" if is_share(rule_id, name) else f"{figure:.3g}"


def loosest(options: Options, rule_id: str, name: str) -> tuple[float, ...]:
    """How far a threshold may be missed either way: at most a factor of two.

    A share goes at most half of the way to the whole: twice 60 % would take in everything.
    """
    value = threshold(options, rule_id, name)
    if value <= 0:
        return ()
    higher = value * NEAR
    if is_share(rule_id, name) and value < 1:
        higher = min(higher, (1 + value) / 2)
    return value / NEAR, higher


def crossing(fires: Callable[[float], bool], strict: float, loose: float) -> float:
    """The value of a threshold at which a rule begins to fire: that is the figure measured.

    Args:
        fires: whether it does at a value; at ``loose`` it does, at ``strict`` it does not.
        strict: the value in force.
        loose: one that lets it fire.
    """
    for _ in range(_STEPS):
        middle = (strict + loose) / 2
        if fires(middle):
            loose = middle
        else:
            strict = middle
    return loose


def full_name(rule_id: str, name: str) -> str:
    """The setting of a threshold."""
    return dotted(rule_id, name)
