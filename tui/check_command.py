"""``whichlayer check FILE``: hold recordings to limits, for continuous integration."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from whichlayer.analysis.layers import Layer, layer_of
from whichlayer.analysis.limits import ANY, Limits, Outcome, hold_findings, hold_to
from whichlayer.analysis.text import source_text
from whichlayer.tui.arguments import Parser, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from whichlayer.analysis.options import Options
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.trace.columns import Trace

_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})\s*(%?)")
_LAYERS = tuple(layer.id for layer in Layer if layer is not Layer.NONE)


def parse_share(text: str) -> float:
    """A share of a whole from ``15%`` or ``0.15``.

    >>> parse_share("15%"), parse_share("0.5")
    (0.15, 0.5)

    Raises:
        ArgumentTypeError: it is none; a bare number above 1 could mean either.
    """
    match = _SHARE.fullmatch(text.strip())
    share = math.nan if match is None else float(match[1]) / (100 if match[2] else 1)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share; write 15% or 0.15")
    return share


def parse_layer_share(text: str) -> tuple[Layer, float]:
    """A layer and what it may lose, from ``runtime=5%``.

    Raises:
        ArgumentTypeError: no such layer, or no share.
    """
    word, _, share = text.partition("=")
    word = word.strip().lower()
    if word not in _LAYERS:
        known = ", ".join(_LAYERS)
        raise argparse.ArgumentTypeError(f"{text!r}: write LAYER=SHARE with one of {known}")
    return layer_of(word), parse_share(share)


def parse_rule(text: str) -> str:
    """The id of a rule that yields findings, or ``any``.

    Raises:
        ArgumentTypeError: there is no such rule.
    """
    from whichlayer.analysis.report.rule_list import every_rule

    known = (*every_rule(), ANY)
    if text not in known:
        near = get_close_matches(text, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "'whichlayer rules' lists them"
        raise argparse.ArgumentTypeError(f"there is no rule {text!r}; {hint}")
    return text


def add_limit_options(parser: Parser) -> None:
    """The options that say what is allowed."""
    group = parser.add_argument_group(
        "what is allowed",
        "A limit that the recording cannot tell is broken too: one that idle time of unknown cause or "
        "kernels that are not judged could break. The line says what to record.",
    )
    group.add_argument(
        "--max-idle",
        type=parse_share,
        metavar="SHARE",
        help="of the window in which a GPU may run nothing, such as 15%%",
    )
    group.add_argument(
        "--max-layer",
        type=parse_layer_share,
        metavar="LAYER=SHARE",
        action="append",
        default=[],
        help=f"of the window that a layer may lose, such as runtime=5%%; may be repeated; layers "
        f"are {', '.join(_LAYERS)}",
    )
    group.add_argument(
        "--min-roof",
        type=parse_share,
        metavar="SHARE",
        help="of the time of judged kernels that well-made kernels would need, such as 60%%",
    )
    group.add_argument(
        "--no-finding",
        type=parse_rule,
        metavar="RULE",
        action="append",
        default=[],
        help=f"that must not be found, such as host-sync, or {ANY}; may be repeated",
    )


def limits_of(typed: Namespace, configured: Limits | None = None) -> Limits:
    """The limits typed, each in place of the one that the configuration sets.

    Raises:
        UsageError: there is none at all.
    """
    base = configured or Limits()
    limits = Limits(
        max_idle=base.max_idle if typed.max_idle is None else typed.max_idle,
        max_layer={**base.max_layer, **dict(typed.max_layer)},
        min_roof=base.min_roof if typed.min_roof is None else typed.min_roof,
        no_finding=tuple(dict.fromkeys((*base.no_finding, *typed.no_finding))),
    )
    if not limits:
        raise UsageError(
            "nothing to check: give --max-idle, --max-layer, --min-roof or --no-finding, or set "
            "them in [check] of .whichlayer.toml"
        )
    return limits


def check(
    typed: Namespace,
    limits: Limits,
    load: Callable[[str, Namespace], Trace],
    analyse: Callable[[str, Trace, Namespace], Analysis],
    keep: Callable[[Trace, Namespace], None],
    options: Callable[[Namespace], Options],
) -> Iterator[tuple[str, bool]]:
    """Hold every recording named, and every one of each folder named, to the limits.

    Args:
        typed: the command line.
        limits: what is allowed.
        load: reads a trace.
        analyse: analyses one.
        keep: puts one into the cache.
        options: what was asked for.

    Yields:
        One line per broken limit, or one per recording where all hold; and whether it is broken.

    Raises:
        TraceError: a recording cannot be read or analysed.
    """
    for path in typed.files:
        for name, outcomes in _held(path, typed, limits, load, analyse, keep, options):
            bad = [one for one in outcomes if one.broken]
            for one in bad:
                yield f"{source_text(name)}: {one.text}", True
            if not bad:
                found = "; ".join(one.text for one in outcomes)
                yield f"{source_text(name)}: ok: {found}", False


def _held(
    path: str,
    typed: Namespace,
    limits: Limits,
    load: Callable[[str, Namespace], Trace],
    analyse: Callable[[str, Trace, Namespace], Analysis],
    keep: Callable[[Trace, Namespace], None],
    options: Callable[[Namespace], Options],
) -> Iterator[tuple[str, tuple[Outcome, ...]]]:
    """Each recording of a path with its outcomes; a folder of ranks also as the job it is."""
    files = _recordings(path)
    for file in files:
        trace = load(file, typed)
        yield file, hold_to(analyse(file, trace, typed), limits)
        keep(trace, typed)
    if len(files) > 1 and limits.no_finding:
        from whichlayer.analysis.communication.job import analyse_job

        job = analyse_job(path, files, lambda file: load(file, typed), options(typed))
        asked = Limits(no_finding=_of_jobs(limits.no_finding))
        if asked:
            yield path, hold_findings(job.findings, asked)


def _recordings(path: str) -> Sequence[str]:
    if path == "-" or not os.path.isdir(path):
        return (path,)
    from whichlayer.analysis.reader.opening import traces_in

    return traces_in(path)


def _of_jobs(rules: Sequence[str]) -> tuple[str, ...]:
    """Those rules that only several ranks together can show."""
    from whichlayer.analysis.communication import rules as job_rules
    from whichlayer.analysis.rule import rule_modules

    known = {module.RULE.id for module in rule_modules(job_rules)}
    return tuple(rule for rule in rules if rule == ANY or rule in known)
