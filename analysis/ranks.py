"""Which rank of which job a recording says it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def find_rank(header: Mapping[str, Any]) -> int | None:
    """``distributedInfo.rank``, or None where none was recorded or it is no count."""
    return _count(header, "rank")


def find_world_size(header: Mapping[str, Any]) -> int | None:
    """``distributedInfo.world_size``, or None where none was recorded or it is no count."""
    return _count(header, "world_size")


def _count(header: Mapping[str, Any], key: str) -> int | None:
    info = header.get("distributedInfo")
    value = info.get(key) if isinstance(info, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value
