"""A trace is the same to the last number, however its text was cut, shared out and decoded."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.support.whole_trace import everything
from whichlayer.analysis.reader.cores import Cores
from whichlayer.analysis.reader.framing import Limits
from whichlayer.analysis.reader.kineto_text import KinetoText
from whichlayer.analysis.reader.read_chrome_json import read_chrome_json
from whichlayer.analysis.reader.source import TraceSource

SMALL = Limits(1 << 15, 1 << 19, 1 << 22)
ALONE = Cores(1)
SHARED = Cores(2, block=1 << 16, sample=0, least=0)

#: More than may be new before text counts as such that hardly recurs.
EVENTS = 6500

_EVENT = """  {{
    "ph": "X", "cat": "{cat}", "name": "{name}", "pid": 1, "tid": {tid},
    "ts": {ts}, "dur": {dur},
    "args": {{
      {arguments}
    }}
  }}"""
_BARE = (
    '  {{"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 1, "tid": 0, "ts": {ts}, "dur": 3}}'
)


def read(path: Path, limits: Limits = SMALL, cores: Cores = ALONE) -> dict[str, Any]:
    with TraceSource(str(path)) as source:
        return everything(read_chrome_json(source, None, limits, cores), with_arguments=False)


def decoded(path: Path, limits: Limits = SMALL) -> dict[str, Any]:
    """The trace as it is read where every event is decoded."""
    with patch.object(KinetoText, "read", lambda self, text: None):
        return read(path, limits)


@pytest.fixture(scope="module", params=["recurs", "hardly recurs"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of several layouts in which names and arguments recur, or hardly any do."""
    distinct = 9 if request.param == "recurs" else EVENTS
    events = []
    for n in range(EVENTS):
        if n % 5 == 1:  # the same times as the one before, and not laid out as usual
            events.append(_BARE.format(name=f"bare {n % distinct}", ts=10 * (n - 1)))
            continue
        kernel = n % 5 == 2
        said = f'"External id": {n}, "Input Dims": [[{n % distinct}]], "Ev Idx": {n}'
        if kernel:
            said = f'"device": 0, "stream": {n % 3}, "correlation": {n}, "grid": [{n % 50}, 1, 1]'
        elif n % 7 == 3:
            said = f'"Input Dims": [[{n % 40}, 7]], "External id": {n}'
        events.append(
            _EVENT.format(
                cat="kernel" if kernel else ("cpu_op", "cuda_runtime")[n % 2],
                name=f"op {n % distinct}",
                tid=n % 3 if kernel else 0,
                ts=10 * n,
                dur=3,
                arguments=said,
            )
        )
    path = tmp_path_factory.mktemp("numbers") / "trace.json"
    path.write_text('{\n  "traceEvents": [\n' + ",\n".join(events) + "\n  ]\n}\n")
    return path


def test_reading_by_line_is_decoding_every_event(path: Path) -> None:
    assert read(path) == decoded(path)


def test_the_size_of_chunks_is_not_seen(path: Path) -> None:
    assert read(path, Limits(1 << 13, 1 << 19, 1 << 22)) == read(path, Limits())


def test_what_other_processes_have_read_before_is_not_seen(path: Path) -> None:
    assert read(path, cores=SHARED) == decoded(path)


@pytest.mark.parametrize(
    "name", ["pt_a100pcie_particle.json", "tl_h100_bert.json.gz", "hta_a100_simple_add.json.gz"]
)
def test_recordings_are_read_by_line_as_decoded(name: str, traces: Path) -> None:
    assert read(traces / name) == decoded(traces / name, Limits())
