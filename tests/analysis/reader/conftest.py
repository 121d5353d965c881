"""Reads text as if it stood in a file."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from whichlayer.analysis.reader.framing import Limits
from whichlayer.analysis.reader.read_chrome_json import read_chrome_json
from whichlayer.analysis.reader.source import TraceSource
from whichlayer.analysis.trace.columns import Trace

Read = Callable[..., Trace]

#: Codes of warnings about the file itself, as against what it records.
DAMAGE = frozenset(
    {"damaged", "truncated", "repaired", "too-large", "Q6", "unclosed", "unmatched-end"}
)


def damage(trace: Trace) -> list[str]:
    """What the trace says is wrong with its file."""
    return [warning.code for warning in trace.warnings if warning.code in DAMAGE]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Writes text to a file and reads it, with chunks of any size."""
    folder = tmp_path_factory.mktemp("traces")
    numbers = itertools.count()

    def read_text(text: str | bytes, chunk: int = 1 << 19) -> Trace:
        path = folder / f"{next(numbers) % 8}.json"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        with TraceSource(str(path)) as source:
            return read_chrome_json(source, limits=Limits(chunk, 8 * chunk, 64 * chunk))

    return read_text
