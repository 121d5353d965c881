"""Answers from the background: only the last question of a purpose counts."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from tests.tui.recording import GEMM, STEPS
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.find_messages import Answered
from whichlayer.tui.finder import Finder, is_empty, reads_file


class Background:
    """Runs what was started when the test says so, and keeps what was posted."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.posted: list[Message] = []

    def start(self, run: Callable[[], None]) -> None:
        self.waiting.append(run)

    def run(self) -> list[tuple[str, str, int]]:
        for one in self.waiting:
            one()
        self.waiting.clear()
        answers, self.posted = self.posted, []
        return [
            (one.purpose, one.text, -1 if one.hits is None else len(one.hits))
            for one in answers
            if isinstance(one, Answered)
        ]


def test_later_questions_replace_earlier_ones_of_their_purpose(trace: Trace) -> None:
    behind = Background()
    finder = Finder(trace, lambda message: behind.posted.append(message), behind.start)
    for purpose, text in (("a", GEMM), ("b", "aten"), ("a", "mm")):
        finder.ask(purpose, text)
    assert behind.run() == [("b", "aten", 2 * STEPS), ("a", "mm", 2 * STEPS)]


def test_what_nobody_waits_for_is_not_answered(trace: Trace) -> None:
    behind = Background()
    finder = Finder(trace, lambda message: behind.posted.append(message), behind.start)
    finder.ask("a", "mm")
    finder.forget("a")
    assert behind.run() == []
    finder.ask("a", "mm")
    finder.close()
    assert behind.run() == []


def test_what_is_wrong_is_answered_in_words(trace: Trace) -> None:
    behind = Background()
    finder = Finder(trace, lambda message: behind.posted.append(message), behind.start)
    finder.ask("a", "dur>soon")
    behind.waiting.pop()()
    (answer,) = behind.posted
    assert isinstance(answer, Answered)
    assert answer.error.startswith("'soon' is not a time") and answer.hits is None


def test_only_arguments_need_the_file() -> None:
    assert reads_file("kernel: arg:64") and not reads_file("shape:64 argh")
    assert is_empty(" ") and is_empty("dur>") and not is_empty("a") and not is_empty("dur>x")


def test_where_capitals_find_nothing_they_do_not_count(trace: Trace) -> None:
    behind = Background()
    finder = Finder(trace, lambda message: behind.posted.append(message), behind.start)

    def found(text: str) -> tuple[int, bool]:
        finder.ask("a", text)
        behind.waiting.pop()()
        (answer,) = (one for one in behind.posted if isinstance(one, Answered))
        behind.posted.clear()
        assert answer.hits is not None
        return len(answer.hits), answer.any_case

    assert found("aten") == (2 * STEPS, False)
    assert found("ATEN") == (2 * STEPS, True)
    assert found("Memcpy")[1] is False, "found as it is written"
    assert found("ZZZ") == (0, False)
    assert found("/ATEN/") == (0, False), "a regular expression means what it says"
    assert found("ATEN -ATEN") == (2 * STEPS, True), "what must not be there stays as it is"
