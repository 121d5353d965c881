"""Modules that are imported when something of them is first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Deferred:
    """Stands for a module until then; for what keys and messages need after the first picture."""

    def __init__(self, name: str) -> None:
        """Note the module's name."""
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        """What the module has of that name."""
        return getattr(import_module(self._name), attribute)
