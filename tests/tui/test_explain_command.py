"""``whichlayer explain`` and ``whichlayer devices``: every word of the product has a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.kernels.device_table import DEVICE_ROWS
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.explanations import explain, list_words, words
from whichlayer.analysis.report.glossary import TERMS
from whichlayer.analysis.report.rule_list import every_rule, known_ids
from whichlayer.analysis.report.units import NOT_NEEDED, UNKNOWN
from whichlayer.tui import cli
from whichlayer.tui.arguments import UsageError
from whichlayer.tui.explain_command import devices_text, explain_text
from whichlayer.tui.line_terms import COLUMNS, LABELS
from whichlayer.tui.widgets import verdict_line

WIDTH = 100


@pytest.mark.parametrize("word", words())
def test_every_word_is_explained_in_lines_that_fit(word: str) -> None:
    text = explain(word)
    assert len(text) > 40
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    assert explain(word.upper()) == text


def test_no_word_stands_for_two_things() -> None:
    everything = [word.casefold() for word in words()]
    assert len(everything) == len(set(everything))


def test_every_rule_gate_owner_and_term_is_listed() -> None:
    text = " ".join(list_words().split())
    for word in (*known_ids(), *(layer.id for layer in Layer), *(term.word for term in TERMS)):
        assert word in text


def test_an_owner_tells_its_rules_and_where_they_are_fixed() -> None:
    text = explain("boundary")
    mine = [rule.id for rule, _ in every_rule().values() if rule.layer is Layer.BOUNDARY]
    assert mine and all(f"{rule}:" in text for rule in mine)
    assert "host-sync" not in text
    assert explain("PyTorch ↔ CUDA boundary") == explain("B") == text


def test_words_apart_are_one_term_or_several() -> None:
    assert explain_text(["queue", "depth"]) == explain("queue depth")
    assert explain_text(["edge", "roof"]) == explain("edge") + "\n" + explain("roof")


@pytest.mark.parametrize(
    ("typed", "hint"), [("recovrable", "did you mean recoverable?"), ("xyzzy", "lists the words")]
)
def test_what_is_not_known_is_one_line(
    typed: str, hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["explain", typed]) == cli.WRONG_INPUT
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1 and hint in err


@given(st.text(max_size=30))
def test_no_word_breaks_it(word: str) -> None:
    try:
        assert explain_text(["--", word])
    except UsageError as error:
        assert "nothing is called" in str(error)


def test_every_card_is_listed_and_unconfirmed_figures_are_marked() -> None:
    lines = devices_text([]).splitlines()
    for row in DEVICE_ROWS:
        (line,) = [line for line in lines if line.partition("  ")[0] == row.name]
        bandwidth = f" {row.bandwidth:g}" + ("" if row.confirmed("bandwidth") else "?")
        assert bandwidth in line
    assert max(map(len, lines)) <= WIDTH


def test_a_card_in_full_tells_its_sources(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["devices", "h200 sxm"]) == cli.FINE
    out, _ = capfd.readouterr()
    assert "132 SMs" in out and "sources" in out and "T4" not in out


def test_an_unknown_card_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["devices", "H100 SXM6"]) == cli.WRONG_INPUT
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1 and "did you mean" in err


def test_the_question_of_a_user_is_answered_in_full(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "what is this 2 ms between launch and kernel?"]) == 0
    out, _ = capfd.readouterr()
    assert out.startswith("launch delay:")
    assert "waited its turn" in out and "module-load" in out and "stream-wait" in out


def test_an_unclear_question_names_what_is_near(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "who", "owns", "this", "gap"]) == 0
    assert "nearest are: gap" in capfd.readouterr()[0]


def words_of_the_screen() -> set[str]:
    """Headings of tables, labels, marks in cells, owners as they are written, rows, verdicts."""
    found = set(LABELS).union(*COLUMNS.values()) | {"by", "part", "note", "comm", "copy"}
    found |= {NOT_NEEDED, UNKNOWN, "nobody", "no owner", "at the roof", "launch spacing"}
    found |= {layer.text.letter for layer in Layer} | {layer.text.name for layer in Layer}
    found |= {side.lower().replace("cuda", "CUDA") for side in verdict_line._SIDES.values()}
    return found | {"too short", "unjudged kernels"}


@pytest.mark.parametrize("word", sorted(words_of_the_screen()))
def test_every_word_that_the_screen_shows_is_explained(word: str) -> None:
    tried = (word, word.replace(" ", "-"))
    assert any(_is_explained(one) for one in tried), word


def _is_explained(word: str) -> bool:
    try:
        return len(explain_text(["--", word])) > 20
    except UsageError:
        return False
