"""Which phase of a step a name tells: of an annotation, an operator or a Python frame."""

from __future__ import annotations

import re

from whichlayer.analysis.steps.model import Phase
from whichlayer.analysis.trace.kinds import SliceKind

#: What annotations of people and frameworks are called; the first or the last word decides.
_WORDS: dict[Phase, frozenset[str]] = {
    Phase.INPUT: frozenset(
        [
            "input",
            "inputs",
            "data",
            "dataload",
            "dataloader",
            "dataloading",
            "load_batch",
            "load_data",
            "wait_for_batch",
            "next_batch",
            "get_batch",
            "fetch_batch",
            "fetch_data",
            "prepare_batch",
            "copy_batch_to_gpu",
            "copy_batch_to_device",
            "batch_to_device",
            "to_device",
            "h2d",
            "preprocess",
        ]
    ),
    Phase.FORWARD: frozenset(
        ["forward", "fwd", "forward_pass", "forward_step", "loss", "compute_loss"]
    ),
    Phase.BACKWARD: frozenset(["backward", "bwd", "backward_pass", "backward_step"]),
    Phase.OPTIMIZER: frozenset(
        [
            "optimizer",
            "optimiser",
            "optim",
            "optimizer_step",
            "optim_step",
            "zero_grad",
            "clip_grad_norm",
            "clip_grad_norm_",
            "clip_gradients",
        ]
    ),
}
_PHASE_OF = {word: phase for phase, words in _WORDS.items() for word in words}

#: What PyTorch writes itself, by how it begins.
_BEGINNINGS: tuple[tuple[str, Phase], ...] = (
    ("enumerate(DataLoader)#", Phase.INPUT),
    ("Optimizer.step#", Phase.OPTIMIZER),
    ("Optimizer.zero_grad#", Phase.OPTIMIZER),
    ("Torch-Compiled Region", Phase.FORWARD),
    ("FSDP::pre_forward", Phase.FORWARD),
    ("FSDP::post_forward", Phase.FORWARD),
    ("FSDP::pre_backward", Phase.BACKWARD),
    ("FSDP::post_backward", Phase.BACKWARD),
)

#: The engine's own operator; before torch 1.8 only the nodes themselves (``AddmmBackward``).
_BACKWARD_OPERATOR = re.compile(
    r"autograd::engine::evaluate_function|torch::autograd::AccumulateGrad|\w*[a-z0-9]Backward\d*\Z"
)

#: Frames of PyTorch's own files.
_FRAMES: tuple[tuple[re.Pattern[str], Phase], ...] = (
    (re.compile(r".*torch/utils/data/dataloader\.py\(\d+\): (__next__|_next_data)"), Phase.INPUT),
    (re.compile(r".*torch/_tensor\.py\(\d+\): backward"), Phase.BACKWARD),
    (re.compile(r".*torch/autograd/__init__\.py\(\d+\): (backward|grad)"), Phase.BACKWARD),
    (re.compile(r".*torch/optim/(?!lr_)\w+\.py\(\d+\): (step|zero_grad)\b"), Phase.OPTIMIZER),
    (re.compile(r".*torch/nn/utils/clip_grad\.py\(\d+\): clip_grad"), Phase.OPTIMIZER),
)

#: Functions that are called so in every program's own or its framework's code, by their bare name.
_FUNCTIONS: dict[str, Phase] = {
    "preprocess": Phase.INPUT,
    "prepare_inputs": Phase.INPUT,
    "ensure_tensor_on_device": Phase.INPUT,
    "get_batch": Phase.INPUT,
    "load_batch": Phase.INPUT,
    "next_batch": Phase.INPUT,
    "batch_to_device": Phase.INPUT,
    "forward": Phase.FORWARD,
    "forward_step": Phase.FORWARD,
    "model_forward": Phase.FORWARD,
    "backward": Phase.BACKWARD,
    "backward_step": Phase.BACKWARD,
    "optimizer_step": Phase.OPTIMIZER,
    "clip_grad_norm": Phase.OPTIMIZER,
}

#: Of longer names the end tells nothing more.
_LONGEST = 400

_SEPARATORS = re.compile(r"[\s.:/|()\[\]#]+")


def phase_of(kind: SliceKind, name: str) -> Phase | None:
    """The phase that a slice of this kind and name belongs to, None where the name tells none.

    >>> phase_of(SliceKind.ANNOTATION, "## forward ##"), phase_of(SliceKind.CPU_OP, "aten::mm")
    (<Phase.FORWARD: 1>, None)
    """
    name = name[:_LONGEST]
    if kind == SliceKind.CPU_OP:
        return Phase.BACKWARD if _BACKWARD_OPERATOR.match(name) else None
    if kind == SliceKind.PYTHON:
        return _phase_of_frame(name)
    if kind != SliceKind.ANNOTATION:
        return None
    for beginning, phase in _BEGINNINGS:
        if name.startswith(beginning):
            return phase
    words = [word for word in _SEPARATORS.split(name.lower()) if word]
    if not words:
        return None
    return _PHASE_OF.get(words[0], _PHASE_OF.get(words[-1]))


def _phase_of_frame(name: str) -> Phase | None:
    if name.startswith("nn.Module: "):
        return Phase.FORWARD
    if name.startswith("<built-in method run_backward"):
        return Phase.BACKWARD
    name = name.replace("\\", "/")
    if "torch/" in name:  # most frames are none of PyTorch's
        for pattern, phase in _FRAMES:
            if pattern.match(name):
                return phase
    return _FUNCTIONS.get(name.rpartition("): ")[2].strip("_"))
