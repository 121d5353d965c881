"""Why kernels are not judged, with the time behind each reason: no dash without one."""

from __future__ import annotations

import re
from collections import Counter

from whichlayer.analysis.report.text_layout import wrap
from whichlayer.analysis.report.units import count_text, time_text
from whichlayer.analysis.results import Analysis, KernelGroup

_LINES = 5
_OPERATORS = 2
_PREFIX = "not judged: "
_AS_A_WHOLE = re.compile(r"; [^;]* as a whole, over its \d+ kernels$")
_TIME_COLUMNS = 8


def unjudged_lines(analysis: Analysis) -> list[str]:
    """The reasons that cover the most time, at most five lines; empty where all is judged."""
    time: Counter[str] = Counter()
    operators: dict[str, Counter[str]] = {}
    for group in analysis.kernels:
        if group.total_ns > 0 and group.why.startswith(_PREFIX):
            reason = _reason(group)
            time[reason] += group.total_ns
            operators.setdefault(reason, Counter())[group.operator] += group.total_ns
    if not time:
        return []
    ranked = time.most_common()
    shown = ranked if len(ranked) <= _LINES else ranked[: _LINES - 1]
    lines = [f"  not judged: {time_text(time.total())}"]
    for reason, ns in shown:
        lines += _line(ns, reason + _named(operators[reason]))
    rest = ranked[len(shown) :]
    if rest:
        lines += _line(sum(ns for _, ns in rest), count_text(len(rest), "other reason"))
    return lines


def _line(ns: int, text: str) -> list[str]:
    return wrap(text, f"    {time_text(ns):>{_TIME_COLUMNS}}  ")


def _reason(group: KernelGroup) -> str:
    return _AS_A_WHOLE.sub("", group.why.removeprefix(_PREFIX))


def _named(operators: Counter[str]) -> str:
    """The operators that a reason is about, those with the most time."""
    named = [name for name, _ in operators.most_common() if name]
    if not named:
        return ""
    more = f" and {len(named) - _OPERATORS} more" if len(named) > _OPERATORS else ""
    return f" ({', '.join(named[:_OPERATORS])}{more})"
