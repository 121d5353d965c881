"""Stands in for the processes that read blocks of text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from concurrent.futures import Future
from pickle import PickleBuffer
from typing import Any

from whichlayer.analysis.reader.block import Cut, read_block
from whichlayer.analysis.reader.keep import Keep
from whichlayer.analysis.reader.messages import receive, send
from whichlayer.analysis.reader.workers import Answer


class Inline:
    """Workers of this process: they answer at once, through the same messages."""

    ready = True

    def __init__(self, count: int, keep: Keep | None) -> None:
        self.count = count
        self.keep = keep

    def read(self, cuts: Sequence[Cut]) -> Answer:
        answer: Answer = Future()
        block = [(at, PickleBuffer(text)) for at, text in cuts]
        answer.set_result(_sent(read_block(*_sent((block, self.keep)))))
        return answer

    def close(self) -> None:
        """There is nothing to end."""


def _sent(value: object) -> Any:
    pipe = io.BytesIO()
    send(pipe, value)
    pipe.seek(0)
    return receive(pipe)
