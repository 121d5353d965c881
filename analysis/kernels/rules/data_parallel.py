"""One process drives several GPUs with ``nn.DataParallel``.

It copies the model to every GPU in each step, gathers results on the first one, and dispatches
all of them from one Python process. ``DistributedDataParallel`` runs a process for each GPU and
overlaps the exchange of gradients with the backward pass.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from whichlayer.analysis.among import among
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.rule import Hint, Rule
from whichlayer.analysis.settings import threshold
from whichlayer.analysis.trace.kinds import SliceKind

RULE: Final = Rule(
    id="data-parallel",
    layer=Layer.PYTORCH,
    title="nn.DataParallel on several GPUs",
    fix="torch.nn.parallel.DistributedDataParallel, one process for each GPU",
    thresholds={"devices": 2.0},
    source="PyTorch's documentation of DataParallel recommends DistributedDataParallel",
    example="made: an annotation DataParallel.forward in a recording with kernels on 2 GPUs",
)
RANK: Final = 91
#: The mark that ``nn.DataParallel.forward`` records.
_MARK: Final = "DataParallel.forward"


def applies(measured: object, settings: object) -> bool:
    """Never to a kernel: it is about the whole recording."""
    return False


def find(analysis: Analysis) -> Hint | None:
    """The calls of the wrapped model, or None."""
    trace = analysis.trace
    if len(analysis.devices) < threshold(analysis.options, RULE.id, "devices"):
        return None
    ids = [index for index, name in enumerate(trace.strings) if name == _MARK]
    marks = among(trace.name_id, ids)
    rows = np.flatnonzero(marks & among(trace.kind, _HOST))
    if not len(rows):
        return None
    rows = rows[np.argsort(trace.start_ns[rows], kind="stable")]
    said = f"{_MARK} called {len(rows):,} x, work on {len(analysis.devices)} GPUs"
    return Hint((said,), tuple(rows.tolist()))


_HOST: Final = (SliceKind.ANNOTATION, SliceKind.CPU_OP)
