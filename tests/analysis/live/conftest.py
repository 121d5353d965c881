"""Each test has sockets and temporary files of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short path: a socket's may have about a hundred bytes."""
    with tempfile.TemporaryDirectory(prefix="wl") as folder:
        Path(folder, "run").mkdir(mode=0o700)
        Path(folder, "tmp").mkdir()
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(Path(folder, "run")))
        monkeypatch.setenv("TMPDIR", str(Path(folder, "tmp")))
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(folder)
    tempfile.tempdir = None
