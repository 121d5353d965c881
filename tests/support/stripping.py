"""Recordings with one kind of information taken out, as if it had not been recorded."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Strip = Callable[[list[Event]], list[Event]]

_HOST = {
    "cpu_op", "Operator", "user_annotation", "cuda_runtime", "cuda_driver", "python_function",
    "overhead", "cuda_sync", "cpu_instant_event", "ac2g", "async_cpu_to_gpu", "async_gpu", "fwdbwd",
    "Runtime", "privateuse1_runtime", "privateuse1_driver", "hip_runtime", "python",
}  # fmt: skip
_SHAPES = ("Input Dims", "Input dims", "Input type", "Input Strides", "Concrete Inputs")
_LINKS = ("correlation", "External id", "external id", "Correlation ID", "linked_id")


def events_of(path: Path) -> tuple[dict[str, Any], list[Event]]:
    """The file without its events, and these."""
    raw = path.read_bytes()
    document = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    if isinstance(document, list):
        document = {"traceEvents": document}
    return document, document.pop("traceEvents")


def write(folder: Path, document: dict[str, Any], events: list[Event]) -> Path:
    """The recording as a file."""
    path = folder / "stripped.json"
    path.write_text(json.dumps({**document, "traceEvents": events}))
    return path


def _without(events: list[Event], gone: Callable[[Event], bool]) -> list[Event]:
    return [event for event in events if not gone(event)]


def _without_arguments(events: list[Event], names: tuple[str, ...]) -> list[Event]:
    def bare(event: Event) -> Event:
        arguments = event.get("args")
        if not isinstance(arguments, dict) or not any(name in arguments for name in names):
            return event
        kept = {name: value for name, value in arguments.items() if name not in names}
        return {**event, "args": kept}

    return [bare(event) for event in events]


def without_stacks(events: list[Event]) -> list[Event]:
    """No Python frames and no call stacks."""
    kept = _without(events, lambda event: event.get("cat") in ("python_function", "python"))
    return _without_arguments(kept, ("Call stack",))


def without_shapes(events: list[Event]) -> list[Event]:
    """No shapes, types or values of operators' inputs."""
    return _without_arguments(events, _SHAPES)


def without_flows(events: list[Event]) -> list[Event]:
    """No arrows; correlation numbers stay."""
    return _without(events, lambda event: event.get("ph") in ("s", "t", "f"))


def without_links(events: list[Event]) -> list[Event]:
    """No arrows and no numbers that join calls and kernels."""
    return _without_arguments(without_flows(events), _LINKS)


def without_cpu(events: list[Event]) -> list[Event]:
    """Nothing that the host did."""
    return _without(
        without_flows(events),
        lambda event: event.get("cat") in _HOST or str(event.get("name")).startswith("[memory]"),
    )


def without_steps(events: list[Event]) -> list[Event]:
    """No step marks."""
    return _without(events, lambda event: str(event.get("name")).startswith("ProfilerStep"))


def without_rest(events: list[Event]) -> list[Event]:
    """No memory events, no sync events, no collector, no counters."""
    return _without(
        events,
        lambda event: (
            event.get("ph") == "C"
            or event.get("cat") in ("cuda_sync", "cpu_instant_event")
            or "garbage" in str(event.get("name")).lower()
        ),
    )


STRIPS: dict[str, Strip] = {
    "stacks": without_stacks,
    "shapes": without_shapes,
    "flows": without_flows,
    "links": without_links,
    "cpu": without_cpu,
    "steps": without_steps,
    "rest": without_rest,
}
