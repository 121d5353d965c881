"""The folder that ``whichlayer run`` puts on the path of the program that it starts.

Python imports ``sitecustomize`` from there at its start; nothing else lies in it.
"""

from __future__ import annotations
