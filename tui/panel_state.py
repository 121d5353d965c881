"""How high and wide the user made the panels, kept in the user's state folder; safe to delete.

Sizes are kept by how many panels stand side by side: what suits a wide terminal does not suit a
small one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from whichlayer.tui.view_state import read_body, state_folder, write_body

_MARK: Final = "whichlayer_panels"
_FORM: Final = 1
_MOST_LINES: Final = 200


@dataclass(frozen=True, slots=True)
class PanelSizes:
    """What the user made of the panels.

    Attributes:
        lines: lines more (or less) than usual, by how many panels stand side by side.
        steps: steps by which a panel is wider (or narrower) than usual, by its name.
    """

    lines: Mapping[int, int] = field(default_factory=dict)
    steps: Mapping[str, int] = field(default_factory=dict)


def panels_path() -> Path | None:
    """Where sizes are kept; None where they cannot be."""
    folder = state_folder()
    return None if folder is None else folder / "panels.json"


def read_sizes(path: Path | None, most_steps: int) -> PanelSizes:
    """The sizes as they were left; the usual ones for what is not kept or makes no sense."""
    body = read_body(path, _MARK, _FORM)
    lines = _numbers(body.get("lines"), _MOST_LINES)
    steps = _numbers(body.get("widths"), most_steps)
    by_count = {int(word): number for word, number in lines.items() if word in _COUNTS}
    return PanelSizes(by_count, steps)


def write_sizes(path: Path | None, sizes: PanelSizes) -> None:
    """Keep sizes.

    Raises:
        OSError: they cannot be written.
    """
    if path is not None:
        lines = {str(count): number for count, number in sizes.lines.items()}
        write_body(path, {_MARK: _FORM, "lines": lines, "widths": dict(sizes.steps)})


#: How many panels may stand side by side, as the file writes them.
_COUNTS = frozenset("123456789")


def _numbers(found: Any, most: int) -> dict[str, int]:
    pairs = found.items() if isinstance(found, dict) else ()
    return {
        word: value
        for word, value in pairs
        if isinstance(word, str) and type(value) is int and abs(value) <= most
    }
