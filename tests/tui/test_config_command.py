"""Settings on the command line: what applies, what is printed, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from whichlayer.tui import cli
from whichlayer.tui.samples import sample_path

SYNC = str(sample_path("host-sync"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's file of settings; the current folder is below it, the user's is empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    below = tmp_path / "project" / "runs"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return tmp_path / "project" / ".whichlayer.toml"


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capfd.readouterr()
    status = cli.main(list(arguments))
    out, err = capfd.readouterr()
    return status, out, err


def findings(capfd: pytest.CaptureFixture[str], *options: str) -> list[str]:
    report = ("report", SYNC, "--format", "json", "--no-cache", *options)
    status, out, err = said(capfd, *report)
    assert (status, err) == (0, "")
    return [one["rule"] for one in json.loads(out)["findings"]]


def test_settings_up_the_tree_apply_unless_they_are_declined(
    project: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "host-sync" in findings(capfd)
    project.write_text("[rules.host-sync]\nenabled = false\n")
    assert "host-sync" not in findings(capfd)
    assert "host-sync" in findings(capfd, "--no-config")
    other = tmp_path / "other.toml"
    other.write_text("[findings]\nmin_share = 1\n")
    assert not findings(capfd, "--config", str(other))


def test_a_wrong_setting_is_one_line_and_status_2(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text("\n[rules.host-sync]\nmajr = 0.1\n")
    for command in (["report", SYNC], ["check", SYNC], ["config"]):
        status, out, err = said(capfd, *command)
        assert (status, out) == (2, "")
        assert err == (
            f"whichlayer: {project}:3: rules.host-sync.majr: unknown key; did you mean major?\n"
        )


def test_a_file_that_is_named_has_to_be_there(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, _, err = said(capfd, "report", SYNC, "--config", "none.toml")
    assert (status, err) == (2, "whichlayer: none.toml: No such file or directory\n")


def test_a_finding_tells_the_file_and_line_of_its_threshold(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text("[rules.host-sync]\nmajor = '1 %'\n")
    _, out, _ = said(capfd, "report", SYNC, "--format", "json", "--no-cache")
    told = [one["threshold"] for one in json.loads(out)["findings"] if one["rule"] == "host-sync"]
    assert told == [f"rules.host-sync.major = 1 % ({project}:2)"]


def test_check_takes_its_limits_from_the_project(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text('[check]\nmax_idle = "1 %"\nno_finding = ["host-sync"]\n')
    status, out, _ = said(capfd, "check", SYNC, "--no-cache")
    assert status == 1
    assert [line.split(": ")[1].split()[0] for line in out.splitlines()] == [
        "max-idle", "no-finding",
    ]  # fmt: skip
    status, out, _ = said(capfd, "check", SYNC, "--no-cache", "--max-idle", "99%")
    assert [line.split(": ")[1].split()[0] for line in out.splitlines()] == ["no-finding"]
    status, _, err = said(capfd, "check", SYNC, "--no-config")
    assert status == 2 and "nothing to check" in err


def test_what_is_printed_can_be_saved_and_loaded_again(
    project: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project.write_text(
        'source_roots = ["src", "."]\nlink_bandwidth = 450\n[rules.host-sync]\nmajor = "30%"\n'
        '[peaks."gb300"]\nbf16 = 2400\n[keys]\nquit = ["x", "^q"]\nunfilter = "["\n'
        'previous-gap = "ctrl+b"\n[check.max_layer]\nruntime = 0.05\n'
    )
    status, first, err = said(capfd, "config", "--device-model", "A100 SXM4 80")
    assert (status, err) == (0, "")
    assert f"major = 0.3  # {project}:4" in first
    assert 'device_model = "A100 SXM4 80"  # --device-model' in first
    assert 'unfilter = ["left_square_bracket"]' in first
    saved = tmp_path / "saved.toml"
    saved.write_text(first)
    _, again, err = said(capfd, "config", "--no-config", "--config", str(saved))
    assert not err
    assert _set(again) == _set(first)


def _set(text: str) -> list[str]:
    lines = [line.split("  # ")[0] for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def test_paths_tell_what_is_read_and_what_could_be(
    project: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    user = tmp_path / "xdg" / "whichlayer" / "config.toml"
    _, out, _ = said(capfd, "config", "--path")
    assert out == f"./.whichlayer.toml  (none here or above)\n{user}  (none there)\n"
    project.write_text("")
    user.parent.mkdir(parents=True)
    user.write_text("")
    _, out, _ = said(capfd, "config", "--path")
    assert out == f"{project}\n{user}\n"
    _, out, _ = said(capfd, "config", "--path", "--no-config")
    assert out == "no file is read\n"


def test_a_file_to_begin_with_sets_nothing_and_replaces_none(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = said(capfd, "config", "--init")
    assert status == 0 and out.startswith(".whichlayer.toml written")
    written = Path(".whichlayer.toml")
    text = written.read_text()
    assert not _set(text) or all(line.startswith("[") for line in _set(text))
    written.write_text("# mine\n")
    status, _, err = said(capfd, "config", "--init")
    assert status == 2 and "left as it is" in err
    assert written.read_text() == "# mine\n"


def test_settings_are_not_read_by_commands_that_analyse_nothing(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text("broken")
    assert said(capfd, "rules", "host-sync")[0] == 0
    assert said(capfd, "cache")[0] == 0


def test_everything_that_is_wrong_in_all_files_is_told(
    project: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    user = tmp_path / "xdg" / "whichlayer" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[check]\nmax_idle = 7\n")
    project.write_text(
        '[rules.host-sync]\nmajr = 0.1\nmajor = "much"\n[keys]\nfly = "f7"\nquit = "d"\nhelp = "a"\n'
    )
    for command in (["report", SYNC], ["config"], [SYNC, "--rank", "0"]):
        status, out, err = said(capfd, *command)
        assert (status, out) == (2, "")
        places = [line.split(": ")[1:3] for line in err.splitlines()]
        assert places == [
            [f"{user}:2", "check.max_idle"],
            [f"{project}:2", "rules.host-sync.majr"],
            [f"{project}:3", "rules.host-sync.major"],
            [f"{project}:5", "keys.fly"],
            [f"{project}:6", "keys.quit"],
            [f"{project}:7", "keys.help"],
        ]


def test_a_file_that_cannot_be_read_hides_nothing_of_another(
    project: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    user = tmp_path / "xdg" / "whichlayer" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("[check\n")
    project.write_text("nothing = 1\n")
    status, _, err = said(capfd, "report", SYNC)
    first, second = err.splitlines()
    assert status == 2
    assert first.startswith(f"whichlayer: {user}:1: is no TOML")
    assert second.startswith(f"whichlayer: {project}:1: nothing: unknown key")


def test_very_many_errors_are_counted(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    project.write_text("".join(f"no_{number} = 1\n" for number in range(50)))
    _, _, err = said(capfd, "report", SYNC)
    lines = err.splitlines()
    assert len(lines) == 21 and lines[-1] == "whichlayer: and 30 more like these"


def test_what_only_the_screen_needs_stops_no_report_but_is_told(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project.write_text('[screen]\ntheme = "pink"\n[keys]\nquit = "d"\n[check]\nmax_idle = "1 %"\n')
    status, out, err = said(capfd, "report", SYNC, "--format", "json", "--no-cache")
    assert status == 0 and json.loads(out)["findings"]
    assert [line.split(": ")[1] for line in err.splitlines()] == [f"{project}:2", f"{project}:4"]
    assert err.count("(only the screen needs it: left out)") == 2
    status, out, err = said(capfd, "check", SYNC, "--no-cache")
    assert status == 1 and "max-idle" in out and len(err.splitlines()) == 2
    status, out, err = said(capfd, "config")
    assert (status, out) == (2, "") and "left out" not in err and len(err.splitlines()) == 2


def test_the_screen_is_not_opened_with_settings_that_are_wrong(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    project.write_text('[screen]\ntheme = "pink"\n[keys]\nfly = "d"\n')
    status, out, err = said(capfd, SYNC)
    assert (status, out) == (2, "")
    assert [line.split(": ")[1] for line in err.splitlines()] == [f"{project}:2", f"{project}:4"]
