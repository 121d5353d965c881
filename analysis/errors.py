"""What can go wrong with an input, as one line that a user can act on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class TraceError(Exception):
    """A trace that cannot be opened at all; the message is one line that names the file."""


class Severity(IntEnum):
    """How much a warning takes from what is said of a recording."""

    NOTE = 0  # it should be known
    DOUBT = 1  # figures are incomplete, or findings are trusted less
    NO_VERDICT = 2

    @property
    def id(self) -> str:
        """The word used in JSON."""
        return ("note", "doubt", "no-verdict")[self.value]


@dataclass(frozen=True, slots=True)
class TraceWarning:
    """Something about a trace that its reader must know.

    Attributes:
        code: short stable id, such as ``truncated`` or ``Q4``.
        message: one line for people, without control characters.
        count: how many events are concerned.
        byte_offset: where in the decompressed text, or -1 where that says nothing.
        severity: as the one who warns sees it; see ``whichlayer.analysis.quality.severity_of``.
    """

    code: str
    message: str
    count: int = 1
    byte_offset: int = -1
    severity: Severity = Severity.NOTE
