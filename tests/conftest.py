"""What every test may use: the folder of real recordings, and repeatable random inputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine and in every run: a failure can be looked at again.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that renews golden files."""
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files anew, then compare"
    )


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of real recordings that ``WHICHLAYER_TRACES`` names; skips where it is unset."""
    folder = os.environ.get("WHICHLAYER_TRACES")
    if not folder:
        pytest.skip("WHICHLAYER_TRACES is not set")
    path = Path(folder)
    assert path.is_dir(), f"WHICHLAYER_TRACES names {path}, which is no folder"
    return path
