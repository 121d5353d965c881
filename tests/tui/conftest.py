"""The recording of ``recording.py`` at its stages: read, analysed, ready for the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

from tests.tui.idle import wait_for_idle
from tests.tui.recording import build_analysis, build_trace
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis, GapText, Where
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.document import Document, open_document, with_analysis
from whichlayer.tui.screen_settings import screen_settings

_PARSED: dict[object, list[RuleSet]] = {}


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How lanes are left in a test, and what a command line has set, is nobody else's business."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(screen_settings, "theme", "")
    monkeypatch.setattr(screen_settings, "ascii_only", False)


@pytest.fixture
def shown_in_time() -> None:
    """For tests that count pictures or bytes: as many a second as a terminal is sent."""


@pytest.fixture(autouse=True)
def _no_idle_waits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Applications are waited for as long as they have something to do, and draw it at once."""
    monkeypatch.setattr("textual.app.wait_for_idle", wait_for_idle)
    monkeypatch.setattr("textual.pilot.wait_for_idle", wait_for_idle)
    if "shown_in_time" not in request.fixturenames:
        monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 1 / 333)


@pytest.fixture(autouse=True)
def _sheets_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A style sheet in the same colours is parsed by the first application that needs it."""
    parse = Stylesheet._parse_rules

    def parsed(sheet: Stylesheet, *source: Any, **about: Any) -> list[RuleSet]:
        key = (source, *sorted(about.items()), *sorted(sheet._variables.items()))
        if key not in _PARSED:
            _PARSED[key] = parse(sheet, *source, **about)
        return _PARSED[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parsed)


@pytest.fixture
def trace() -> Trace:
    """The recording."""
    return build_trace()


@pytest.fixture
def analysis(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> Analysis:
    """Its analysis; gaps are explained in words that name their rule."""

    def explain(analysis: Analysis, index: int) -> GapText:
        rule = analysis.gaps.rule(index)
        layer = Layer(int(analysis.gaps.layer[index]))
        where = Where(file="train.py", line=42)
        return GapText(rule, layer, f"title of {rule}", f"fix of {rule}", where, ("evidence",))

    monkeypatch.setattr("whichlayer.tui.describe.explain_gap", explain)
    return build_analysis(trace)


@pytest.fixture
def document(trace: Trace, analysis: Analysis) -> Document:
    """The recording with its analysis, ready for the screen."""
    return with_analysis(open_document(trace), analysis)
