"""Words as a shell reads them."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whichlayer.tui import shell_words
from whichlayer.tui.shell_words import shell_word

BASH = shutil.which("bash")


def test_the_example_holds() -> None:
    result = doctest.testmod(shell_words)
    assert result.attempted and not result.failed


@pytest.mark.skipif(BASH is None, reason="no bash here")
@given(st.lists(st.binary(max_size=12).filter(lambda name: b"\0" not in name), max_size=8))
@settings(max_examples=25)
def test_bash_reads_any_bytes_as_they_are(names: list[bytes]) -> None:
    words = [shell_word(os.fsdecode(name)) for name in names]
    for word in words:
        word.encode("utf-8")  # it can be shown and copied
    script = "printf '%s\\0' " + " ".join(words) if words else ":"
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    told = subprocess.run([str(BASH), "-c", script], capture_output=True, check=True, env=env)
    assert told.stdout.split(b"\0")[:-1] == names
