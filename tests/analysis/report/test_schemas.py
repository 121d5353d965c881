"""The schemas of the reports describe every field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import whichlayer.analysis.report

FOLDER = Path(whichlayer.analysis.report.__file__).parent


def fields(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field with its path."""
    if isinstance(schema, list):
        for part in schema:
            yield from fields(part, path)
    if not isinstance(schema, dict):
        return
    for name, part in schema.items():
        if name == "properties":
            for field, described in part.items():
                yield f"{path}/{field}", described
                yield from fields(described, f"{path}/{field}")
        else:
            yield from fields(
                part, f"{path}/{name}" if path == "/$defs" or name == "$defs" else path
            )


@pytest.mark.parametrize(("name", "least"), [("report", 300), ("job", 50)])
def test_every_field_has_a_description(name: str, least: int) -> None:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    found = list(fields(schema))
    assert len(found) >= least
    bare = [path for path, described in found if not str(described.get("description", "")).strip()]
    assert not bare
