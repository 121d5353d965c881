"""Where the slices of a chain are on the timeline, and what is said beside the line between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whichlayer.analysis.report.units import number_text, time_text
from whichlayer.tui.chain import Chain
from whichlayer.tui.document import Document
from whichlayer.tui.lanes import ShownRow


@dataclass(frozen=True, slots=True)
class Placed:
    """A slice on the timeline.

    Attributes:
        start_ns, end_ns: when it is.
        lines: the lines of its row, in sight or not; of one that is folded away, the lane's last
            line above it.
        folded: its row has no line.
    """

    start_ns: int
    end_ns: int
    lines: tuple[int, ...]
    folded: bool = False


def places_of(document: Document, rows: Sequence[ShownRow], chain: Chain) -> Mapping[int, Placed]:
    """The slices of a chain, by trace row; those of hidden lanes left out.

    Args:
        document: what is shown.
        rows: all lines of the timeline.
        chain: the chain.
    """
    trace = document.trace
    wanted: dict[int, list[int]] = {}
    for link in chain.links:
        wanted.setdefault(id(trace.lanes[int(trace.lane_id[link.row])]), []).append(link.row)
    at: dict[tuple[int, int], list[int]] = {}
    for index, lane in enumerate(document.lanes):
        for row in wanted.get(id(lane.lane), ()):
            depth = lane.depth_of(row)
            if depth >= 0:
                at.setdefault((index, depth), []).append(row)
    lines: dict[tuple[int, int], list[int]] = {}
    lanes = {lane for lane, _ in at}
    for line, shown in enumerate(rows):
        if shown.lane in lanes:
            lines.setdefault((shown.lane, shown.depth), []).append(line)
    found: dict[int, Placed] = {}
    for (index, depth), mine in at.items():
        here = lines.get((index, depth))
        folded = here is None
        if here is None:
            shown_depths = [other for lane, other in lines if lane == index]
            above = [other for other in shown_depths if other < depth] or shown_depths[:1]
            here = lines[index, max(above)][-1:] if above else []
        for row in mine if here else ():
            times = int(trace.start_ns[row]), int(trace.end_ns[row])
            found[row] = Placed(*times, tuple(here), folded)
    return found


def top_for(
    top: int, height: int, pinned: int, row: int, chain: Chain, places: Mapping[int, Placed]
) -> int:
    """Where to scroll to so that as much of a chain is in sight as fits beside the cursor's row.

    The GPU work and its launch come before what is around the launch.

    Args:
        top: where the screen begins now.
        height: lines of the screen, those that do not scroll among them.
        pinned: how many do not.
        row: the line that the cursor is on.
        chain: its chain.
        places: of it.
    """
    if row < pinned:
        return top
    # As cursors are brought into sight: not to the very edge.
    low, high = max(row - 1, pinned), row + 1
    first = {link.row: place for place, link in enumerate(chain.links[:2])}
    near = {link.row: abs(chain.at - place) for place, link in enumerate(chain.links)}
    for link in sorted(chain.links, key=lambda link: (first.get(link.row, 2), near[link.row])):
        placed = places.get(link.row)
        if placed is None or placed.lines[0] < pinned:
            continue
        reach = min(low, placed.lines[0]), max(high, placed.lines[-1])
        if reach[1] - reach[0] < height - pinned:
            low, high = reach
    return max(min(top, low - pinned), high + 1 - height)


def words_of(document: Document, chain: Chain) -> tuple[str, ...]:
    """Launch delay and queue depth of the launch in a chain, the longest text first.

    Of work that was launched with other work, the time since the call began is told, and which
    of it this is: the delay of a launch is that of what begins first.
    """
    launch = next((link.row for link in chain.links[:3] if link.word == "launch"), -1)
    work = chain.foot
    if launch < 0 or work < 0 or document.links is None:
        return ()
    trace = document.trace
    delay = int(trace.start_ns[work] - trace.start_ns[launch])
    texts = [time_text(delay)]
    started = document.links.launched.by(launch)
    if len(started) > 1:
        begun = int((trace.start_ns[started] < trace.start_ns[work]).sum())
        texts.append(f"{texts[0]} · {number_text(begun + 1)} of {number_text(len(started))}")
    activity = document.activity_of(work)
    queued = document.links.queued(activity) if activity >= 0 else None
    if queued is not None and delay >= 0:
        least = "≥" if queued.unlinked else ""
        texts.append(f"{texts[-1]} · queue {least}{number_text(queued.before)}")
    elif delay < 0:
        texts.append(f"{texts[-1]} · clocks disagree")
    return tuple(reversed(texts))
