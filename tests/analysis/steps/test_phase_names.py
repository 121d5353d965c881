"""Which names tell a phase of a step, and which do not."""

from __future__ import annotations

import pytest

from whichlayer.analysis.steps.model import Phase
from whichlayer.analysis.steps.phase_names import phase_of
from whichlayer.analysis.trace.kinds import SliceKind

NOTE, FRAME, OPERATOR = SliceKind.ANNOTATION, SliceKind.PYTHON, SliceKind.CPU_OP


@pytest.mark.parametrize(
    ("kind", "name", "phase"),
    [
        (NOTE, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", Phase.INPUT),
        (NOTE, "## copy_batch_to_gpu ##", Phase.INPUT),
        (NOTE, "gpu_model_runner: preprocess", Phase.INPUT),
        (NOTE, "## forward:split_sparse_features ##", Phase.FORWARD),
        (NOTE, "DistributedDataParallel.forward", Phase.FORWARD),
        (NOTE, "## backward ##", Phase.BACKWARD),
        (NOTE, "FSDP::pre_backward (layer.3)", Phase.BACKWARD),
        (NOTE, "Optimizer.step#AdamW.step", Phase.OPTIMIZER),
        (NOTE, "Optimizer.zero_grad#SGD.zero_grad", Phase.OPTIMIZER),
        (NOTE, "## zero_grad ##", Phase.OPTIMIZER),
        (OPERATOR, "autograd::engine::evaluate_function: AddmmBackward0", Phase.BACKWARD),
        (OPERATOR, "CudnnConvolutionBackward", Phase.BACKWARD),
        (OPERATOR, "torch::autograd::AccumulateGrad", Phase.BACKWARD),
        (FRAME, "nn.Module: Linear_3", Phase.FORWARD),
        (FRAME, "torch/utils/data/dataloader.py(631): __next__", Phase.INPUT),
        (FRAME, "C:\\venv\\torch\\utils\\data\\dataloader.py(631): __next__", Phase.INPUT),
        (FRAME, "torch/optim/sgd.py(80): step", Phase.OPTIMIZER),
        (FRAME, "torch/nn/utils/clip_grad.py(10): clip_grad_norm_", Phase.OPTIMIZER),
        (FRAME, "<built-in method run_backward of torch._C._EngineBase object>", Phase.BACKWARD),
        (FRAME, "vllm/v1/worker/gpu_model_runner.py(3102): _model_forward", Phase.FORWARD),
    ],
)
def test_names_of_phases(kind: SliceKind, name: str, phase: Phase) -> None:
    assert phase_of(kind, name) == phase


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (NOTE, "nccl:all_reduce"),
        (NOTE, "ProfilerStep#3"),
        (NOTE, "execute_model"),
        (NOTE, "forwarding table"),
        (NOTE, "###"),
        (NOTE, ""),
        (OPERATOR, "aten::forward"),
        (OPERATOR, "aten::convolution_backward"),
        (OPERATOR, "Backward"),
        (FRAME, "torch/optim/lr_scheduler.py(130): step"),
        (FRAME, "train.py(10): main"),
        (FRAME, "train.py(12): step_forward_now"),
        (SliceKind.RUNTIME, "forward"),
        (SliceKind.KERNEL, "forward"),
    ],
)
def test_names_of_none(kind: SliceKind, name: str) -> None:
    assert phase_of(kind, name) is None


@pytest.mark.parametrize("text", ["a" * 1_000_000 + "Backward!", "torch/optim/" * 50_000 + "x"])
def test_a_name_without_end_takes_no_time(text: str) -> None:
    for kind in (NOTE, FRAME, OPERATOR):
        assert phase_of(kind, text) is None
