"""The first screenful of the text report answers: which layer, what to do, and where."""

from __future__ import annotations

import json

import pytest

from whichlayer.analysis import Analysis, analyse, load
from whichlayer.analysis.report import render
from whichlayer.tui.samples import sample_names, sample_path

#: Lines and columns of the smallest terminal that the screen is made for.
LINES, COLUMNS = 24, 100


def top_of(analysis: Analysis) -> str:
    """What stands in the first screenful, wrapped lines joined again."""
    lines = render(analysis, "text").decode().splitlines()[:LINES]
    assert all(len(line) <= COLUMNS for line in lines)
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("name", sample_names())
def test_verdict_owner_rule_fix_and_place_need_no_scrolling(name: str) -> None:
    path = sample_path(name)
    truth = json.loads(path.with_name(f"{path.name.split('.')[0]}.truth.json").read_text())
    analysis = analyse(load(path))
    text = top_of(analysis)
    assert text.startswith(f"VERDICT {' '.join(analysis.verdict.text.split())}")
    assert analysis.verdict.side == truth["side"]
    if not analysis.findings:
        assert "FINDINGS none" in text
        return
    first = analysis.findings[0]
    assert (first.rule, first.layer.id) == (truth["rule"], truth["layer"])
    planted = [(place["file"], place["line"]) for place in truth["where"]]
    assert (first.where.file, first.where.line) in planted
    for part in (first.rule, f"owner {first.layer.text.name}", f"fix {first.fix}",
                 f"where {first.where}"):  # fmt: skip
        assert part in text, part
