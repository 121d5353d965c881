"""Settings from files: found, read, held to one table, and laid over one another.

A file is anybody's input: what is not known, of the wrong type or out of range is refused in
one line with its place, and nothing in it can make whichlayer run or write anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whichlayer.analysis.config.entries import Config, ConfigError, Entry, Problem
    from whichlayer.analysis.config.layered import load_config, read_files
    from whichlayer.analysis.config.options import with_config

__all__ = [
    "Config",
    "ConfigError",
    "Entry",
    "Problem",
    "load_config",
    "read_files",
    "with_config",
]

_HOME = {
    "Config": "entries",
    "ConfigError": "entries",
    "Entry": "entries",
    "Problem": "entries",
    "load_config": "layered",
    "read_files": "layered",
    "with_config": "options",
}


def __getattr__(name: str) -> Any:
    """Import on first use: where no file is found, nothing is needed to read one."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
