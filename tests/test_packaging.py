"""What is installed is what the folders hold, and nothing under a generic name."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SAMPLES = "whichlayer.sample_traces"
SKIPPED = shutil.ignore_patterns(
    ".git", ".venv", "*.egg-info", "build", "dist", "__pycache__", ".*_cache", ".hypothesis"
)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_folder_with_modules_is_listed_as_a_package() -> None:
    listed = set(project()["tool"]["setuptools"]["packages"])
    found = {"whichlayer", SAMPLES}
    for top in ("analysis", "tui"):
        for path in (ROOT / top).rglob("*.py"):
            found.add(".".join(("whichlayer", *path.parent.relative_to(ROOT).parts)))
    assert listed == found


def test_every_package_folder_has_an_init_module() -> None:
    for top in ("analysis", "tui"):
        for path in (ROOT / top).rglob("*.py"):
            assert (path.parent / "__init__.py").is_file(), path.parent


def test_links_for_type_checkers_lead_to_the_folders() -> None:
    for name in ("analysis", "tui"):
        link = ROOT / "whichlayer" / name
        if not link.is_symlink():
            pytest.skip("this checkout was made without symbolic links")
        assert link.resolve() == ROOT / name


def test_test_modules_have_unique_names() -> None:
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_test_dependencies_are_pinned() -> None:
    extras = project()["project"]["optional-dependencies"]
    assert all("==" in requirement for requirement in extras["test"])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=SKIPPED)
    # The backend itself, so that building asks no index for anything.
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", build, str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def wheel(built: Path) -> set[str]:
    """The names in the wheel."""
    return set(zipfile.ZipFile(built).namelist())


def test_wheel_installs_no_generic_name(wheel: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}
    version = project()["project"]["version"]
    assert tops == {"whichlayer", f"whichlayer-{version}.dist-info"}


def test_wheel_holds_every_module(wheel: set[str]) -> None:
    found = {
        f"whichlayer/{path.relative_to(ROOT).as_posix()}"
        for top in ("analysis", "tui")
        for path in (ROOT / top).rglob("*.py")
    }
    # Setuptools takes every module beside the samples, the script that makes them too.
    found |= {f"whichlayer/sample_traces/{path.name}" for path in ROOT.glob("sample_traces/*.py")}
    found |= {f"whichlayer/{path.name}" for path in ROOT.glob("whichlayer/*.py")}
    modules = {name for name in wheel if name.endswith(".py")}
    assert modules == found


def test_wheel_holds_the_files_that_are_read_at_run_time(wheel: set[str]) -> None:
    read = {
        f"whichlayer/{path.relative_to(ROOT).as_posix()}"
        for top, pattern in (("tui", "*.tcss"), ("analysis", "*.schema.json"))
        for path in (ROOT / top).rglob(pattern)
    }
    read |= {f"whichlayer/{p.relative_to(ROOT)}" for p in ROOT.glob("sample_traces/**/*.json.gz")}
    read |= {f"whichlayer/{folder}py.typed" for folder in ("", "analysis/", "tui/")}
    assert "whichlayer/analysis/report/report.schema.json" in read
    data = {name for name in wheel if not name.endswith(".py") and ".dist-info/" not in name}
    assert data == read


def test_samples_of_an_installed_wheel_are_found(built: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(built).extractall(tmp_path)
    code = (
        "from whichlayer.tui import samples; print(samples.FOLDER); print(*samples.sample_names())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    folder, names = done.stdout.splitlines()
    assert Path(folder) == tmp_path.resolve() / "whichlayer" / "sample_traces"
    shipped = (path.name.removesuffix(".json.gz") for path in ROOT.glob("sample_traces/*.json.gz"))
    assert names.split() == sorted(shipped)
