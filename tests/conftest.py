"""What every test may use: the folder of real recordings, and repeatable random inputs."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support import sharing_out

# The same examples on every machine and in every run: a failure can be looked at again.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch that renews golden files."""
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files anew, then compare"
    )


def pytest_configure() -> None:
    """Look for cycles less often; let programs under test be interrupted.

    The latter in a run that a shell started to ignore interrupts too. What tests share are
    millions of values that stay, and going through them took 5 to 10 % of a run.
    """
    gc.set_threshold(10_000, 10, 10)
    for name in ("LC_ALL", "LC_CTYPE"):  # the screen draws with ASCII where they name the locale C
        os.environ.pop(name, None)
    os.environ["LANG"] = "C.UTF-8"
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a process of several, begin with what takes longest."""
    if hasattr(config, "workerinput"):
        sharing_out.begin_with_the_longest(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep together what shares something, unless another way to deal tests out is asked for."""
    return sharing_out.scheduler(config, log) if config.option.dist == "load" else None


@pytest.fixture(scope="session", autouse=True)
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder for all tests, subprocesses included: the user's own is never touched.

    Nor are the user's own settings read.
    """
    folder = tmp_path_factory.mktemp("cache-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.delenv("WHICHLAYER_CACHE_SIZE", raising=False)
        yield folder


@pytest.fixture(scope="session", autouse=True)
def _programs_compiled_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where Python is told to keep no compiled modules, it does beside pytest's other files.

    Else every program under test compiles all of whichlayer: a quarter of what a report takes.
    """
    cache = getattr(request.config, "cache", None)
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("PYTHONDONTWRITEBYTECODE") and cache is not None:
            patch.setenv("PYTHONPYCACHEPREFIX", str(cache.mkdir("compiled")))
            patch.delenv("PYTHONDONTWRITEBYTECODE")
        yield


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of real recordings that ``WHICHLAYER_TRACES`` names; skips where it is unset."""
    folder = os.environ.get("WHICHLAYER_TRACES")
    if not folder:
        pytest.skip("WHICHLAYER_TRACES is not set")
    path = Path(folder)
    assert path.is_dir(), f"WHICHLAYER_TRACES names {path}, which is no folder"
    return path
