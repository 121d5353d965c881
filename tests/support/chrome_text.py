"""Chrome trace JSON in the layouts that are met in the wild."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verbatim:
    """A value that is written as it stands."""

    text: str


@dataclass(frozen=True)
class Layout:
    """White space between the parts of a file, and what surrounds the events."""

    item: str
    key: str
    event: str
    before: str
    after: str


LAYOUTS = {
    "compact": Layout(",", ":", ",", '{"traceEvents":[', "]}"),
    "python": Layout(", ", ": ", ", ", '{"traceEvents": [', "]}"),
    "kineto": Layout(", ", ": ", ",\n  ", '{\n  "traceEvents": [\n  ', "\n  ]\n}\n"),
    "line": Layout(
        ",\n", ":", "\n,", '{"a": [{}], "traceEvents" :\n[', '],\n"b": {"c": [{}, {}]}}'
    ),
    "bare": Layout(",", ":", ",\n", "[", "]"),
}


def write_event(event: dict[str, Any], layout: Layout) -> str:
    """One event in a layout."""
    items = (
        json.dumps(key)
        + layout.key
        + (value.text if isinstance(value, Verbatim) else json.dumps(value, ensure_ascii=False))
        for key, value in event.items()
    )
    return "{" + layout.item.join(items) + "}"


def write_file(events: Sequence[dict[str, Any]], layout: Layout) -> str:
    """A whole file in a layout."""
    texts = [write_event(event, layout) for event in events]
    return layout.before + layout.event.join(texts) + layout.after
