"""Rules and operator models of other installed packages are found, and broken ones are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_traces" / "memory_bound_slow.json.gz"

RULE = '''
"""Every addition is blamed, and its time is told."""
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Rule

RULE = Rule("house-rule", Layer.CUDA, "additions", "add less", {"bandwidth": 0.5}, "our house")
RANK = 1


def applies(measured, settings):
    return measured.operator == "aten::add" and measured.busy_share < settings["bandwidth"]


def reason(measured):
    return "an addition"
'''
HINT = '''
"""Something about the whole recording."""
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.rule import Hint, Rule

RULE = Rule("house-hint", Layer.PYTORCH, "a recording", "look at it")


def find(analysis):
    return Hint(("it has rows",), (0,))
'''
FAILS = HINT.replace("house-hint", "house-breaks").replace(
    'return Hint(("it has rows",), (0,))', "raise RuntimeError('out\\x1b[31m of paper')"
)
LIES = HINT.replace("house-hint", "house-lies").replace("(0,)", "(10**9,)")
CLASHES = HINT.replace("house-hint", "host-sync")
MODEL = """
from whichlayer.analysis.kernels.work import Work, operator


@operator("house::mix")
def mix(call):
    return Work(bytes=3 * call.need(0).bytes, category="pointwise")


@operator("house::torn")
def torn(call):
    raise KeyError("no")
"""


def run(folder: Path, modules: dict[str, str], entries: str, code: str) -> dict[str, Any]:
    """What some code prints as JSON, with a package of these modules installed beside ours."""
    package = folder / "house"
    package.mkdir()
    for name, text in {"__init__": "", **modules}.items():
        (package / f"{name}.py").write_text(text)
    info = folder / "house-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entries)
    paths = [str(folder), *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else [])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


ANALYSE = f"""
import json
from whichlayer.analysis import analyse, load
found = analyse(load({str(SAMPLE)!r}, cache=False))
print(json.dumps({{
    "rules": [one.rule for one in found.findings],
    "warnings": [one.message for one in found.warnings if one.code == "plugin"],
    "why": [one.why for one in found.kernels if one.rule == "house-rule"],
}}))
"""


def test_rules_of_an_installed_package_find_what_they_describe(tmp_path: Path) -> None:
    entries = "[whichlayer.rules]\nrule = house.rule\nhint = house.hint\n"
    found = run(tmp_path, {"rule": RULE, "hint": HINT}, entries, ANALYSE)
    assert {"house-rule", "house-hint"} <= set(found["rules"]) and found["warnings"] == []
    assert found["why"][0].startswith("an addition; ")


def test_a_package_of_rules_may_be_named_as_a_whole(tmp_path: Path) -> None:
    entries = "[whichlayer.rules]\nall = house\n"
    found = run(tmp_path, {"rule": RULE, "hint": HINT}, entries, ANALYSE)
    assert {"house-rule", "house-hint"} <= set(found["rules"])


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        (FAILS, "house.hint", "RuntimeError: out"),
        (LIES, "house.hint", "rows are not in the trace"),
        (CLASHES, "house.hint", "there is a rule 'host-sync' already"),
        ("1 / 0", "house.hint", "ZeroDivisionError"),
        ("import no_such_module", "house.hint", "No module named"),
        ("RULE = 3", "house.hint", "RULE is no rule"),
        ("", "house.hint", "there is no RULE in it"),
        ("RULE = 3", "house.hint:RULE", "names no module"),
        (HINT, "house.missing", "No module named"),
    ],
)
def test_a_broken_rule_is_told_and_the_others_are_as_they_were(
    tmp_path: Path, text: str, target: str, said: str
) -> None:
    entries = f"[whichlayer.rules]\na = {target}\nb = house.rule\n"
    found = run(tmp_path, {"hint": text, "rule": RULE}, entries, ANALYSE)
    (warning,) = found["warnings"]
    assert said in warning and "is left out" in warning and "\x1b" not in warning
    assert "house-rule" in found["rules"] and "memory-bound-slow" in found["rules"]


def test_operator_models_of_an_installed_package_are_used(tmp_path: Path) -> None:
    code = """
import json
from whichlayer.analysis.kernels.work import OpCall, work_of
from whichlayer.analysis.plugins import plugin_warnings
told = {"Input Dims": [[1024]], "Input type": ["float"], "Input Strides": [[1]]}
mix, torn = (work_of(OpCall.from_detail(name, told)) for name in ("house::mix", "house::torn"))
print(json.dumps({"bytes": mix.bytes, "torn": torn.reason,
                  "warnings": [one.message for one in plugin_warnings()]}))
"""
    entries = "[whichlayer.operator_models]\nmix = house.model\nbad = house.bad\n"
    found = run(tmp_path, {"model": MODEL, "bad": "1 / 0"}, entries, code)
    assert found["bytes"] == 3 * 4096
    assert found["torn"] == "its model failed (KeyError)"
    assert len(found["warnings"]) == 2 and "ZeroDivisionError" in " ".join(found["warnings"])


def test_nobody_looks_for_plugins_before_there_is_something_to_analyse(tmp_path: Path) -> None:
    code = """
import json, sys
import whichlayer.analysis, whichlayer.analysis.rule, whichlayer.tui.cli
early = "house" in sys.modules or "importlib.metadata" in sys.modules
print(json.dumps({"early": early}))
"""
    entries = "[whichlayer.rules]\nrule = house.rule\n"
    assert run(tmp_path, {"rule": RULE}, entries, code) == {"early": False}


def test_without_plugins_the_look_up_imports_no_metadata() -> None:
    code = """
import sys
from whichlayer.analysis.plugins import plugin_rules, plugin_warnings
assert plugin_rules() == () and plugin_warnings() == ()
assert "importlib.metadata" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
