"""The Markdown report as GitHub would render it: the answer first, and nothing injected."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.analysis.report.conftest import make_finding, make_group
from tests.support.program import Program
from whichlayer.analysis import analyse, load
from whichlayer.analysis.report import format_names, render
from whichlayer.analysis.report.markdown_report import code, fenced, plain, rows
from whichlayer.analysis.results import Analysis, Where
from whichlayer.analysis.text import clean
from whichlayer.tui.samples import sample_names, sample_path

MakeAnalysis = Callable[..., Analysis]
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
FIRST_SCREENFUL = 24
ONE_PARAGRAPH = st.text().map(lambda text: clean(text).strip()).filter(bool)


def inline(text: str) -> list[Token]:
    """The tokens of the one paragraph that a text is."""
    tokens = PARSER.parse(text)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children
    assert children is not None
    return children


@given(ONE_PARAGRAPH)
def test_plain_text_stays_text_whatever_it_holds(text: str) -> None:
    children = inline(plain(text))
    kinds = {token.type for token in children}
    assert kinds <= {"text", "text_special", "html_inline"}
    shown = "".join(t.content for t in children if t.content != "<!-- -->")
    assert " ".join(shown.split()) == " ".join(text.split())


@given(ONE_PARAGRAPH)
def test_a_code_span_holds_any_name_whole(text: str) -> None:
    (span,) = inline(code(text))
    assert span.type == "code_inline"
    assert span.content.replace("\\|", "|") == text.replace("\\|", "|")


@given(st.lists(ONE_PARAGRAPH, min_size=2, max_size=4))
def test_cells_stay_in_their_column(cells: list[str]) -> None:
    tokens = PARSER.parse(rows(["h"] * len(cells), [[code(cell) for cell in cells]], 1))
    assert sum(token.type == "td_open" for token in tokens) == len(cells)


def test_nobody_is_mentioned_and_nothing_linked() -> None:
    assert "@<!-- -->octocat" in plain("ask @octocat about #12")
    assert "#<!-- -->12" in plain("ask @octocat about #12")
    assert "https://" not in plain("see https://example.org")
    assert ":<!-- -->tada:" in plain("done :tada:")


def test_no_line_ends_a_block_of_code() -> None:
    tokens = PARSER.parse(fenced(["a ``` b", "````", "~~~"]))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == "a ``` b\n````\n~~~\n"


@pytest.mark.parametrize("name", sample_names())
def test_the_first_screenful_answers_which_layer_and_what_to_do(name: str) -> None:
    path = sample_path(name)
    truth = json.loads(path.with_name(f"{path.name.split('.')[0]}.truth.json").read_text())
    analysis = analyse(load(path))
    top = render(analysis, "markdown").decode().splitlines()[:FIRST_SCREENFUL]
    text = "\n".join(top)
    assert f"whichlayer: {truth['side']}" in top[0]
    if not analysis.findings:
        assert "**Findings:** none" in text
        return
    first = analysis.findings[0]
    assert first.layer.text.name.partition(" (")[0] in text
    assert first.rule in text
    assert plain(first.fix) in text
    assert str(first.where) in text


def test_a_hostile_recording_injects_nothing(make_analysis: MakeAnalysis) -> None:
    nasty = "`</details><script>alert(1)</script>|\n# big\n[x](javascript:y) @you"
    analysis = make_analysis()
    analysis = replace(
        analysis,
        kernels=(make_group(short_name=nasty), *analysis.kernels[1:]),
        findings=(
            make_finding(evidence=(nasty,), title=nasty, fix=nasty, where=Where(file=nasty)),
        ),
    )
    report = render(analysis, "markdown").decode()
    tokens = PARSER.parse(report)
    blocks = {token.content.strip() for token in tokens if token.type == "html_block"}
    assert all(block == "</details>" or block.startswith("<details><summary>") for block in blocks)
    spans = [c for token in tokens for c in token.children or () if c.type == "html_inline"]
    assert {span.content for span in spans} <= {"<!-- -->"}
    assert not any(c.type == "link_open" for token in tokens for c in token.children or ())


def test_it_is_a_format_and_ends_with_a_line_break(make_analysis: MakeAnalysis) -> None:
    assert "markdown" in format_names()
    assert render(make_analysis(), "markdown").endswith(b"\n")


def test_a_recording_without_gpu_says_what_it_holds(tmp_path: Path) -> None:
    program = Program()
    program.slice("cpu_op", "aten::add", 0.0, 10.0)
    text = render(analyse(program.trace(tmp_path)), "markdown").decode()
    assert text.startswith("### whichlayer: unclear")
    assert "Layers" not in text
