"""What a window tells of its own recording: the recorder writes it, reports and the screen read it.

Between windows a recorder costs microseconds a step. In a window the program pays for the profiler:
its steps take longer, it stands still while the profiler starts and stops, and while the trace is
written. None of that is the program's own; it is told under the name of the cause that owns such
time in a trace, ``profiler-overhead``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

RECORDING_KEY: Final = "whichlayerRecording"
"""Key of the trace's header; its value is an object with the fields of :class:`RecordingCost`."""

_LARGEST: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class RecordingCost:
    """What recording a window cost the program, in nanoseconds; None where it is not known.

    Attributes:
        prepare_ns: the profiler was prepared, in the step before the window.
        start_ns, stop_ns: it was started and stopped, before and behind the window's steps.
        export_ns: torch wrote the trace; every Python thread of the program stood still.
        step_ns: length of a step in the window, the mean.
        usual_step_ns: length of a step without the profiler, the median of those since the window
            before.
    """

    prepare_ns: int | None = None
    start_ns: int | None = None
    stop_ns: int | None = None
    export_ns: int | None = None
    step_ns: int | None = None
    usual_step_ns: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        """The same, by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def switching_ns(self) -> int | None:
        """Preparing, starting and stopping together; None where one of them is not known."""
        parts = (self.prepare_ns, self.start_ns, self.stop_ns)
        known = [one for one in parts if one is not None]
        return sum(known) if len(known) == len(parts) else None

    @property
    def slowdown(self) -> float | None:
        """How many times as long a step takes in the window."""
        if not self.step_ns or not self.usual_step_ns:
            return None
        return self.step_ns / self.usual_step_ns


def find_recording_cost(header: Mapping[str, Any]) -> RecordingCost | None:
    """What a trace's header tells; None where it was not recorded by whichlayer."""
    return recording_cost(header.get(RECORDING_KEY))


def recording_cost(told: Any) -> RecordingCost | None:
    """The cost out of what another process says of it; None where that is no object.

    What is no number of nanoseconds counts as not known.
    """
    if not isinstance(told, Mapping):
        return None
    values = {item.name: told.get(item.name) for item in fields(RecordingCost)}
    return RecordingCost(
        **{
            name: value if type(value) is int and 0 <= value < _LARGEST else None
            for name, value in values.items()
        }
    )
