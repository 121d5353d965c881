"""The options that choose what the screen shows at first; ``y`` there writes them."""

from __future__ import annotations

import argparse
import re
import warnings
from typing import Final

from whichlayer.tui.arguments import Parser, parse_count, parse_span, parse_time
from whichlayer.tui.lane_spec import LaneEntry, LaneSpecError, parse_counts, parse_lanes
from whichlayer.tui.layout import PANELS
from whichlayer.tui.wanted import RowsFor

COLOURS: Final = ("family", "owner", "stream", "name")
GROUPINGS: Final = ("shape", "name", "operator", "module", "family")
SORTS: Final = ("time", "share", "calls", "gbps", "roof", "call", "lost", "tflops")
HEAT_ROWS: Final = ("steps", "streams", "devices", "ranks")
PARTS: Final = ("timeline", *PANELS)


def add_view_options(parser: Parser) -> None:
    """Add them to a parser, with the names that :class:`Wanted` has for them."""
    group = parser.add_argument_group("what is shown at first (y on the screen writes it)")
    add = group.add_argument
    add("--view", type=parse_span, metavar="A:B",
        help="the stretch in sight, such as 10ms:25ms; lanes and clock are as usual then, not as "
        "they were left")  # fmt: skip
    add("--at", type=parse_time, metavar="T", help="the cursor")
    add("--select", type=parse_span, metavar="A:B",
        help="a selected stretch, which panels speak of")  # fmt: skip
    add("--lane", metavar="NAME[/ROW]", help="the cursor's lane as labelled, such as 'GPU0 s7'; "
        "the second of a name is NAME#2")  # fmt: skip
    add("--mark", type=parse_time, metavar="T", help="where a selection is begun")
    add("--gpu", type=parse_count, metavar="N", help="the GPU that strips and panels show")
    add("--filter", type=parse_query_text, metavar="QUERY",
        help="show only these slices, as & on the screen")  # fmt: skip
    add("--find", type=parse_query_text, metavar="QUERY",
        help="search for these, as / on the screen")  # fmt: skip
    add("--colour-by", choices=COLOURS, help="what the colour of bars tells")
    add("--clock", action="store_true", help="times of the wall clock")
    add("--lanes", type=parse_lanes_text, metavar="LIST",
        help="lanes from top to bottom: NAME,NAME=3 (rows),NAME=one,NAME=all,^NAME (pinned),"
        "-NAME (hidden),* (all others)")  # fmt: skip
    add("--queue", action="store_true", help="lanes of launches: how many wait, and how late")
    add("--group-by", choices=GROUPINGS, help="what a row of the kernel table is")
    add("--sort", choices=SORTS, help="the column that the kernel table is sorted by")
    add(
        "--heat-rows", choices=HEAT_ROWS, help="what a row of the heatmap is; ranks are of a folder"
    )
    add("--only", choices=PARTS, help="this part on the whole screen")
    add("--rows-for", type=parse_rows_for, metavar="A:B[,LANE=N]",
        help="the stretch that lanes have rows for, where that is not the one in sight")  # fmt: skip
    add("--top", type=parse_count, metavar="N",
        help="lines of the timeline that are scrolled off at its top")  # fmt: skip


def parse_query_text(text: str) -> str:
    """A query of a search or filter, looked at before anything is opened.

    Raises:
        ArgumentTypeError: it cannot be asked, or asks for nothing.
    """
    from whichlayer.analysis.search.query import QueryError, parse_query

    try:
        terms = parse_query(text).terms
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for term in terms:
                if term.is_regex:
                    re.compile(term.text)
    except (QueryError, re.error, RecursionError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error
    if not terms:
        raise argparse.ArgumentTypeError(f"{text!r} asks for nothing")
    return text


def parse_lanes_text(text: str) -> tuple[LaneEntry, ...]:
    """A list of lanes.

    Raises:
        ArgumentTypeError: it is none.
    """
    try:
        return parse_lanes(text)
    except LaneSpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse_rows_for(text: str) -> RowsFor:
    """A stretch, and the rows of lanes that need others there.

    Raises:
        ArgumentTypeError: it is none.
    """
    span, comma, counts = text.partition(",")
    try:
        return RowsFor(parse_span(span), parse_counts(counts) if comma else ())
    except LaneSpecError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
