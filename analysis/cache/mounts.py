"""Whether a folder lies on a disk of this machine.

A file on a network file system may be deleted by another machine while it is mapped into
memory; reading it then ends the program. Such files are read instead.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")

_LOCAL: Final = frozenset(
    {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"}
)

_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


def is_local(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a folder is known to be local; False where the system does not tell.

    Source: proc_pid_mountinfo(5).
    """
    real = os.path.realpath(folder)
    longest, kind = -1, ""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    for line in lines:
        fields, _, source = line.partition(" - ")
        words = fields.split(" ")
        if len(words) < 5 or not source:
            continue
        point = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), words[4])
        # Of two mounts on one place the later one is seen.
        if len(point) >= longest and _holds(point, real):
            longest, kind = len(point), source.split(" ")[0]
    return kind in _LOCAL


def _holds(point: str, path: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")
