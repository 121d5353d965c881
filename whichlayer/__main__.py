"""``python -m whichlayer``: the same as the ``whichlayer`` command."""

from __future__ import annotations

import sys

from whichlayer.tui.cli import main

sys.exit(main())
