"""``whichlayer report FOLDER``: the ranks of a job, compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, cast

from whichlayer.tui.arguments import UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from whichlayer.analysis.communication.job import Job
    from whichlayer.analysis.options import Options
    from whichlayer.analysis.results import Analysis
    from whichlayer.analysis.trace.columns import Trace

#: Formats that a report on a job has.
_FORMATS = ("csv", "html", "json", "markdown", "text")


def report_job(
    typed: Namespace,
    load: Callable[[str, Namespace], Trace],
    keep: Callable[[Trace, Namespace], None],
    options: Callable[[Namespace], Options],
    write: Callable[[bytes, str | None], None],
) -> bool:
    """Report on a folder of several traces, or choose the one of the rank that was asked for.

    Args:
        typed: the command line; with a rank, its ``file`` becomes the trace of that rank.
        load: reads a trace.
        keep: puts a trace into the cache.
        options: what was asked for.
        write: writes the report where it was asked for.

    Returns:
        Whether the report is written; else there is one trace to report on.

    Raises:
        UsageError: there is no such format of a job, or no trace of that rank.
        TraceError: none of the traces can be analysed.
    """
    from whichlayer.analysis.reader.opening import traces_in

    files = traces_in(typed.file)
    if len(files) < 2:
        return False
    if typed.rank is not None:
        typed.file = _of_rank(typed.file, files, typed.rank)
        return False
    if typed.covered or typed.near_misses:
        raise UsageError(
            f"{typed.file}: --covered and --near-misses are about one trace, and here are {len(files)}: "
            "choose one with --rank or by its name"
        )
    if typed.format not in _FORMATS:
        raise UsageError(
            f"a folder of several traces has no format {typed.format!r}; choose "
            f"{', '.join(_FORMATS)}, or a trace with --rank"
        )
    if typed.table is not None:
        from whichlayer.analysis.report import job_csv

        _known_table(typed.table, job_csv.TABLES)
    from whichlayer.analysis.communication.job import analyse_job

    job = analyse_job(
        typed.file,
        files,
        lambda file: load(file, typed),
        options(typed),
        lambda trace: keep(trace, typed),
    )
    module = import_module(f"whichlayer.analysis.report.job_{typed.format}")
    chosen = module.render if typed.table is None else module.TABLES[typed.table]
    report = cast("Callable[[Job], str | bytes]", chosen)(job)
    write(report.encode() if isinstance(report, str) else report, typed.output)
    return True


def render_table(analysis: Analysis, table: str) -> bytes:
    """One table of a single recording, as CSV.

    Raises:
        UsageError: there is no such table.
    """
    from whichlayer.analysis.report.csv_tables import TABLES

    _known_table(table, TABLES)
    return TABLES[table](analysis).encode()


def _known_table(table: str, tables: Mapping[str, object]) -> None:
    if table not in tables:
        raise UsageError(f"there is no table {table!r} here; choose {', '.join(tables)}")


def _of_rank(folder: str, files: list[str], rank: int) -> str:
    """The trace of a rank by its name; reading it then refuses a file of another rank.

    Raises:
        UsageError: there is none, or more than one.
    """
    from whichlayer.analysis.communication.job import rank_of_file

    found = [file for file in files if rank_of_file(file) == rank]
    if len(found) != 1:
        several = "more than one trace" if found else "no trace"
        raise UsageError(f"{folder}: --rank {rank}, but it holds {several} of that rank by name")
    return found[0]
