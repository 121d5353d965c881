"""Yes, no or unknown, each with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Answer(StrEnum):
    """An answer that is never better than its evidence."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reply:
    """One of the three questions answered.

    Attributes:
        answer: the answer.
        number: the figure behind it, or None: kernels that one would replace, the share of the
            step, the share of calls that have the most frequent shapes.
        evidence: what it rests on, in one line.
        instead: the cheaper bet, or what to record; empty where there is neither.
    """

    answer: Answer
    number: float | None
    evidence: str
    instead: str = ""


def overall(replies: Iterable[Reply]) -> Answer:
    """All must hold: one no decides, and one unknown keeps a yes away."""
    answers = {reply.answer for reply in replies}
    if Answer.NO in answers:
        return Answer.NO
    return Answer.UNKNOWN if Answer.UNKNOWN in answers else Answer.YES
