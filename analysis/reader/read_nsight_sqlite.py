"""Nsight Systems SQLite exports: known, and not read yet."""

from __future__ import annotations

from typing import NoReturn

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.reader.formats import TraceFormat
from whichlayer.analysis.reader.progress import Report
from whichlayer.analysis.reader.source import TraceSource


def _read(source: TraceSource, report: Report | None) -> NoReturn:
    raise TraceError("an SQLite file: Nsight Systems exports are not read yet")


FORMAT = TraceFormat(
    "Nsight Systems SQLite export", lambda head: head.startswith(b"SQLite format 3\0"), _read
)
