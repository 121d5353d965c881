"""What the documents say is so."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path

from whichlayer.analysis.layers import LAYER_TEXTS
from whichlayer.analysis.report.advice import RECORDING_SNIPPET

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_test_command_of_the_readme_word_for_word() -> None:
    (command,) = (line for line in README.splitlines() if line.endswith("pytest -n 2"))
    assert f"\n{command} || exit 1\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_readme_has_the_layers_of_the_product() -> None:
    for text in LAYER_TEXTS.values():
        assert f"| {text.letter} | {text.name} | {text.owns} | {text.fixed_in} |\n" in README


def test_readme_has_the_keys_of_the_product() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "make_key_table.py"))
    assert script["with_table"](README) == README, "run python docs/make_key_table.py"


def test_readme_and_report_say_the_same_of_how_to_record() -> None:
    snippet = "\n".join(RECORDING_SNIPPET)
    compile(snippet, "snippet", "exec")
    assert snippet in README


def test_the_reference_is_written_from_the_code() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))
    for name in ("rules", "devices"):
        written = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert script[f"{name}_page"]() == written, "run python docs/make_reference.py"


def test_paths_in_the_documents_exist() -> None:
    for document in (ROOT / "README.md", ROOT / "docs" / "architecture.md"):
        text = document.read_text(encoding="utf-8")
        paths = re.findall(r"`((?:analysis|tui|tests|docs|sample_traces)/[\w./]*)`", text)
        assert len(paths) > 2
        for path in paths:
            assert (ROOT / path).exists(), f"{document.name}: {path}"


def test_the_page_for_python_is_so() -> None:
    failed, tried = doctest.testfile(
        str(ROOT / "docs" / "python.md"), module_relative=False, optionflags=doctest.REPORT_NDIFF
    )
    assert failed == 0 and tried > 20


def test_architecture_is_one_page() -> None:
    lines = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
