"""The hits of a search by name, as a list."""

from __future__ import annotations

from whichlayer.analysis.report.units import count_text, number_text, time_text
from whichlayer.analysis.search.hits import Hits
from whichlayer.analysis.text import clean
from whichlayer.analysis.trace.kinds import SliceKind
from whichlayer.tui.widgets.list_sheet import Listed

_KINDS = {
    SliceKind.CPU_OP: "operator",
    SliceKind.ANNOTATION: "annotation",
    SliceKind.PYTHON: "python",
    SliceKind.RUNTIME: "call",
    SliceKind.KERNEL: "kernel",
    SliceKind.MEMCPY: "copy",
    SliceKind.MEMSET: "memset",
    SliceKind.GPU_ANNOTATION: "GPU note",
    SliceKind.GPU_SYNC: "GPU sync",
    SliceKind.OVERHEAD: "overhead",
    SliceKind.PROFILER: "profiler",
    SliceKind.OTHER: "other",
}


def hit_list(text: str, hits: Hits) -> Listed:
    """A line for each name and kind, most time first."""
    rows = [
        (
            group.short,
            _KINDS[group.kind],
            number_text(group.count),
            time_text(group.total_ns),
            time_text(group.total_ns // group.count),
        )
        for group in hits.groups
    ]
    found = f"{count_text(len(hits), 'hit')} · {count_text(len(rows), 'name')}"
    return Listed(
        f"{clean(text)} · {found}",
        ("name", "kind", "hits", "total", "mean"),
        rows,
        "nothing found",
        "enter goes to the next one · ↑ ↓ · esc closes",
    )
