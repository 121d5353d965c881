"""What the labels of the region pane and the columns of tables mean, each in a sentence or two.

Where a word of the glossary says it, that word's text is used: there is one text for each thing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from whichlayer.analysis.report.glossary import find_term
from whichlayer.tui.line import Line

#: By the label of a line: words of the glossary, else what it says.
LABELS: Final[dict[str, tuple[str, ...]]] = {
    "args": ("Arguments of the event as recorded, cut to fit.",),
    "best": (
        (
            "The bandwidth that a copy of this many bytes can reach on this card: short ones do not "
            "fill it. The share is of the data sheet's."
        ),
    ),
    "bound": (
        (
            "What limits the kernel at best: memory (its bytes take longer than its flops), compute, "
            "or latency (both take less than a launch)."
        ),
    ),
    "cache": ("What it reads is no larger than the card's last cache, and may lie there already.",),
    "chain": (
        (
            "From the GPU work over its launch, operator and module to the Python line; backspace goes "
            "up, \\ down."
        ),
    ),
    "clock": ("The instant under the cursor on the wall clock of the machine that recorded.",),
    "drift": (
        (
            "Mean length of its calls in the later half of the steps over that in the earlier half: "
            "above 1 they became slower."
        ),
    ),
    "fix": ("What to change; the line below says where.",),
    "group": ("Calls of the same kernel with the same shapes in the analysed window.",),
    "inside": ("What lies around it on its thread, from the inside out.",),
    "launch": ("launch delay", "launch latency"),
    "lost": ("time lost",),
    "name": ("The full name as recorded.",),
    "next": ("What to record or run to know what this recording does not tell.",),
    "note": ("A reservation about the figures above it.",),
    "occ": ("occupancy", "waves"),
    "of": ("Whose it is: a GPU, or a process.",),
    "op": ("The operator that launched it, with the shapes of its inputs.",),
    "queue": ("queue depth",),
    "range": ("The least and the greatest value in the recording, and how many there are.",),
    "rate": (
        (
            "Bytes and flops of its operator's shapes, the least that it has to move and compute, over "
            "the time it took."
        ),
        "roof",
    ),
    "rule": ("The rule or check that says so: whichlayer rules lists them.",),
    "starts": ("GPU work that the call launched, with its delay.",),
    "value": (
        (
            "What the counter holds at the cursor, since when and until when: it keeps a value until "
            "the next sample."
        ),
    ),
    "where": ("The line of your code, the module and the operator, as far as recorded.",),
    "why": ("What in the recording shows it, with the figures that the rule looks at.",),
}

#: By the heading of a column, for each table.
COLUMNS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "kernels": {
        "time": ("All calls of the row in the window or the selection, together.",),
        "share": ("Of the time of all kernels there.",),
        "calls": ("How many there are.",),
        "GB/s": ("bytes",),
        "%roof": ("roof",),
        "a call": ("The time of a call on the average.",),
        "lost": ("lost",),
        "TF/s": ("TFLOP/s",),
        "by": ("by",),
    },
    "findings": {
        "lost": ("time lost",),
        "share": ("Of the window times its GPUs.",),
        "recoverable": ("recoverable",),
    },
    "gaps": {
        "%": (
            "The share of the row spent in gaps; of a stream, the share in which it ran nothing.",
        ),
    },
}


def told(words: Iterable[str]) -> str:
    """Words of the glossary in full, and what is no such word as it is."""
    texts = []
    for word in words:
        term = find_term(word)
        texts.append(word if term is None else term.means)
    return " ".join(texts)


def told_lines(lines: Iterable[Line]) -> list[tuple[str, str, str]]:
    """(label, what stands there, what that means) of each labelled line, once for each label."""
    found: dict[str, tuple[str, str, str]] = {}
    for line in lines:
        label = line.label.strip()
        if label in LABELS and label not in found:
            found[label] = (label, line.text, told(LABELS[label]))
    return list(found.values())
