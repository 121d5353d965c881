"""Further tables for spreadsheets: the rows of the JSON report, a column for each field.

Headings are the field names of the JSON report, those of nested objects behind a point
(``where.file``); what JSON has in a list of lines stands in one field, with `` | `` between them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import orjson

from whichlayer.analysis.report import csv_report
from whichlayer.analysis.report.csv_report import safe_text
from whichlayer.analysis.report.json_steps import step_fields
from whichlayer.analysis.report.json_tables import finding_fields, gap_rows

if TYPE_CHECKING:
    from whichlayer.analysis.results import Analysis

Row = Mapping[str, Any]

#: Between the lines of a list in one field.
BETWEEN: Final = " | "


#: First columns of each table, there without a row too.
_STEPS: Final = ("number", "name", "start_us", "end_us")
_GAPS: Final = ("start_us", "end_us", "device", "kind", "cause", "layer")
FINDINGS: Final = ("rule", "layer", "title", "time_us")


def write_rows(rows: Iterable[Row], first: Iterable[str]) -> str:
    """Rows of a JSON table as RFC 4180 has it; a column for every field that any of them has.

    Args:
        rows: the rows.
        first: the first columns, which are headed where there is no row as well.
    """
    flat = [dict(_fields(row)) for row in rows]
    headings = list(dict.fromkeys((*first, *(name for row in flat for name in row))))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(headings)
    for row in flat:
        writer.writerow([row.get(name, "") for name in headings])
    return text.getvalue()


def _fields(row: Row, before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _fields(value, f"{before}{name}.")
        else:
            yield before + name, _field(value)


def _field(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, orjson.Fragment):  # exact times, and integers of any size
        return orjson.dumps(value).decode()
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, list):
        lines = (one if isinstance(one, str) else json.dumps(one) for one in value)
        return safe_text(BETWEEN.join(lines))
    return str(value)


def _findings(analysis: Analysis) -> str:
    return write_rows((finding_fields(finding) for finding in analysis.findings), FINDINGS)


def _gaps(analysis: Analysis) -> str:
    return write_rows(gap_rows(analysis), _GAPS)


def _steps(analysis: Analysis) -> str:
    table = step_fields(analysis)
    text = b"[]" if table is None else orjson.dumps(table["rows"])
    rows = json.loads(text, parse_float=Decimal)  # times as they stand there, digit by digit
    keep = [{name: value for name, value in row.items() if name != "spans"} for row in rows]
    return write_rows(keep, _STEPS)


#: What each table of one recording is written by.
TABLES: Final[dict[str, Callable[[Analysis], str]]] = {
    "kernels": csv_report.render,
    "gaps": _gaps,
    "findings": _findings,
    "steps": _steps,
}
