"""What docs/config.md says is so."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from whichlayer.analysis.config import with_config
from whichlayer.analysis.config.schema import TABLE
from whichlayer.analysis.config.validate import read_config
from whichlayer.analysis.options import Options
from whichlayer.tui.configured import screen_names
from whichlayer.tui.key_map import table_of

DOCS = Path(__file__).parent.parent.parent.parent / "docs"
PAGE = (DOCS / "config.md").read_text(encoding="utf-8")


def test_the_page_has_the_table_of_the_code() -> None:
    script = runpy.run_path(str(DOCS / "make_config_table.py"))
    assert script["with_table"](PAGE) == PAGE, "run python docs/make_config_table.py"
    assert all(f"`{setting.name}`" in PAGE for setting in TABLE)


def test_the_example_of_the_page_can_be_used(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / ".whichlayer.toml"
    file.write_text(example, encoding="utf-8")
    config = read_config(str(file), screen_names())
    options = with_config(Options(), config)
    assert options.rules_off == {"kernel-drift"}
    assert options.peaks["GB300"].tflops == {"bf16": 2500}
    assert {"help", "far-left"} <= {key.id for key in table_of(config)}
