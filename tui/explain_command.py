"""``whichlayer explain`` and ``whichlayer devices``: the catalogue as it is shipped."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from whichlayer.analysis.kernels.device_table import DEVICE_ROWS
from whichlayer.analysis.report.device_list import list_devices
from whichlayer.analysis.report.explanations import explain, list_words
from whichlayer.analysis.report.questions import answer
from whichlayer.analysis.report.text_layout import wrap
from whichlayer.tui.arguments import Parser, UsageError
from whichlayer.tui.line_terms import COLUMNS, LABELS, told


def explain_text(arguments: Sequence[str]) -> str:
    """What was asked about, or what can be asked about.

    Raises:
        UsageError: nothing is called so.
    """
    parser = Parser(
        prog="whichlayer explain",
        description="What a rule, a cause, an owner, a gate or a number means.",
    )
    parser.add_argument("words", metavar="WORD", nargs="*", help="none lists what there is")
    typed = parser.parse_args(arguments)
    if not typed.words:
        return list_words()
    for wanted in (typed.words, [" ".join(typed.words)]):
        try:
            return "\n".join(_explained(word) for word in wanted)
        except KeyError as error:
            hint = error.args[0]
    question = " ".join(typed.words)
    if found := _answered(question) if len(question.split()) > 1 else "":
        return found
    raise UsageError(f"nothing is called {' '.join(typed.words)!r}; {hint}")


def _explained(word: str) -> str:
    """A word of the product, or of the screen alone.

    Raises:
        KeyError: it is neither; the message is a hint.
    """
    try:
        return explain(word)
    except KeyError:
        wanted = word.casefold()
        lines = [
            line
            for place, table in (("the region pane", LABELS), *COLUMNS.items())
            for title, words in table.items()
            if title.casefold() == wanted
            for line in wrap(told(words), f"{title} ({place}): ", "  ")
        ]
        if not lines:
            raise
        return "\n".join(lines) + "\n"


def _answered(question: str) -> str:
    """What a question in free words is about; the entries near it where that is not clear."""
    found = answer(question)
    near = ", ".join(found.near)
    if found.word:
        return explain(found.word) + (
            "\n" + "\n".join(wrap(near, "  see also  ")) + "\n" if near else ""
        )
    if not near:
        return ""
    return "\n".join(wrap(f"not clear what is meant; nearest are: {near}", "", "  ")) + "\n"


def devices_text(arguments: Sequence[str]) -> str:
    """The cards whose peaks are known, or those whose name holds some text.

    Raises:
        UsageError: there is no such card.
    """
    parser = Parser(
        prog="whichlayer devices", description="The GPUs whose peaks are known, with sources."
    )
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="only these, in full")
    typed = parser.parse_args(arguments)
    try:
        return list_devices(typed.name)
    except KeyError:
        near = get_close_matches(typed.name, [row.name for row in DEVICE_ROWS], n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else "'whichlayer devices' lists them"
        raise UsageError(f"there is no device {typed.name!r}; {hint}") from None
