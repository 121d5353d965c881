"""What the region pane tells of a step, and what the header tells of inferred ones."""

from __future__ import annotations

from dataclasses import replace

from tests.tui.screen import screen_of, text_of, view_of
from whichlayer.analysis.steps.model import StepTable
from whichlayer.analysis.trace.columns import StepSource
from whichlayer.tui.describe_place import describe_instant, describe_selection
from whichlayer.tui.document import Document
from whichlayer.tui.ruler import axis_of
from whichlayer.tui.viewport import Viewport

AXIS = axis_of(Viewport.over(0, 3_000_000, 100))


def table_of(document: Document) -> StepTable:
    assert document.analysis is not None
    assert document.analysis.steps is not None
    return document.analysis.steps


def inferred(document: Document) -> Document:
    """The same recording as if nothing marked its steps."""
    assert document.analysis is not None
    steps = table_of(document)
    found = replace(steps.found, source=StepSource.INFERRED, how="what repeats")
    analysis = replace(
        document.analysis,
        steps=replace(steps, found=found),
        trace=replace(document.trace, steps=()),
        window=replace(document.analysis.window, steps=()),
    )
    return replace(document, analysis=analysis, trace=analysis.trace)


def test_a_selected_step_is_compared_with_the_median(document: Document) -> None:
    row = table_of(document).rows[1]
    lines = describe_selection(document, 0, *row.spans[0], AXIS)
    assert lines[1].text.startswith("step 2: ")
    assert "median" in lines[1].text


def test_a_selection_that_is_no_step_tells_of_none(document: Document) -> None:
    start, end = table_of(document).rows[1].spans[0]
    for span in ((start, (start + end) // 2), (start, end + (end - start) // 2)):
        assert not any(
            line.text.startswith("step ") for line in describe_selection(document, 0, *span, AXIS)
        )


def test_the_annotation_of_a_step_tells_of_a_gap_then_of_the_step(document: Document) -> None:
    step = document.trace.steps[0]
    lines = describe_instant(document, 0, step.start_ns, step.row, AXIS)
    assert lines[0].text == "PyTorch / runtime" and lines[1].text.startswith("dataloader-wait")
    assert any(line.text.startswith("step 1: ") for line in lines)


def test_outside_of_gaps_the_annotation_of_a_step_tells_of_the_step(document: Document) -> None:
    step = document.trace.steps[0]
    lines = describe_instant(document, 0, step.start_ns + 400_000, step.row, AXIS)
    assert lines[0].text.startswith("step 1: ")


def test_an_inferred_step_says_so(document: Document) -> None:
    document = inferred(document)
    lines = describe_selection(document, 0, *table_of(document).rows[1].spans[0], AXIS)
    assert any("nothing marks it" in line.text for line in lines)


async def test_keys_go_to_inferred_steps_and_the_header_names_them(document: Document) -> None:
    document = inferred(document)
    assert document.analysis is not None
    async with screen_of(document.trace, document.analysis) as (app, pilot):
        for _ in range(2):
            await pilot.press("greater_than_sign")
            await pilot.pause()
        shown = view_of(app).port
        assert shown.start_ns <= 1_000_000 <= shown.end_ns
        assert shown.end_ns - shown.start_ns < 1_400_000
        assert "inferred steps 1–3" in text_of(app, "header")[0]
