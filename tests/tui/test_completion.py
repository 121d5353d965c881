"""Completion in a real shell, and that it is made of what the commands parse."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from whichlayer.analysis.config.schema import LAYERS
from whichlayer.analysis.config.schema import PRECISIONS as CONFIG_PRECISIONS
from whichlayer.analysis.kernels.device_table import DEVICE_ROWS
from whichlayer.analysis.report import format_names
from whichlayer.analysis.report.rule_list import every_rule, known_ids
from whichlayer.tui import cli
from whichlayer.tui.arguments import PRECISIONS
from whichlayer.tui.completion import CommandShape, describe
from whichlayer.tui.completion_scripts import SHELLS, script
from whichlayer.tui.samples import sample_names

_ASK = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
compopt() {{ :; }}
_whichlayer
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def shapes() -> tuple[CommandShape, ...]:
    return describe({**cli._COMMANDS, "": cli._open})


@pytest.fixture(scope="module")
def bash_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    path = tmp_path_factory.mktemp("completion") / "bash"
    path.write_text(script("bash", shapes()))
    return path


def completed(path: Path, *words: str, folder: Path | None = None) -> list[str]:
    """What bash offers for the last of some words."""
    typed = " ".join(shlex.quote(word) for word in ("whichlayer", *words))
    code = _ASK.format(script=shlex.quote(str(path)), words=typed)
    done = subprocess.run(
        ["bash", "--norc", "-c", code], capture_output=True, text=True, check=True, cwd=folder
    )
    assert not done.stderr
    return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []


def test_the_first_word_is_a_command_or_a_file(bash_script: Path, tmp_path: Path) -> None:
    (tmp_path / "re cord.json").write_text("")
    assert completed(bash_script, "re", folder=tmp_path) == ["report", "re cord.json"]
    assert set(cli._COMMANDS) <= set(completed(bash_script, "", folder=tmp_path))
    assert "--steps" in completed(bash_script, "--", folder=tmp_path)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("report", "--format", ""), set(format_names())),
        (("report", "--format", "js"), {"json"}),
        (("report", "--format", "=", "js"), {"json"}),
        (("report", "--max-si"), {"--max-size"}),
        (("rules", "host"), {"host-sync"}),
        (("rules", "allocator", ""), set(known_ids())),
        (("demo", ""), set(sample_names())),
        (("completion", ""), set(SHELLS)),
        (("cache", ""), {"clear"}),
        (("check", "--max-layer", ""), {f"{layer}=" for layer in LAYERS}),
        (("check", "--no-finding", ""), {*every_rule(), "any"}),
        (("x.json", "--peak-flops", "bf"), {"bf16="}),
        (("x.json", "--device-model", "V100S"), {"V100S\\ PCIe"}),
        (("report", "--steps", ""), set()),
    ],
)
def test_bash_offers_what_may_stand_there(
    bash_script: Path, tmp_path: Path, words: tuple[str, ...], offered: set[str]
) -> None:
    assert set(completed(bash_script, *words, folder=tmp_path)) == offered


def test_every_device_can_be_completed_whatever_its_name_holds(bash_script: Path) -> None:
    offered = completed(bash_script, "devices", "")
    assert [shlex.split(one)[0] for one in offered] == [row.name for row in DEVICE_ROWS]


def test_files_are_offered_where_a_file_is_meant(bash_script: Path, tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text("")
    for words in (("report", "tr"), ("report", "x", "-o", "tr"), ("x", "--config", "tr")):
        assert completed(bash_script, *words, folder=tmp_path) == ["trace.json"]


def test_every_option_of_every_command_is_in_every_script() -> None:
    made = {shell: script(shell, shapes()) for shell in SHELLS}
    for shape in shapes():
        assert shape.options, shape.word
        for name in (name for one in shape.options for name in one.options):
            assert name in made["bash"] and name in made["zsh"]
            assert f"-{name.removeprefix('-')}" in made["zsh"]
            assert (f"-l {name[2:]} " if name.startswith("--") else f"-s {name[1:]} ") in made[
                "fish"
            ]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_scripts_of_other_shells_are_sound_where_these_are_there(
    shell: str, tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    (tmp_path / "script").write_text(script(shell, shapes()))
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "csh"]) == 2
    assert "'csh'" in capsys.readouterr().err


def test_the_command_writes_the_script(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "bash"]) == 0
    assert capfd.readouterr().out == script("bash", shapes())


def test_precisions_are_those_of_the_command_line() -> None:
    assert PRECISIONS == CONFIG_PRECISIONS
