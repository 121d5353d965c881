"""A report on a part of a step says what is of the part and what of the whole step."""

from __future__ import annotations

from tests.tui.recording import build_trace
from whichlayer.analysis import analyse
from whichlayer.analysis.report.text_launches import launch_lines
from whichlayer.analysis.report.text_steps import step_lines
from whichlayer.analysis.results import Options

NOTE = "times are of that part, kernels of all"


def test_a_part_of_a_step_is_told_apart_from_the_step() -> None:
    analysis = analyse(build_trace(), Options(span_ns=(100_000, 700_000)))
    assert NOTE in " ".join(step_lines(analysis))
    assert "/step" not in "\n".join(launch_lines(analysis))


def test_whole_steps_need_no_such_words() -> None:
    analysis = analyse(build_trace(), Options())
    assert NOTE not in " ".join(step_lines(analysis))
    assert "/step" in "\n".join(launch_lines(analysis))
