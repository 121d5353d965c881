"""Arrows never point back: the analysis knows no screen, and nothing imports torch."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SCREEN = {"rich", "textual"}


def modules_of(top: str) -> list[Path]:
    found = sorted((ROOT / top).rglob("*.py"))
    assert found
    return found


def imported_names(path: Path) -> Iterator[str]:
    """Every name imported anywhere in a module, in functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter holds after running this code."""
    probe = f"{code}\nimport sys\nprint('\\n' + '\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize("path", modules_of("analysis"), ids=lambda path: path.stem)
def test_analysis_module_imports_no_screen(path: Path) -> None:
    for name in imported_names(path):
        assert name.split(".")[0] not in SCREEN
        assert not name.startswith("whichlayer.tui")


@pytest.mark.parametrize("path", modules_of("analysis") + modules_of("tui"), ids=lambda p: p.stem)
def test_module_imports_no_torch_and_no_generic_name(path: Path) -> None:
    tops = {name.split(".")[0] for name in imported_names(path)}
    assert tops.isdisjoint({"torch", "analysis", "tui"})


def test_importing_all_of_the_analysis_loads_no_screen() -> None:
    names = [
        ".".join(("whichlayer", *path.relative_to(ROOT).with_suffix("").parts))
        for path in modules_of("analysis")
    ]
    code = "\n".join(f"import {name.removesuffix('.__init__')}" for name in names)
    loaded = loaded_by(code)
    assert "whichlayer.analysis.results" in loaded
    assert not {name for name in loaded if name.split(".")[0] in SCREEN | {"torch"}}
    assert not {name for name in loaded if name.startswith("whichlayer.tui")}
    assert loaded.isdisjoint({"analysis", "tui"})


def test_the_help_loads_nothing_heavy() -> None:
    code = "from whichlayer.tui.cli import main\nmain(['--help'])"
    tops = {name.split(".")[0] for name in loaded_by(code)}
    assert tops.isdisjoint(SCREEN | {"numpy", "msgspec", "orjson", "torch"})


def test_the_first_picture_waits_for_nothing_heavy() -> None:
    """What it needs is imported before it is drawn; NumPy alone would take half of its time."""
    sample = ROOT / "sample_traces" / "healthy.json.gz"
    typed = f"from whichlayer.tui.cli import main\nassert main([{str(sample)!r}]) == 2"
    loaded = loaded_by(f"{typed}\nimport whichlayer.tui.app")
    assert "whichlayer.tui.widgets.header" in loaded
    assert loaded.isdisjoint({"numpy", "msgspec", "whichlayer.tui.panes", "whichlayer.tui.travel"})


def test_a_trace_that_was_never_opened_costs_the_first_picture_nothing_heavy() -> None:
    sample = ROOT / "sample_traces" / "healthy.json.gz"
    begin = f"from whichlayer.tui.ahead import Ahead\nahead = Ahead({str(sample)!r})\nahead.start()"
    loaded = loaded_by(f"{begin}\nassert ahead.trace() is None")
    assert "whichlayer.analysis.cache.presence" in loaded
    assert {name.split(".")[0] for name in loaded}.isdisjoint(SCREEN | {"numpy", "msgspec"})


def test_what_is_opened_ahead_imports_nothing_that_the_screen_imports_meanwhile() -> None:
    """Two threads in one circle of imports see half a module."""
    loaded = loaded_by("import whichlayer.tui.ahead, whichlayer.analysis.cache.reuse")
    assert {name.split(".")[0] for name in loaded}.isdisjoint(SCREEN)
    assert {name for name in loaded if name.startswith("whichlayer.tui.")} == {
        "whichlayer.tui.ahead",
        "whichlayer.tui.two_threads",
    }


def test_the_first_timeline_waits_for_no_part_of_the_analysis() -> None:
    """What says something only once there is a verdict takes as long to import as all else."""
    loaded = loaded_by("import whichlayer.tui.panes, whichlayer.tui.describe_place")
    assert "whichlayer.tui.document" in loaded
    late = {
        name for name in loaded if re.match(r"whichlayer\.analysis\.(gaps|replay|results)", name)
    }
    assert late | (loaded & {"zipfile", "whichlayer.tui.describe", "whichlayer.tui.heat"}) == set()


def test_a_report_loads_no_screen_and_no_torch(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text('{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1}]}')
    for format_name in ("text", "json"):
        arguments = ["report", str(trace), "--format", format_name]
        loaded = loaded_by(f"from whichlayer.tui.cli import main\nassert main({arguments!r}) == 0")
        assert "whichlayer.analysis.report" in loaded
        assert not {name for name in loaded if name.split(".")[0] in SCREEN | {"torch"}}
