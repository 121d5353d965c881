"""An analysis written down: one module per format, found by its file name.

``<name>_report.py`` in this folder is the format ``<name>``; it holds
``render(analysis) -> str | bytes`` and nothing has to be registered anywhere.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from whichlayer.analysis.results import Analysis

_SUFFIX = "_report"


@cache
def format_names() -> tuple[str, ...]:
    """The formats there are, in alphabetical order; none of them is imported."""
    modules = (info.name for info in pkgutil.iter_modules(__path__))
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in modules if name.endswith(_SUFFIX)))


def render(analysis: Analysis, format_name: str) -> bytes:
    """A report on an analysis, as UTF-8.

    Args:
        analysis: what to report.
        format_name: one of :func:`format_names`.

    Raises:
        KeyError: there is no such format.
    """
    if format_name not in format_names():
        raise KeyError(format_name)
    module = importlib.import_module(f"{__name__}.{format_name}{_SUFFIX}")
    write = cast("Callable[[Analysis], str | bytes]", module.render)
    report = write(analysis)
    return report.encode() if isinstance(report, str) else report
