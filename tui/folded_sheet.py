"""What the view of all steps over one another says: where steps differ, which are unlike the others."""

from __future__ import annotations

import numpy as np

from whichlayer.analysis.layers import Layer, layer_name
from whichlayer.analysis.report.text_steps import growth_text
from whichlayer.analysis.report.units import count_text, share_text, time_text
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.steps.find import RECORD
from whichlayer.analysis.steps.folded import Folded
from whichlayer.analysis.text import clean, gpu_text
from whichlayer.tui.sheet import Sheet, SheetLine, Target

#: Stretches that are listed, from which spread on, and from which share of a step on.
_MOST, _LEAST_SPREAD, _LEAST_SHARE = 8, 0.05, 0.005

#: Steps of which the longest takes so many times the shortest are not of one sort.
_UNLIKE = 2.0


def title_of(analysis: Analysis, device: int) -> str:
    """The title: of which GPU."""
    gpu = gpu_text(analysis.devices[device].number) if analysis.devices else "no GPU"
    return f"steps over one another · {gpu}"


def no_steps_sheet(analysis: Analysis, device: int) -> Sheet:
    """What is said where there is nothing to compare, and what to do about it."""
    table = analysis.steps
    whole = 0 if table is None else len(table.found.steps)
    here = 0 if table is None else len(table.rows)
    lines = [
        SheetLine("There are fewer than two steps to compare.", "strong"),
        SheetLine(""),
        SheetLine(f"The recording has {count_text(whole, 'step')}, the analysed window {here}."),
        SheetLine(""),
    ]
    if whole > max(here, 1):
        lines.append(SheetLine(
            "The window leaves the others out: open the recording with --steps, or clear the "
            "selected span, to see them too."
        ))  # fmt: skip
    else:
        lines += [
            SheetLine(
                "Steps are the marks of torch.profiler (ProfilerStep#), those of a serving engine, "
                "or, without any, what repeats itself often enough to be told."
            ),
            SheetLine(f"{RECORD[0].upper()}{RECORD[1:]}, and record at least three: "
                      "schedule(wait=1, warmup=1, active=3)."),
        ]  # fmt: skip
    lines.append(SheetLine(
        "Meanwhile the gaps panel shows equal parts of the window below one another; R shows "
        "streams or devices there."
    ))  # fmt: skip
    return Sheet(title_of(analysis, device), tuple(lines))


def how_told(analysis: Analysis, found: Folded) -> list[str]:
    """How the chart is computed, and whether its steps are of one sort: paragraphs."""
    lengths = [row.end_ns - row.start_ns for row in found.rows]
    shortest, longest = min(lengths), max(lengths)
    how = "" if analysis.steps is None else analysis.steps.found.how
    first, last = clean(found.rows[0].label), clean(found.rows[-1].label)
    source = f"; from {how}" if how else ""
    texts = [
        (
            f"{count_text(len(found.rows), 'step')} ({first} to {last}{source}) laid over one another "
            "from their starts as the GPU saw them, without warm-up and cut ones where others remain; "
            f"{time_text(shortest)} to {time_text(longest)} long."
        ),
        (
            "Height: share of a position, over the steps that reach it: strong what 9 of 10 exceed, "
            "darker up to the median, dotted up to what 1 of 10 exceeds. gaps: while the GPU waits, in "
            "the colour of its owner; streams: while they run work; threads: while they are in "
            "operators or runtime calls."
        ),
    ]
    if shortest * _UNLIKE < longest:
        texts.append(
            f"These steps are unlike: the longest takes {longest / max(shortest, 1):.1f} times the "
            "shortest, so that a position need not be the same work in all of them. Compare like "
            "ones with --steps, or see each by itself in the gaps panel."
        )
    return texts


def differences(analysis: Analysis, found: Folded) -> list[SheetLine]:
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
        lines.append(SheetLine(text, layer=owner, target=target_of(found, place, (first, stop))))
    return lines


def target_of(found: Folded, place: int, stretch: tuple[int, int] | None = None) -> Target | None:
    """The place in the step that is idle there the longest.

    Args:
        found: the steps.
        place: position that says which step.
        stretch: positions that are shown, first and last + 1; that one alone without it.
    """
    which = int(found.worst[place])
    if which < 0:
        return None
    row, (first, stop) = found.rows[which], stretch or (place, place + 1)
    low, high = int(found.offset_ns[first]), int(found.offset_ns[stop])
    start = min(row.start_ns + low, row.end_ns - 1)
    return Target(start, min(row.start_ns + high, row.end_ns), -1, row.device)


def outliers(analysis: Analysis, device: int) -> list[SheetLine]:
    """The steps that are much longer than the median, and what grew in them."""
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
