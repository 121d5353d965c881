"""The ranks and processes of a live screen side by side, to choose one."""

from __future__ import annotations

from statistics import median

from whichlayer.analysis.report.units import share_text, time_text
from whichlayer.analysis.text import clean
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.widgets.list_sheet import Listed

_HEADING = ("rank", "verdict", "a step", "busy", "windows", "step", "phase")


def rank_list(model: LiveModel) -> Listed:
    """A row for each, with what its newest window says."""
    return Listed(
        "ranks and processes",
        _HEADING,
        [_row(model, source) for source in model.sources],
        "nobody connected yet",
        "enter shows its windows · esc closes",
    )


def _row(model: LiveModel, source: str) -> tuple[str, ...]:
    shots = [shot for shot in model.shots.values() if shot.source == source]
    told = model.told.get(source)
    judged = next((model.judged[s.id] for s in reversed(shots) if s.id in model.judged), None)
    lengths = () if told is None else told.step_us
    step_ns = int(median(lengths)) * 1000 if lengths else None
    if step_ns is None and judged is not None:
        step_ns = judged.step_ns
    verdict = "–" if judged is None else f"{judged.mark} {judged.owner.text.letter}"
    return (
        source or "not told",
        verdict,
        time_text(step_ns),
        share_text(None if judged is None else judged.busy_share),
        str(len(shots)),
        "–" if told is None or told.step is None else f"{told.step:,}",
        "–" if told is None else clean(told.phase),
    )
