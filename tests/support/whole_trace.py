"""Everything that a trace says, so that two traces can be compared to the last number."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from whichlayer.analysis.trace.columns import Trace


def everything(trace: Trace, *, with_arguments: bool = True) -> dict[str, Any]:
    """Every field of a trace as plain values, its details and its rows' arguments too."""
    said = {one.name: _plain(getattr(trace, one.name)) for one in fields(trace) if one.compare}
    said = {name: value for name, value in said.items() if not name.startswith("_")}
    said["details"] = list(trace._details)
    if with_arguments:
        said["arguments"] = [repr(trace.args(row)) for row in range(len(trace))]
    return said


def _plain(value: object) -> object:
    """Arrays with their type, objects by their fields; NaN is equal to itself."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.tobytes()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
