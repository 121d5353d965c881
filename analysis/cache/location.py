"""Where the cache is, how large it may become, and why there is none."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

#: Environment variable that bounds the cache: bytes, or a number with K, M, G or T.
SIZE_VARIABLE: Final = "WHICHLAYER_CACHE_SIZE"

DEFAULT_LIMIT: Final = 4 << 30

_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

#: Whoever else may write to a folder could plant a file in it.
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Location:
    """The cache folder.

    Attributes:
        folder: where it is, or would be; None where nothing says where.
        limit: most bytes that it may hold; 0 switches it off.
        refusal: why the folder is not to be trusted, or empty.
        note: what is odd about the settings, or empty.
    """

    folder: Path | None
    limit: int
    refusal: str = ""
    note: str = ""

    @property
    def usable(self) -> Path | None:
        """The folder, None where it is not to be used."""
        return self.folder if self.limit and not self.refusal else None


def locate() -> Location:
    """The cache folder that the environment names; it need not be there yet."""
    limit, note = _limit()
    folder = _folder()
    if folder is None:
        return Location(None, limit, "no home folder is known: set XDG_CACHE_HOME", note)
    return Location(folder, limit, _refusal(folder), note)


def make_folder(folder: Path) -> None:
    """Create the folder, for its owner alone.

    Raises:
        OSError: it cannot be made.
    """
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def is_own(status: os.stat_result) -> bool:
    """Whether a file or folder is the user's, and nobody else may write to it."""
    return status.st_uid == _user() and not status.st_mode & _WRITABLE_BY_OTHERS


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _folder() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification: a relative path is to be ignored.
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "whichlayer") if os.path.isabs(base) and "\0" not in base else None


def _refusal(folder: Path) -> str:
    try:
        status = folder.stat()
    except FileNotFoundError:
        return "" if not folder.is_symlink() else "the folder is a link that leads nowhere"
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(status.st_mode):
        return "it is no folder"
    if status.st_uid != _user():
        return "the folder belongs to another user"
    return "" if is_own(status) else "others may write to the folder"


def _limit() -> tuple[int, str]:
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_LIMIT, ""
    found = _SIZE.fullmatch(text)
    if found is None:
        return DEFAULT_LIMIT, f"{SIZE_VARIABLE} is not understood: write bytes, or such as 500M, 4G"
    return int(float(found[1]) * _UNITS[found[2].upper()]), ""
