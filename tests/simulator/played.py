"""Simulated cases, each run, recorded and analysed once in a session whichever tests ask for it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tests.simulator.cases import Case
from tests.simulator.engine import Run
from tests.simulator.recording import write
from tests.simulator.truth import Truth, find_truth
from whichlayer.analysis import Analysis, analyse, load


@dataclass(frozen=True, slots=True)
class Played:
    """One case.

    Attributes:
        run: without what its host did, which takes most of the memory.
        origin: the run's time of the recording's zero.
    """

    run: Run
    truth: Truth
    origin: int
    analysis: Analysis


@cache
def played(case: Case) -> Played:
    """What happened, what is true and what was said; ``played.cache_clear()`` lets all go."""
    run, truth = find_truth(case.program(), case.recording)
    path = Path(_folder().name, f"{len(list(Path(_folder().name).iterdir()))}.pt.trace.json")
    origin = write(run, case.recording, path, case.seed)
    return Played(replace(run, slices=[], host=[]), truth, origin, analyse(load(path)))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """A file each, for an analysis may read its own again; all go with the process."""
    return tempfile.TemporaryDirectory(prefix="simulated-")
