"""The trace and the analysis that a command line asks for.

Nothing of the analysis is imported before it is needed: the screen's first picture does without.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from whichlayer.tui.arguments import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from whichlayer.analysis.results import Analysis, Options
    from whichlayer.analysis.trace.columns import Trace


def load_typed(path: str, typed: Namespace) -> Trace:
    """Read a trace, and refuse it if it is of another rank than the one asked for."""
    from whichlayer.analysis import load
    from whichlayer.analysis.ranks import find_rank

    set_limit(typed)
    wanted = options_of(typed)
    cache = uses_cache(typed)
    trace = load(path, cache=cache, keep=False, steps=wanted.steps, span_ns=wanted.span_ns)
    found, rank = find_rank(trace.header), typed.rank
    if rank is not None and rank != found:
        is_of = "does not tell its rank" if found is None else f"is of rank {found}"
        raise UsageError(f"{path}: --rank {rank}, but this trace {is_of}")
    return trace


def uses_cache(typed: Namespace) -> bool:
    """Not where a limit is asked for: what was read without it would take its place."""
    return not typed.no_cache and typed.max_size is None


def set_limit(typed: Namespace) -> None:
    """Take the size up to which a compressed trace is read, where one was typed."""
    if typed.max_size is not None:
        from whichlayer.analysis.reader.text_limit import choose_limit

        choose_limit(typed.max_size)


def keep_typed(trace: Trace, typed: Namespace) -> None:
    """Put the columns of a trace into the cache, now that nobody waits for anything else."""
    if not uses_cache(typed):
        return
    from whichlayer.analysis.cache.reuse import keep

    keep(trace, lambda: _beside(trace))


def _beside(trace: Trace) -> dict[str, Any]:
    """What spares the screen work when it reopens the trace."""
    from whichlayer.tui.document import beside_entry, open_document

    return beside_entry(open_document(trace))


def analyse_typed(path: str, trace: Trace, typed: Namespace) -> Analysis:
    """Analyse a trace with the options that were typed."""
    from whichlayer.analysis import analyse

    with refusals(path, typed):
        return analyse(trace, options_of(typed))


@contextmanager
def refusals(path: str, typed: Namespace) -> Iterator[None]:
    """Turn an analysis' refusal of options into one line; without options it is a defect."""
    from whichlayer.analysis import Options

    try:
        yield
    except ValueError as error:
        if options_of(typed) == Options():
            raise
        raise UsageError(f"{path}: {error}") from error


def options_of(typed: Namespace) -> Options:
    """The options that were typed, over those that files set."""
    from whichlayer.analysis.options import Options
    from whichlayer.tui.configured import options_with

    if typed.span is not None and typed.steps is not None:
        raise UsageError("--steps and --span both choose the window: give one of them")
    asked = Options(
        span_ns=typed.span,
        steps=typed.steps,
        device=typed.device,
        device_model=typed.device_model,
        peak_bandwidth_gbps=typed.peak_bandwidth,
        peak_tflops=dict(typed.peak_flops),
        covered=getattr(typed, "covered", False),
        near_misses=getattr(typed, "near_misses", False),
        link_gbps=typed.link_bandwidth,
    )
    return options_with(asked, typed)
