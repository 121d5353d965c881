"""Every gate there is, found by its place."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from whichlayer.analysis.quality import gates
from whichlayer.analysis.quality.gate import Gate


@cache
def gate_modules() -> tuple[ModuleType, ...]:
    """The modules of the gates, by file name: each holds a ``GATE`` and a ``check``."""
    names = sorted(info.name for info in pkgutil.iter_modules(gates.__path__))
    modules = (importlib.import_module(f"{gates.__name__}.{name}") for name in names)
    return tuple(module for module in modules if isinstance(getattr(module, "GATE", None), Gate))


@cache
def gates_by_id() -> dict[str, Gate]:
    """Each gate by the code of its warnings."""
    return {module.GATE.id: module.GATE for module in gate_modules()}
