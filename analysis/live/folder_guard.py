"""Removes a folder when this process is gone, however it ends: a shell waits for that.

A pipe tells it: the system closes its end when the process ends, by ``SIGKILL`` too. Where there is
no shell, or it is killed as well, the folder waits for whoever looks for abandoned ones.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

_SCRIPT: Final = 'cd / && { read -r _ || rm -rf -- "$1"; }'
"""A line that can be read says that nothing is to be removed."""

_SECONDS: Final = 2.0


class FolderGuard:
    """A shell that removes a folder of this process after its end."""

    def __init__(self, folder: Path) -> None:
        """Start it, in a session of its own: what a terminal sends does not reach it."""
        self._shell: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT, "sh", str(folder.absolute())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def dismiss(self) -> None:
        """Let it end: the folder has been removed, or stays."""
        shell, self._shell = self._shell, None
        if shell is None or shell.stdin is None:
            return
        with suppress(OSError):
            shell.stdin.write(b"\n")
        with suppress(OSError):
            shell.stdin.close()
        try:
            shell.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            shell.kill()
            shell.wait()
