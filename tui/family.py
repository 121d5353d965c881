"""The classes by which the timeline colours slices, and the words for crowds of them.

Apart from how they are told (``whichlayer.tui.families``): colours need the classes alone.
"""

from __future__ import annotations

from enum import IntEnum


class Family(IntEnum):
    """What a slice is to the eye; the value is its code in arrays of cells."""

    MATMUL = 0
    ATTENTION = 1
    CONVOLUTION = 2
    REDUCTION = 3  # reductions, norms, softmax
    POINTWISE = 4
    OPTIMIZER = 5
    INDEX = 6  # gather, scatter, sort
    COMPILED = 7  # written by a compiler: Triton, Inductor
    COLLECTIVE = 8
    COPY = 9  # copies, memsets, changes of layout
    KERNEL = 10  # any other work of a GPU
    GPU_NOTE = 11  # annotations and syncs on a GPU's lanes
    OPERATOR = 12
    BACKWARD = 13
    ANNOTATION = 14
    LOADER = 15
    PYTHON = 16
    MODULE = 17
    CALL = 18  # of the runtime or driver
    WAIT = 19  # a call that blocks the host
    OVERHEAD = 20
    OTHER = 21
    COUNTER = 22

    @property
    def word(self) -> str:
        """What a crowd of such slices is called on the timeline."""
        return _WORDS.get(self, self.name.lower())


_WORDS = {
    Family.CONVOLUTION: "conv",
    Family.KERNEL: "kernels",
    Family.GPU_NOTE: "notes",
    Family.OPERATOR: "operators",
    Family.CALL: "calls",
    Family.COPY: "copies",
    Family.COUNTER: "counters",
}
