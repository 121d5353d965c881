"""What a recorder is told: passed from ``whichlayer run`` to the program in its environment."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

OPTIONS_VARIABLE: Final = "WHICHLAYER_LIVE_OPTIONS"
"""Environment variable that holds them as JSON; where it is unset nothing is recorded."""

_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class RecorderOptions:
    """How windows are taken.

    Attributes:
        window: steps in a window.
        every: steps from the start of one window to that of the next; 0 takes none unasked.
        shapes, stacks, memory: what torch.profiler records besides.
        ranks: only these ranks record; all where it is empty.
    """

    window: int = 3
    every: int = 50
    shapes: bool = True
    stacks: bool = True
    memory: bool = False
    ranks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.window <= _MOST:
            raise ValueError(f"a window has 1 to {_MOST} steps, not {self.window}")
        if self.every and not self.window < self.every <= _MOST:
            raise ValueError(
                f"windows of {self.window} steps come at least every {self.window + 1} steps "
                f"(one warms the profiler up), not every {self.every}"
            )

    def to_text(self) -> str:
        """As :func:`from_text` reads it."""
        return json.dumps(asdict(self))


def from_text(text: str) -> RecorderOptions:
    """Options out of the environment.

    Raises:
        ValueError: they are none; the message is one line.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("options of a recorder that are no JSON") from error
    if not isinstance(found, dict):
        raise ValueError("options of a recorder that are no object")  # noqa: TRY004  as the JSON
    defaults = RecorderOptions()
    values: dict[str, Any] = {}
    for field in fields(RecorderOptions):
        value = found.get(field.name, getattr(defaults, field.name))
        if field.name == "ranks" and isinstance(value, list):
            value = tuple(rank for rank in value if type(rank) is int)
        if type(value) is not type(getattr(defaults, field.name)):
            raise ValueError(f"option {field.name} of a recorder is of the wrong type")
        values[field.name] = value
    return RecorderOptions(**values)
