"""``whichlayer check`` as continuous integration meets it."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pytest

from whichlayer.analysis.layers import Layer
from whichlayer.tui import cli
from whichlayer.tui.check_command import parse_layer_share, parse_share
from whichlayer.tui.samples import sample_path

LOADER = str(sample_path("dataloader-bound"))
HEALTHY = str(sample_path("healthy"))


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str], str]:
    """Exit status, lines of output and what went to standard error."""
    capfd.readouterr()
    status = cli.main(["check", *arguments, "--no-cache"])
    out, err = capfd.readouterr()
    return status, out.splitlines(), err


def test_one_line_for_each_broken_limit(capfd: pytest.CaptureFixture[str]) -> None:
    limits = ("--max-idle", "15%", "--max-layer", "runtime=5%", "--max-layer", "cuda=50%")
    status, lines, err = said(capfd, LOADER, *limits)
    assert (status, err) == (cli.BROKEN_LIMIT, "")
    assert len(lines) == 2
    assert lines[0].startswith(f"{LOADER}: max-idle: ")
    assert lines[1].startswith(f"{LOADER}: max-layer runtime: ")


def test_limits_that_hold_are_told_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    status, lines, err = said(capfd, HEALTHY, "--max-idle", "0.15", "--no-finding", "host-sync")
    assert (status, err) == (cli.FINE, "")
    assert len(lines) == 1 and lines[0].startswith(f"{HEALTHY}: ok: max-idle: ")


def test_every_file_is_checked_and_one_that_breaks_decides(
    capfd: pytest.CaptureFixture[str],
) -> None:
    status, lines, _ = said(capfd, LOADER, HEALTHY, "--max-idle", "15%")
    assert status == cli.BROKEN_LIMIT
    assert [line.partition(": ")[0] for line in lines] == [LOADER, HEALTHY]


def test_what_was_checked_is_told_before_a_file_that_cannot_be_read(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    status, lines, err = said(capfd, HEALTHY, str(tmp_path / "none"), "--max-idle", "15%")
    assert status == cli.WRONG_INPUT
    assert len(lines) == 1 and err.count("\n") == 1 and "none" in err


def test_every_recording_of_a_folder_is_checked(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for rank in (0, 1):
        shutil.copy(LOADER, tmp_path / f"rank{rank}.json.gz")
    status, lines, _ = said(capfd, str(tmp_path), "--no-finding", "straggler", "--max-idle", "15%")
    assert status == cli.BROKEN_LIMIT
    assert [line for line in lines if "max-idle" in line] == lines[:2]
    assert lines[2:] == [f"{tmp_path}: ok: no-finding straggler: none"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "nothing to check"),
        (("--max-idle", "15"), "write 15% or 0.15"),
        (("--max-idle", "nan"), "not a share"),
        (("--max-layer", "cdua=5%"), "write LAYER=SHARE"),
        (("--max-layer", "cuda"), "not a share"),
        (("--no-finding", "hots-sync"), "did you mean host-sync?"),
    ],
)
def test_a_wrong_limit_is_one_line(
    arguments: tuple[str, ...], part: str, capfd: pytest.CaptureFixture[str]
) -> None:
    status, lines, err = said(capfd, HEALTHY, *arguments)
    assert (status, lines) == (cli.WRONG_INPUT, [])
    assert part in err and err.count("\n") == 1


def test_shares_are_read_as_percentages_or_fractions() -> None:
    assert (parse_share("15%"), parse_share(" 7.5 % "), parse_share("1")) == (0.15, 0.075, 1.0)
    assert parse_layer_share("CUDA=5%") == (Layer.CUDA, 0.05)
    for text in ("", "%", "-1%", "101%", "1.5", "1e-3", "٣%", "5 % of it"):
        with pytest.raises(argparse.ArgumentTypeError):
            parse_share(text)
