"""A GPU that the file does not describe under the number that its events use.

On ROCm events carry the number of an agent, which need not be among the devices that the file
lists, and the names of GPUs may be empty. Where all listed devices are alike, any of them
describes it. The number is shown as recorded: it is not the index that PyTorch gives a device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whichlayer.analysis.errors import TraceWarning
from whichlayer.analysis.kernels.peaks import DeviceMatch, device_entry
from whichlayer.analysis.quality.gate import Gate, Recording, device_words

GATE = Gate(
    "Q13",
    "a GPU's number or name is not that of the file's list",
    source="seen: kernels on device 2 or 9 with only device 0 listed; empty names",
    example="vLLM on an MI300X: kernels on device 2, while the file lists only device 0",
)

_ADVICE = "name it with --device-model if that is wrong"


def check(recording: Recording) -> Iterator[TraceWarning]:
    """One warning for each device that is not listed, or listed without a name."""
    header = recording.trace.header
    listed = header.get("deviceProperties") or header.get("computeProperties")
    if not isinstance(listed, list | tuple):
        return
    numbers = [entry.get("id") for entry in listed if isinstance(entry, Mapping)]
    if not numbers:
        return
    for activities, match in zip(recording.devices, recording.matches, strict=True):
        entry = device_entry(activities.number, header)
        if activities.number not in numbers:
            text = f"{device_words(activities.number)} is not among those that the file describes ("
            text += f"{', '.join(str(number) for number in numbers[:8])}); "
            text += _taken(entry, match)
        elif entry is not None and not str(entry.get("name") or "").strip():
            text = f"{device_words(activities.number)} has no name in the file; {_known(match)}"
        else:
            continue
        yield TraceWarning(GATE.id, f"{text}; {_ADVICE}")


def _taken(entry: Mapping[str, Any] | None, match: DeviceMatch) -> str:
    if entry is None:
        return "those differ, so its kind is unknown and its kernels have no verdict"
    return f"all of those are alike, so it is taken for one of them: {_known(match)}"


def _known(match: DeviceMatch) -> str:
    return f"{match.model} by what is recorded" if match.model else "its model is unknown"
