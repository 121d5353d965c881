"""Recording a program while it runs, and handing its windows to a screen.

The modules that run inside the profiled program are the only ones of whichlayer that import
torch, and they do so late: a program that never trains or infers pays for nothing.
"""

from __future__ import annotations
