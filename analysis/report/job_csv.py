"""The report on a folder of ranks for spreadsheets: a row for each GPU of each rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from whichlayer.analysis.communication.job import Job
from whichlayer.analysis.report.csv_tables import FINDINGS, write_rows
from whichlayer.analysis.report.job_json import rank_fields
from whichlayer.analysis.report.json_comparison import comparison_fields
from whichlayer.analysis.report.json_tables import finding_fields


def render(job: Job) -> str:
    """The ranks: verdict, layers, device times and lateness of each."""
    return write_rows(_ranks(job), ("rank", "path", "error"))


def _ranks(job: Job) -> Iterator[dict[str, Any]]:
    for rank in job.ranks:
        told = rank_fields(job, rank)
        devices, findings = told.pop("devices"), told.pop("findings")
        layers = told["layers"]
        if layers is not None:
            own = {f"{layer}_us": time for layer, time in layers.pop("layers").items()}
            told["layers"] = {**own, **layers}
        late = told["lateness"] or {}
        cause = late.pop("cause", None)
        told["lateness"] = {**late, "cause": None if cause is None else cause["rule"]}
        first = findings[0] if findings else {}
        for device in devices or [{}]:
            yield {
                **told,
                "device": device or None,
                "first_finding": {name: first.get(name) for name in ("rule", "layer", "time_us")},
            }


def _findings(job: Job) -> str:
    """Those of the ranks together, which name no rank, then those of each."""
    together = [{"rank": None, **finding_fields(finding)} for finding in job.findings]
    each = [
        {"rank": rank.rank, **finding_fields(finding)}
        for rank in job.ranks
        for finding in rank.findings
    ]
    return write_rows([*together, *each], ("rank", *FINDINGS))


def _collectives(job: Job) -> str:
    compared = [] if job.comparison is None else comparison_fields(job.comparison)["collectives"]
    return write_rows(compared, ("kind", "process_group", "ranks", "bytes", "calls"))


#: What each table of a job is written by.
TABLES: Final[dict[str, Callable[[Job], str]]] = {
    "ranks": render,
    "findings": _findings,
    "collectives": _collectives,
}
