"""Settings from files, as the command line asks for them, for the analysis and the screen.

Files are read once a command; what they set is checked before anything is opened.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from whichlayer.analysis.config.locate import project_file, user_file
from whichlayer.analysis.text import clean
from whichlayer.tui.arguments import UsageError

if TYPE_CHECKING:
    from whichlayer.analysis.config import Config, Problem
    from whichlayer.analysis.config.schema import Names
    from whichlayer.analysis.limits import Limits
    from whichlayer.analysis.options import Options

#: Options of the command line, by the setting that they go before.
_TYPED = {"device_model": "--device-model", "link_bandwidth": "--link-bandwidth"}

#: Sections that only the screen needs.
_OF_SCREEN = (("screen",), ("keys",))

#: More errors than that are counted.
_MOST_LINES = 20


def files_set_nothing(typed: Namespace) -> bool:
    """Whether no file of settings applies, which is told without reading any."""
    if typed.config is not None:
        return False
    return bool(typed.no_config) or (project_file() is None and user_file() is None)


def config_of(typed: Namespace, screen: bool = True) -> Config:
    """What the files that apply set.

    Args:
        typed: the command line.
        screen: what is set of the screen is needed; else what is wrong there is only warned of.

    Raises:
        UsageError: one of them cannot be used; lines that begin with the file.
    """
    config = _read(typed)
    wrong = config.problems
    if any(screen or problem.path[:1] not in _OF_SCREEN for problem in wrong):
        raise UsageError(*_some(problem.text for problem in wrong))
    if wrong and not getattr(typed, "warned_of_config", False):
        typed.warned_of_config = True
        for line in _some(f"{one.text} (only the screen needs it: left out)" for one in wrong):
            print(f"whichlayer: {clean(line)}", file=sys.stderr)
    return config


def check_screen(typed: Namespace) -> None:
    """Refuse what is wrong in files, before anything is opened for the screen.

    Raises:
        UsageError: a file cannot be used.
    """
    if not files_set_nothing(typed):
        config_of(typed)


def _read(typed: Namespace) -> Config:
    """What files set, and all that is wrong in them; read once a command."""
    known: Config | None = getattr(typed, "loaded_config", None)
    if known is not None:
        return known
    from whichlayer.analysis.config import Config, read_files

    config = Config()
    if not files_set_nothing(typed):
        config = read_files(typed.config, names=screen_names(), search=not typed.no_config)
    if any(path[0] == "keys" for path in config.entries):
        config = replace(config, problems=(*config.problems, *_clashes(config)))
    typed.loaded_config = config
    return config


def _some(lines: Iterable[str]) -> list[str]:
    """As many lines as anyone reads."""
    every = list(lines)
    more = len(every) - _MOST_LINES
    return every if more <= 0 else [*every[:_MOST_LINES], f"and {more} more like these"]


def screen_names() -> Names:
    """What settings of the screen may name."""
    from whichlayer.analysis.config.schema import Names
    from whichlayer.tui.colours import THEMES
    from whichlayer.tui.key_names import key_name
    from whichlayer.tui.keys import KEYS
    from whichlayer.tui.screen_settings import THEME_PREFIX

    themes = tuple(name.removeprefix(THEME_PREFIX) for name in THEMES)
    return Names(themes, tuple(key.id for key in KEYS), key_name)


def _clashes(config: Config) -> list[Problem]:
    """Keys that would do two things."""
    from whichlayer.analysis.config import Problem
    from whichlayer.tui.key_map import KeyClash, table_of

    try:
        table_of(config)
    except KeyClash as error:
        return [Problem(("keys",), line) for line in error.lines]
    return []


def options_with(options: Options, typed: Namespace) -> Options:
    """What was typed, completed by what files set.

    Raises:
        UsageError: a file cannot be used.
    """
    if files_set_nothing(typed):
        return options
    from whichlayer.analysis.config import with_config

    config = config_of(typed, screen=False)
    typed_too = ((name, getattr(typed, name, None)) for name in _TYPED)
    places = {name: _TYPED[name] for name, value in typed_too if value is not None}
    return with_config(replace(options, origins={**options.origins, **places}), config)


def limits_set(typed: Namespace) -> Limits:
    """The limits of ``check`` that files set.

    Raises:
        UsageError: a file cannot be used.
    """
    from whichlayer.analysis.layers import layer_of
    from whichlayer.analysis.limits import Limits

    config = config_of(typed, screen=False)
    return Limits(
        max_idle=config.number("check", "max_idle"),
        max_layer={
            layer_of(name): float(entry.value)
            for name, entry in config.below("check", "max_layer")
            if isinstance(entry.value, float)
        },
        min_roof=config.number("check", "min_roof"),
        no_finding=config.words("check", "no_finding"),
    )


def set_up_screen(typed: Namespace) -> None:
    """Let the screen look and answer as files set it; before Textual is imported.

    Raises:
        UsageError: a file cannot be used.
    """
    if files_set_nothing(typed):
        return
    config = config_of(typed)
    from whichlayer.tui.key_map import table_of
    from whichlayer.tui.keys import use_keys
    from whichlayer.tui.screen_settings import apply_screen

    apply_screen(config)
    if any(path[0] == "keys" for path in config.entries):
        use_keys(table_of(config))
