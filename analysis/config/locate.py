"""Where settings are looked for: up the tree from here, and in the user's own folder."""

from __future__ import annotations

import os

FILE_NAME = ".whichlayer.toml"


def project_file() -> str | None:
    """The nearest file of settings in the current folder or above it, or None."""
    try:
        folder = os.getcwd()
    except OSError:  # it has been removed
        return None
    while True:
        file = os.path.join(folder, FILE_NAME)
        if os.path.lexists(file):
            return file
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def user_path() -> str | None:
    """Where the user's own settings are or would be; None where no home folder is known."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # as the XDG specification has it
        base = os.path.expanduser("~/.config")
    return os.path.join(base, "whichlayer", "config.toml") if os.path.isabs(base) else None


def user_file() -> str | None:
    """The user's own settings, or None where there are none."""
    path = user_path()
    return path if path is not None and os.path.lexists(path) else None
