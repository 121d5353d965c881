"""What is added to a trace that torch has written leaves the rest of it as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from whichlayer.analysis.live.exported import OTHER_THREADS, add_to

WRITTEN = b"""{
  "schemaVersion": 1,
  "traceEvents": [
  {
    "ph": "X", "name": "a ] } \\n", "pid": 7, "tid": 7, "ts": 1, "dur": 2
  }
  ],"traceName": "/tmp/window.json" }"""


def added(text: bytes, *, stacks: bool = True) -> dict[str, Any]:
    trace = bytearray(text)
    add_to(trace, {"told": {"ns": 5}}, 7, stacks=stacks)
    found: dict[str, Any] = json.loads(trace)
    return found


def test_fields_come_to_the_header_and_a_name_to_the_lane_of_other_threads() -> None:
    found, before = added(WRITTEN), json.loads(WRITTEN)
    assert found.pop("told") == {"ns": 5}
    events = found.pop("traceEvents")
    assert events[:1] == before.pop("traceEvents")
    assert found == before
    names = [one["args"]["name"] for one in events if one["name"] == "thread_name"]
    assert names == [OTHER_THREADS]
    assert {(one["pid"], one["tid"]) for one in events[1:]} == {(7, 0)}


def test_without_stacks_there_is_no_such_lane() -> None:
    assert added(WRITTEN, stacks=False)["traceEvents"] == json.loads(WRITTEN)["traceEvents"]


@pytest.mark.parametrize(
    "text",
    [b"{}", b'{"traceEvents": []}', b'{"traceEvents": [\n  ]}', b'{"a": "\\n  ]"}\n'],
)
def test_other_layouts_are_given_the_fields_alone(text: bytes) -> None:
    found = added(text)
    assert found.pop("told") == {"ns": 5}
    assert found == json.loads(text)


def test_what_is_no_object_stays_as_it_is() -> None:
    for text in (b"", b"[1]", b"}"):
        trace = bytearray(text)
        add_to(trace, {"told": 1}, 7, stacks=True)
        assert bytes(trace) == text
