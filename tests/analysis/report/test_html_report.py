"""The HTML report: whole, small, without scripts or network, and safe whatever names hold."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.report.conftest import make_finding
from tests.support.program import Program
from tests.support.recordings import analysed
from whichlayer.analysis import analyse
from whichlayer.analysis.report import format_names, render
from whichlayer.analysis.report.html_bins import LEVELS, level_of, shapes
from whichlayer.analysis.report.html_timeline import _round_step
from whichlayer.analysis.results import Where
from whichlayer.tui.samples import sample_names, sample_path

_VOID = frozenset({"meta", "br"})
_MOST_BYTES = 300_000


class Page(HTMLParser):
    """The elements of a page; fails where they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append((self.open[-1] if self.open else "", data))

    def shown(self) -> str:
        """What is read without opening anything, up to the timeline."""
        text = " ".join(word for tag, word in self.words if tag not in ("style", "title"))
        return text.partition("Timeline")[0]


@pytest.mark.parametrize("name", sample_names())
def test_the_first_screenful_answers_which_layer_and_what_to_do(name: str) -> None:
    path = sample_path(name)
    truth = json.loads(path.with_name(f"{path.name.split('.')[0]}.truth.json").read_text())
    analysis = analysed(path)
    page = Page(render(analysis, "html").decode())
    text = page.shown()
    assert truth["side"] in text
    if not analysis.findings:
        assert "Findings: none" in text
        return
    first = analysis.findings[0]
    before_the_second = text.partition("2. [")[0]
    for part in (first.layer.text.name, first.rule, first.fix, str(first.where)):
        assert part in before_the_second
    assert first.layer.id == truth["layer"]
    assert first.rule == truth["rule"]


@pytest.mark.parametrize("name", sample_names())
def test_a_page_loads_and_runs_nothing_and_is_small(name: str) -> None:
    written = render(analysed(sample_path(name)), "html")
    page = Page(written.decode())
    assert len(written) < _MOST_BYTES
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "form", "a"}
    attributes = {key for _, attrs in page.elements for key in attrs}
    assert not attributes & {"src", "href"}
    assert not any(key.startswith("on") for key in attributes)
    policies = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert policies and (policies[0] or "").startswith("default-src 'none'")
    assert b"url(" not in written and b"@import" not in written


def test_a_hostile_recording_injects_nothing() -> None:
    nasty = "</pre></style><script>alert(1)</script>\" onload='x' <img src=x>\x1b[31m&amp;"
    analysis = analysed(sample_path("dataloader_bound"))
    plain = Page(render(analysis, "html").decode())
    analysis = replace(
        analysis,
        trace=replace(analysis.trace, path=f"/tmp/{nasty}"),
        kernels=(
            replace(analysis.kernels[0], short_name=nasty, name=nasty),
            *analysis.kernels[1:],
        ),
        findings=(
            make_finding(evidence=(nasty,), title=nasty, fix=nasty, where=Where(file=nasty)),
        ),
    )
    written = render(analysis, "html").decode()
    page = Page(written)
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements}
    assert {k for _, a in page.elements for k in a} <= {k for _, a in plain.elements for k in a}
    assert "\x1b" not in written
    assert escape("<script>") in written


def test_a_recording_without_gpu_says_what_it_holds(tmp_path: Path) -> None:
    program = Program()
    program.slice("cpu_op", "aten::add", 0.0, 10.0)
    page = Page(render(analyse(program.trace(tmp_path)), "html").decode())
    assert "unclear" in page.shown()
    assert not any(tag == "svg" for tag, _ in page.elements)


def test_a_page_of_many_steps_and_streams_stays_small(tmp_path: Path) -> None:
    program = Program()
    for number in range(400):
        program.step(number, 100.0 * number, 95.0)
        for stream in range(30):
            at = 100.0 * number + 3.0 * stream
            program.kernel(f"k{stream}", at, 2.0, (at, 1.0), stream=stream)
    analysis = analyse(program.trace(tmp_path))
    written = render(analysis, "html")
    assert len(written) < _MOST_BYTES
    page = Page(written.decode())
    text = "".join(word for _, word in page.words)
    assert "40 of 400 steps" in text
    assert "18 streams with less time left out" in text


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), max_size=60),
)
def test_every_cell_that_holds_something_is_drawn_once(cells: list[tuple[int, float]]) -> None:
    colour = np.array([hue for hue, _ in cells], np.uint8)
    share = np.array([share for _, share in cells], np.float64)
    level = level_of(share)
    assert ((level > 0) == (share > 0)).all() and (level <= LEVELS).all()
    drawn = np.zeros(len(cells), np.int64)
    text = shapes(colour, level, {hue: f"c{hue}" for hue in range(4)})
    for path in text.split("<path ")[1:]:
        hue = int(path.partition('class="c')[2][0])
        for part in path.partition(' d="')[2].partition('"')[0].split("M")[1:]:
            start, width = (int(x) for x in part.partition("v")[0].replace(" 0h", " ").split())
            drawn[start : start + width] += 1
            assert (colour[start : start + width] == hue).all()
    assert (drawn == (level > 0)).all()


@given(st.integers(1, 10**18))
def test_ticks_are_few_and_round(length: int) -> None:
    step = _round_step(length)
    assert length // step < 6
    assert str(step).rstrip("0") in ("1", "2", "5")


def test_a_real_recording_is_drawn_whole(traces: Path) -> None:
    analysis = analysed(traces / "hta_a100_dlrm_8rank_r3.json.gz")
    written = render(analysis, "html")
    page = Page(written.decode())
    assert len(written) < _MOST_BYTES
    rows = [a for tag, a in page.elements if tag == "div" and "row" in (a.get("class") or "")]
    assert len(rows) == 1 + 1 + 1 + 4 + len(analysis.window.steps)


def test_it_is_a_format() -> None:
    assert "html" in format_names()
