"""All steps over one another, as a sheet: a chart by position, where steps differ, the outliers."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.text_steps import growth_text
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.steps.folded import Floats, Folded, fold_steps
from whichlayer.analysis.text import gpu_text
from whichlayer.tui.sheet import Sheet, SheetLine, Target

_HEIGHTS = " ▁▂▃▄▅▆▇█"

#: Cells of the words before a line of the chart.
_LABEL = 15

#: Stretches that are listed, from which spread on, and from which share of a step on.
_MOST, _LEAST_SPREAD, _LEAST_SHARE = 8, 0.05, 0.005


def folded_sheet(analysis: Analysis, device: int, width: int) -> Sheet:
    """The sheet of one device.

    Args:
        analysis: any.
        device: index into ``Analysis.devices``.
        width: cells of a line.
    """
    found = fold_steps(analysis, device, max(width - _LABEL, 10))
    gpu = gpu_text(analysis.devices[device].number) if analysis.devices else "no GPU"
    title = f"steps over one another · {gpu}"
    if found is None:
        return Sheet(title, (SheetLine("There are fewer than two steps to compare."),))
    lines = [
        SheetLine(f"{count_text(len(found.rows), 'step')}, aligned at their starts; height: share "
                  "of the position that the GPU spends in gaps", "dim"),
        SheetLine(""),
        SheetLine(f"{'9 of 10 below':<{_LABEL}}{_bars(found.high)}", "dim"),
        SheetLine(f"{'median':<{_LABEL}}{_bars(found.median)}", "strong"),
        SheetLine(f"{'1 of 10 below':<{_LABEL}}{_bars(found.low)}", "dim"),
        SheetLine(f"{'owner':<{_LABEL}}{_letters(found)}"),
        SheetLine(f"{'':<{_LABEL}}{_scale(found)}", "dim"),
        SheetLine(""),
        *_headed("Where steps differ most (enter: the step that is idle there the longest)",
                 _differences(analysis, found)),
        *_headed("Steps unlike the others", _outliers(analysis, found, device)),
    ]  # fmt: skip
    while not lines[-1].text:
        lines.pop()
    return Sheet(title, tuple(lines))


def _bars(share: Floats) -> str:
    level = np.clip(np.ceil(np.nan_to_num(share) * 8), 0, 8).astype(int)
    return "".join(_HEIGHTS[one] for one in level.tolist())


def _letters(found: Folded) -> str:
    idle = np.nan_to_num(found.high)
    return "".join(
        Layer(owner).text.letter if share >= 0.1 and owner != Layer.NONE else "·"
        for owner, share in zip(found.owner.tolist(), idle.tolist(), strict=True)
    )


def _scale(found: Folded) -> str:
    cells = len(found.median)
    end = time_text(int(found.offset_ns[-1]))
    middle = time_text(int(found.offset_ns[cells // 2]))
    text = f"0{middle:>{max(cells // 2 + len(middle) // 2 - 1, len(middle) + 1)}}"
    return f"{text}{end:>{max(cells - len(text), len(end) + 1)}}"


def _differences(analysis: Analysis, found: Folded) -> list[SheetLine]:
    """Neighbouring positions whose spread is large, as stretches, the largest first."""
    spread = np.nan_to_num(found.spread)
    wide = spread >= _LEAST_SPREAD
    edges = np.flatnonzero(np.diff(np.concatenate(([0], wide.view(np.int8), [0]))))
    stretches = []
    for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        length = np.diff(found.offset_ns[first : stop + 1])
        varies = float((spread[first:stop] * length).sum())
        if varies >= _LEAST_SHARE * float(found.offset_ns[-1]):
            stretches.append((varies, first, stop))
    lines = []
    for varies, first, stop in sorted(stretches, reverse=True)[:_MOST]:
        low, high = int(found.offset_ns[first]), int(found.offset_ns[stop])
        place = first + int(spread[first:stop].argmax())
        row = found.rows[int(found.worst[place])]
        vendor = analysis.devices[row.device].vendor
        owner = Layer(int(found.owner[place]))
        mine = f", mostly {layer_name(owner, vendor)}" if owner != Layer.NONE else ""
        text = (
            f"{time_text(low)} to {time_text(high)}: idle differs by {time_text(round(varies))}, "
            f"median {share_text(float(np.nanmean(found.median[first:stop])))}{mine}; "
            f"most in {row.label}"
        )
        target = Target(row.start_ns + low, min(row.start_ns + high, row.end_ns), -1, row.device)
        lines.append(SheetLine(text, layer=owner, target=target))
    return lines


def _outliers(analysis: Analysis, found: Folded, device: int) -> list[SheetLine]:
    steps = analysis.steps
    lines = []
    for one in () if steps is None else steps.outliers:
        assert steps is not None
        row = steps.rows[one.index]
        span = row.spans[device] if device < len(row.spans) else (0, 0)
        grown = ", ".join(growth_text(growth) for growth in one.growths)
        warm = " (warm-up)" if row.warm_up else ""
        text = f"step {row.step.number}{warm}: {time_text(one.over_ns)} longer than the median"
        target = Target(*span, device=device) if span[1] > span[0] else None
        lines.append(SheetLine(f"{text}{f': {grown}' if grown else ''}", target=target))
    return lines


def _headed(heading: str, lines: list[SheetLine]) -> list[SheetLine]:
    return [SheetLine(heading, "accent"), *lines, SheetLine("")] if lines else []
