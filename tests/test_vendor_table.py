"""The comparison of two vendors' cards in the documents is what the recordings say."""

from __future__ import annotations

import os
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent / "docs"
TEXT = (DOCS / "vendors.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_vendor_table.py"))


def test_the_tables_are_those_of_the_recordings(script: dict[str, Any]) -> None:
    folder = os.environ.get("WHICHLAYER_TRACES")
    if not folder:
        pytest.skip("WHICHLAYER_TRACES is not set")
    made = script["tables"](script["analyses_in"](Path(folder)))
    assert script["with_tables"](TEXT, made) == TEXT, "run python docs/make_vendor_table.py"


def test_each_of_ten_losses_is_explained() -> None:
    assert re.findall(r"^(\d+)\. \S", TEXT, re.MULTILINE) == [str(n) for n in range(1, 11)]
    rows = re.findall(r"^\| (\d+) \| `", TEXT, re.MULTILINE)
    assert rows == [str(n) for n in range(1, 11)]


def test_tables_have_their_place(script: dict[str, Any]) -> None:
    assert script["with_tables"](TEXT, "new").count("new") >= 1
    with pytest.raises(ValueError, match="no place"):
        script["with_tables"]("nothing", "new")
