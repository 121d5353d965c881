"""The notes from the field are what the product says, and name tests that there are."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.support.recordings import analysed
from whichlayer.analysis.findings.catalogue import shipped_rules

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "field-notes.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "make_field_notes.py"))


def test_the_table_is_what_the_product_says(traces: Path, script: dict[str, Any]) -> None:
    rows = script["table"]()
    wrong = {}
    for path in script["recordings"](traces):
        told = script["told"](analysed(path))
        if rows.get(path.name) != told:
            wrong[path.name] = (rows.get(path.name), told)
    assert not wrong, f"look into them, then correct the table: {wrong}"


def test_every_recording_is_judged(script: dict[str, Any]) -> None:
    judged = re.findall(r"^\| `[^`]+` \| [^|]+ \| [^|]+ \| (.+) \|$", PAGE, re.MULTILINE)
    assert len(judged) == len(script["table"]()) > 50
    assert all(len(one) > 10 for one in judged)


def test_every_rule_has_a_test_where_it_fires_and_one_where_it_does_not() -> None:
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert {row[0] for row in rows} >= set(shipped_rules())
    for rule, fires, does_not, real in rows:
        if rule not in shipped_rules():
            continue
        for cell in (fires, does_not, *([] if real == "–" else [real])):
            file, name = re.fullmatch(r"`([\w/.]+)`: (\w+)", cell).groups()  # type: ignore[union-attr]
            text = (ROOT / "tests" / "analysis" / file).read_text(encoding="utf-8")
            assert f"def test_{name}(" in text, f"{rule}: {cell}"


def test_rules_without_a_recording_are_listed() -> None:
    without = re.findall(r"^\| ([a-z0-9-]+) \|[^|]*`[^|]*\|[^|]*\| – \|$", PAGE, re.MULTILINE)
    (line,) = re.findall(
        r"^Rules without a test on a real recording, .*: (.+)\.$", PAGE, re.MULTILINE
    )
    assert line.split(", ") == without


def test_rules_without_a_recording_occur_in_none(traces: Path, script: dict[str, Any]) -> None:
    """No gap, kernel or finding of theirs anywhere: else there would be something to test."""
    without = set(re.findall(r"^\| ([a-z0-9-]+) \|[^|]*`[^|]*\|[^|]*\| – \|$", PAGE, re.MULTILINE))
    seen: dict[str, str] = {}
    for path in script["recordings"](traces):
        analysis = analysed(path)
        causes = {analysis.gaps.rule_ids[code] for code in set(analysis.gaps.cause.tolist())}
        kernels = {group.rule for group in analysis.kernels}
        found = {finding.rule for finding in analysis.findings}
        seen |= dict.fromkeys((causes | kernels | found) & without, path.name)
    assert not seen, seen
