"""The option that limits how much text is read."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from whichlayer.analysis.reader.text_limit import choose_limit
from whichlayer.tui import cli
from whichlayer.tui.arguments import parse_size


@pytest.fixture(autouse=True)
def no_limit_is_left_behind() -> Iterator[None]:
    yield
    choose_limit(None)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("512", 512),
        ("8G", 8 << 30),
        ("8 GiB", 8 << 30),
        ("1.5k", 1536),
        ("2tb", 2 << 40),
        ("3M", 3 << 20),
        ("7B", 7),
    ],
)
def test_sizes_are_read_with_their_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "-1", "G", "1e9", "8X", "nan", "9" * 40, "1.", "٣G"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a size; write 8G"):
        parse_size(text)


def test_a_report_reads_no_more_than_it_may(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    event = {"ph": "X", "name": "a", "cat": "cpu_op", "ts": 1, "dur": 1}
    path.write_text(json.dumps([event] * 60_000))
    arguments = ["report", str(path), "--format", "json", "--no-cache"]
    for size, whole in (("2M", False), ("0", True), ("1G", True)):
        assert cli.main([*arguments, "--max-size", size]) == cli.FINE
        said = capfd.readouterr().out
        assert (json.loads(said)["trace"]["events"] == 60_000) == whole
        assert ("--max-size" in said) != whole


def test_a_limit_holds_for_what_is_in_the_cache(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    event = {"ph": "X", "name": "a", "cat": "cpu_op", "ts": 1, "dur": 1}
    path.write_text(json.dumps([event] * 60_000))
    arguments = ["report", str(path), "--format", "json"]
    assert cli.main(arguments) == cli.FINE
    assert cli.main(["cache"]) == cli.FINE
    assert str(path) in capfd.readouterr().out
    assert cli.main([*arguments, "--max-size", "2M"]) == cli.FINE
    said = json.loads(capfd.readouterr().out)
    assert said["trace"]["events"] < 60_000
    assert said["verdict"]["text"].startswith("No GPU verdict: no GPU activity in what could be")
    (note,) = [one for one in said["trace"]["warnings"] if one["code"] == "truncated"]
    assert note["message"].startswith("the file was not read to its end: the limit of 2097152")
