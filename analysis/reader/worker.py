"""A process that turns blocks of text into columns for another, until that one ends.

It is started by :mod:`whichlayer.analysis.reader.workers`, reads from its standard input and
answers on its standard output.
"""

from __future__ import annotations

import os
import signal
import sys

from whichlayer.analysis.reader.block import read_block
from whichlayer.analysis.reader.memory import keep_freed_memory, no_garbage_collection
from whichlayer.analysis.reader.messages import receive, send

#: What a worker says first.
READY = b"whichlayer reads\n"


def main() -> None:
    """Answers every block with its columns."""
    # Whoever interrupts means the program, and that ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    keep_freed_memory()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that is printed may get between the answers
    blocks = sys.stdin.buffer
    try:
        answers.write(READY)
        answers.flush()
        with no_garbage_collection():
            while True:
                send(answers, read_block(*receive(blocks)))
    except (EOFError, OSError):
        os._exit(0)  # nobody is left who would want to know more
