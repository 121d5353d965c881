"""Settings from files: found, read, held to one table, and laid over one another.

A file is anybody's input: what is not known, of the wrong type or out of range is refused in
one line with its place, and nothing in it can make whichlayer run or write anything.
"""

from __future__ import annotations

from whichlayer.analysis.config.entries import Config, ConfigError, Entry
from whichlayer.analysis.config.layered import load_config
from whichlayer.analysis.config.options import with_config

__all__ = ["Config", "ConfigError", "Entry", "load_config", "with_config"]
