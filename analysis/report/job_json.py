"""The report on a folder of ranks for programs, in the fields of ``job.schema.json``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whichlayer.analysis.communication.job import Job, RankSummary
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.report.json_comparison import comparison_fields, lateness_fields
from whichlayer.analysis.report.json_report import SCHEMA_VERSION
from whichlayer.analysis.report.json_tables import finding_fields, layer_fields

#: What to do where the links' speed is not given.
RECORD_LINKS = (
    "no recording tells how fast the links between GPUs are: give --link-bandwidth GB/s, what one "
    "GPU can send at a time"
)


def render(job: Job) -> bytes:
    """A JSON object with one field, and in tables one row, per line."""
    fields: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "job": _job(job),
        "ranks": values.rows(_ranks(job)),
    }
    return values.document(fields)


def _job(job: Job) -> dict[str, Any]:
    known_slow = job.comparison is not None and job.link_gbps is not None
    return {
        "path": values.words(job.path),
        "recordings": len(job.ranks),
        "world_size": values.integer(job.world_size),
        "verdict": None
        if job.verdict is None
        else {
            "side": job.verdict.side,
            "above_share": values.number(job.verdict.above_share),
            "below_share": values.number(job.verdict.below_share),
            "text": values.words(job.verdict.text),
            "caveat": values.words(job.verdict.caveat),
        },
        "layers": None if job.budget is None else layer_fields(job.budget),
        "link_gbps": values.number(job.link_gbps),
        "links": None if known_slow else RECORD_LINKS,
        "comparison": None if job.comparison is None else comparison_fields(job.comparison),
        "why": values.words(job.why),
        "findings": [finding_fields(finding) for finding in job.findings],
    }


def _ranks(job: Job) -> Iterator[dict[str, Any]]:
    """One row per recording."""
    for rank in job.ranks:
        yield rank_fields(job, rank)


def rank_fields(job: Job, rank: RankSummary) -> dict[str, Any]:
    """One recording of the job."""
    window, verdict, budget = rank.window, rank.verdict, rank.budget
    lateness = None
    if job.comparison is not None and len(rank.records) == 1:
        lateness = lateness_fields(job.comparison.lateness.ranks[rank.records[0]])
    return {
        "rank": values.integer(rank.rank),
        "path": values.words(rank.path),
        "error": values.words(rank.error),
        "world_size": values.integer(rank.world_size),
        "window": None
        if window is None
        else {
            "start_us": values.microseconds(window.start_ns),
            "end_us": values.microseconds(window.end_ns),
            "reason": values.words(window.reason),
        },
        "verdict": None
        if verdict is None
        else {"side": verdict.side, "text": values.words(verdict.text)},
        "layers": None if budget is None else layer_fields(budget),
        "devices": [
            {
                "index": device.number,
                "name": values.words(device.name),
                "busy_us": values.microseconds(device.busy_ns),
                "idle_us": values.microseconds(device.idle_ns),
                "compute_us": values.microseconds(device.compute_ns),
                "exposed_comm_us": values.microseconds(device.exposed_comm_ns),
                "exposed_copy_us": values.microseconds(device.exposed_copy_ns),
                "window_comm_us": values.microseconds(overlap.busy_ns),
                "window_hidden_comm_us": values.microseconds(overlap.hidden_ns),
                "window_exposed_comm_us": values.microseconds(overlap.exposed_ns),
            }
            for device, overlap in zip(rank.devices, rank.communication, strict=True)
        ],
        "lateness": lateness,
        "findings": [finding_fields(finding) for finding in rank.findings],
    }
