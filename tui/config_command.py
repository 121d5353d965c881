"""``whichlayer config``: what is in force and from where, and a file to begin with."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace

from whichlayer.analysis.config import Config, Entry
from whichlayer.analysis.config.entries import Path
from whichlayer.analysis.config.locate import FILE_NAME, project_file, user_path
from whichlayer.analysis.config.write import Keys, config_text
from whichlayer.analysis.text import clean
from whichlayer.tui.arguments import UsageError
from whichlayer.tui.configured import config_of
from whichlayer.tui.keys import KEYS


def shown_config(typed: Namespace) -> str:
    """Everything in force, as a file that can be saved and loaded again.

    Raises:
        UsageError: a file cannot be used.
    """
    return config_text(_with_typed(config_of(typed), typed), _keys(), _one_run(typed))


def config_paths(typed: Namespace) -> str:
    """Which files are read, the one that wins first, and where others would be."""
    lines = []
    if typed.config is not None:
        lines.append(f"{typed.config}  (--config)")
    elif not typed.no_config:
        found = project_file()
        lines.append(found or f"{os.path.join(os.curdir, FILE_NAME)}  (none here or above)")
    user = user_path()
    if not typed.no_config and user is not None:
        missing = "" if os.path.lexists(user) else "  (none there)"
        lines.append(f"{user}{missing}")
    return "".join(f"{clean(line)}\n" for line in lines) or "no file is read\n"


def begin_config() -> str:
    """Write a file with every default as a comment into the current folder.

    Returns:
        What to say.

    Raises:
        UsageError: there is one already.
        OSError: it cannot be written.
    """
    text = config_text(Config(), _keys())
    try:
        with open(FILE_NAME, "x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise UsageError(f"{FILE_NAME} is there already; it is left as it is") from None
    return f"{FILE_NAME} written: everything in it is a comment until you change it\n"


def _keys() -> Keys:
    return [(key.id, key.keys, key.does) for key in KEYS]


def _with_typed(config: Config, typed: Namespace) -> Config:
    """What files set, under what was typed."""
    given = {
        ("device_model",): (typed.device_model, "--device-model"),
        ("link_bandwidth",): (typed.link_bandwidth, "--link-bandwidth"),
    }
    entries: dict[Path, Entry] = {
        path: Entry(value, place) for path, (value, place) in given.items() if value
    }
    return replace(config, entries={**config.entries, **entries}) if entries else config


def _one_run(typed: Namespace) -> list[str]:
    lines = []
    if typed.peak_bandwidth is not None:
        lines.append(f"--peak-bandwidth {typed.peak_bandwidth:g} goes before all [peaks]")
    lines += [
        f"--peak-flops {name}={value:g} goes before all [peaks]" for name, value in typed.peak_flops
    ]
    return lines
