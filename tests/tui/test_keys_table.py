from __future__ import annotations

from whichlayer.tui.actions import KeyActions
from whichlayer.tui.keys import KEYS, bindings, footer_hints
from whichlayer.tui.live.app import LiveApp

DESIGNED = "w a s d h j k l + - [ ] { } , . < > f z Z ? : q"


def test_no_key_does_two_things() -> None:
    keys = [name for key in KEYS for name in key.keys]
    assert len(keys) == len(set(keys))
    assert len({key.id for key in KEYS}) == len(KEYS)


def test_every_designed_key_is_there_as_people_read_it() -> None:
    shown = " ".join(key.shown for key in KEYS).split(" ")
    assert set(DESIGNED.split(" ")) <= set(shown)


def test_every_key_has_an_action_of_the_application() -> None:
    for key in KEYS:
        owner = LiveApp if key.live else KeyActions
        assert hasattr(owner, f"action_{key.action.split('(')[0]}"), key.id


def test_bindings_come_from_the_table() -> None:
    every = [(key.id, key.action) for key in KEYS]
    usual = [(key.id, key.action) for key in KEYS if not key.live]
    assert [(b.id, b.action) for b in bindings()] == usual
    assert [(b.id, b.action) for b in bindings(live=True)] == every


def test_no_key_needs_a_function_key_or_control_and_shift() -> None:
    for name in (name for key in KEYS for name in key.keys):
        assert not (name.startswith("f") and name[1:].isdigit())
        assert not ("ctrl" in name and "shift" in name)


def test_the_footer_names_real_keys_in_few_words() -> None:
    readable = {part for key in KEYS for part in key.shown.split(" ")}
    for keys, word in [*footer_hints(), *footer_hints(live=True)]:
        parts = [keys] if keys in readable else list(keys)
        assert set(parts) <= readable
        assert len(word) <= 8
    assert [word for _, word in footer_hints()][:2] == ["help", "quit"]
