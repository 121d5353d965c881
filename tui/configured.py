"""Settings from files, as the command line asks for them, for the analysis and the screen.

Files are read once a command; what they set is checked before anything is opened.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from whichlayer.analysis.config.locate import project_file, user_file
from whichlayer.tui.arguments import UsageError

if TYPE_CHECKING:
    from whichlayer.analysis.config import Config
    from whichlayer.analysis.config.schema import Names
    from whichlayer.analysis.limits import Limits
    from whichlayer.analysis.options import Options

#: Options of the command line, by the setting that they go before.
_TYPED = {"device_model": "--device-model", "link_bandwidth": "--link-bandwidth"}


def files_set_nothing(typed: Namespace) -> bool:
    """Whether no file of settings applies, which is told without reading any."""
    if typed.config is not None:
        return False
    return bool(typed.no_config) or (project_file() is None and user_file() is None)


def config_of(typed: Namespace) -> Config:
    """What the files that apply set.

    Raises:
        UsageError: one of them cannot be used; one line that begins with the file.
    """
    known: Config | None = getattr(typed, "loaded_config", None)
    if known is not None:
        return known
    from whichlayer.analysis.config import Config, ConfigError, load_config

    try:
        config = (
            Config()
            if files_set_nothing(typed)
            else load_config(typed.config, names=screen_names(), search=not typed.no_config)
        )
        if any(path[0] == "keys" for path in config.entries):
            check_keys(config)
    except ConfigError as error:
        raise UsageError(str(error)) from error
    typed.loaded_config = config
    return config


def screen_names() -> Names:
    """What settings of the screen may name."""
    from whichlayer.analysis.config.schema import Names
    from whichlayer.tui.colours import THEMES
    from whichlayer.tui.key_names import key_name
    from whichlayer.tui.keys import KEYS
    from whichlayer.tui.screen_settings import THEME_PREFIX

    themes = tuple(name.removeprefix(THEME_PREFIX) for name in THEMES)
    return Names(themes, tuple(key.id for key in KEYS), key_name)


def check_keys(config: Config) -> None:
    """Refuse keys that would do two things.

    Raises:
        UsageError: some would.
    """
    from whichlayer.tui.key_map import KeyClash, table_of

    try:
        table_of(config)
    except KeyClash as error:
        raise UsageError(str(error)) from error


def options_with(options: Options, typed: Namespace) -> Options:
    """What was typed, completed by what files set.

    Raises:
        UsageError: a file cannot be used.
    """
    if files_set_nothing(typed):
        return options
    from whichlayer.analysis.config import with_config

    config = config_of(typed)
    places = {name: option for name, option in _TYPED.items() if getattr(typed, name) is not None}
    return with_config(replace(options, origins={**options.origins, **places}), config)


def limits_set(typed: Namespace) -> Limits:
    """The limits of ``check`` that files set.

    Raises:
        UsageError: a file cannot be used.
    """
    from whichlayer.analysis.layers import layer_of
    from whichlayer.analysis.limits import Limits

    config = config_of(typed)
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
