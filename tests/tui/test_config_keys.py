"""Keys, themes and colours that a user sets."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.keys import _character_to_key

from tests.tui.screen import screen_of, text_of
from whichlayer.analysis.config.validate import read_config
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui import keys
from whichlayer.tui.colours import THEMES
from whichlayer.tui.configured import screen_names
from whichlayer.tui.key_map import KeyClash, table_of
from whichlayer.tui.key_names import key_name
from whichlayer.tui.keys import KEYS, current_keys, footer_hints, use_keys
from whichlayer.tui.screen_settings import apply_screen, screen_settings
from whichlayer.tui.widgets.help_screen import HelpScreen


@pytest.fixture(autouse=True)
def as_shipped() -> Iterator[None]:
    """Leave the keyboard and the screen as they were."""
    yield
    keys._in_use = KEYS
    screen_settings.theme, screen_settings.ascii_only = "", False


def table(folder: Path, text: str) -> tuple[keys.Key, ...]:
    file = folder / "a.toml"
    file.write_text(f"[keys]\n{text}")
    return table_of(read_config(str(file), screen_names()))


@pytest.mark.parametrize("character", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~aZ9é")
def test_a_character_is_called_as_textual_calls_it(character: str) -> None:
    assert key_name(character) == _character_to_key(character)


def test_keys_are_named_as_people_and_as_the_table_name_them() -> None:
    for name in (name for key in KEYS for name in key.keys):
        assert key_name(name) == name
    assert key_name("^p") == key_name("CTRL+P".lower()) == "ctrl+p"
    assert key_name("Esc") == "escape" and key_name("pgup") == "pageup"
    assert key_name("shift+tab") == "shift+tab" and key_name("ctrl+shift+left") == "ctrl+shift+left"


@pytest.mark.parametrize("wrong", ["", "escpae", "ctrl+", "hyper+x", "shift+a", "ab", "\x1b"])
def test_what_no_key_is_called_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="no key is called"):
        key_name(wrong)


def test_other_keys_reach_the_table_and_what_is_shown_of_it(tmp_path: Path) -> None:
    use_keys(table(tmp_path, 'zoom-in = "f7"\nquit = ["ctrl+x", "f9"]\n'))
    by_id = {key.id: key for key in current_keys()}
    assert by_id["zoom-in"].keys == ("f7",) and by_id["quit"].shown == "ctrl+x f9"
    hints = {word: shown for shown, word in footer_hints()}
    assert hints["zoom"] == "f7/s" and hints["quit"] == "ctrl+x" and hints["pan"] == "ad"


def test_keys_may_change_places(tmp_path: Path) -> None:
    moved = {key.id: key for key in table(tmp_path, 'pan-left = "d"\npan-right = "a"\n')}
    assert moved["pan-left"].keys == ("d",) and moved["pan-left"].hint == "da pan"


def test_one_key_for_two_things_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(KeyClash) as caught:
        table(tmp_path, 'pan-left = "f7"\nzoom-in = "d"\n')
    assert str(caught.value) == (
        f"{tmp_path / 'a.toml'}:3: keys.zoom-in: d is also the key of pan-right (pan to later); "
        "set another key for one of the two"
    )
    with pytest.raises(KeyClash, match=r"keys\.pan-left: f7 is also the key of zoom-in"):
        table(tmp_path, 'pan-left = "f7"\nzoom-in = "f7"\n')


async def test_the_screen_answers_to_the_keys_that_are_set(
    trace: Trace, analysis: Analysis, tmp_path: Path
) -> None:
    use_keys(table(tmp_path, 'help = "f7"\nright = "f8"\nhits = "f10"\n'))
    async with screen_of(trace, analysis) as (app, pilot):
        assert "f7 help" in text_of(app, "footer")[0]
        await pilot.press("question_mark")
        assert not isinstance(app.screen, HelpScreen)
        before = app.look
        await pilot.press("l")
        assert app.look == before
        await pilot.press("f8")
        assert app.look != before
        await pilot.press("f7")
        assert isinstance(app.screen, HelpScreen)
        assert "f8        cursor one column to later" in app.screen.text


def test_the_theme_and_the_colours_reach_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "auto")
    file = tmp_path / "a.toml"
    file.write_text('[screen]\ntheme = "light"\ncolours = 16\nascii = true\n')
    apply_screen(read_config(str(file), screen_names()))
    assert (screen_settings.theme, screen_settings.ascii_only) == ("whichlayer-light", True)
    assert os.environ["TEXTUAL_COLOR_SYSTEM"] == "standard" and "NO_COLOR" not in os.environ
    file.write_text('[screen]\ncolours = "none"\n')
    apply_screen(read_config(str(file), screen_names()))
    assert os.environ["NO_COLOR"] == "1"


async def test_the_screen_begins_in_the_theme_that_is_set(trace: Trace, analysis: Analysis) -> None:
    screen_settings.theme = "whichlayer-light"
    async with screen_of(trace, analysis) as (app, _):
        assert app.theme == "whichlayer-light"
        assert app.screen.styles.background.hex.lower() == THEMES[app.theme].canvas
