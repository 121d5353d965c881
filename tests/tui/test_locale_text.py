"""A locale without more than ASCII is drawn in ASCII, though Python writes UTF-8 there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tui.test_terminal import SAMPLE, Terminal
from whichlayer.tui.locale_text import asks_for_plain_text


@pytest.mark.parametrize(
    ("variables", "at_start", "plain"),
    [
        ({}, {}, False),
        ({"LANG": "C"}, {}, True),
        ({"LANG": "POSIX"}, {}, True),
        ({"LANG": "C.UTF-8"}, {}, False),
        ({"LANG": "de_DE.UTF-8"}, {}, False),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, {}, True),
        ({"LANG": "C", "LC_ALL": "de_DE.UTF-8"}, {}, False),
        ({"LANG": "de_DE.UTF-8", "LC_CTYPE": "C"}, {}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, {"LANG": "C"}, True),
        ({"LANG": "C", "LC_CTYPE": "C.UTF-8"}, {"LANG": "C", "LC_CTYPE": "C.UTF-8"}, False),
        ({"LC_CTYPE": "C.UTF-8"}, {}, False),
    ],
)
def test_a_plain_locale_is_told_from_one_that_python_has_set(
    variables: dict[str, str], at_start: dict[str, str], plain: bool
) -> None:
    assert asks_for_plain_text(variables, at_start) is plain


@pytest.mark.parametrize("name", ["LANG", "LC_ALL"])
def test_the_screen_is_ascii_in_the_locale_c(name: str) -> None:
    plain: dict[str, Any] = {"LANG": "", "LC_ALL": "", "LC_CTYPE": "", name: "C"}
    terminal = Terminal(str(SAMPLE), **plain)
    terminal.wait_for("ABOVE CUDA")
    terminal.press("}")
    terminal.wait_for("train.py:")
    terminal.press("q")
    assert terminal.leave() == 0
    assert terminal.sent.isascii()


def test_the_setting_outweighs_the_locale(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("config")
    (home / "whichlayer").mkdir()
    (home / "whichlayer" / "config.toml").write_text("[screen]\nascii = false\n")
    terminal = Terminal(str(SAMPLE), LANG="C", LC_ALL="", XDG_CONFIG_HOME=str(home))
    terminal.wait_for("● ready")
    terminal.press("q")
    assert terminal.leave() == 0
