"""Frames that prepare samples in the user's own loop wait for data like a loader."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.gaps.test_later_causes import told_of
from tests.support.program import Program, gap_time
from whichlayer.analysis.gaps.causes import dataloader_wait
from whichlayer.analysis.layers import Layer
from whichlayer.analysis.trace.kinds import SliceKind


def loading(*frames: str) -> Program:
    program = Program()
    program.kernel("before", 10, 20, (0, 5))
    for depth, name in enumerate(frames):
        program.frame(name, 40 + depth, 8000 - 2 * depth)
    program.kernel("next", 8066, 100, (8060, 5))
    return program


@pytest.mark.parametrize(
    "frame",
    [
        "my_dataset.py(30): __getitem__",
        "project/datasets/coco.py(81): __getitem__",
        "torchvision/datasets/folder.py(245): __getitem__",
        r"C:\work\Dataset.py(9): __getitems__",
        "data.py(30): ImageDataset.__getitem__",
        "train.py(44): pad_collate",
        "transformers/data/data_collator.py(92): __call__",
        "data.py(7): Collator.__call__",
    ],
)
def test_samples_and_collate_functions_are_the_loaders(tmp_path: Path, frame: str) -> None:
    analysis = loading("train.py(5): main", frame, "PIL/Image.py(2200): resize").analysis(tmp_path)
    assert gap_time(analysis)["dataloader-wait"] == pytest.approx(8000, abs=60)
    text = told_of(analysis, "dataloader-wait")
    assert text.layer == Layer.RUNTIME and "the training loop prepares samples itself" in text.fix


@pytest.mark.parametrize(
    "frame",
    [
        "pandas/core/frame.py(3760): __getitem__",
        "dataset_project/model/layers.py(12): __getitem__",
        "torch/nn/modules/container.py(334): __getitem__",
        "my_dataset.py(30): describe",
        "model.py(3): collapse",
    ],
)
def test_other_items_are_python(tmp_path: Path, frame: str) -> None:
    told = gap_time(loading("train.py(5): main", frame).analysis(tmp_path))
    assert "dataloader-wait" not in told
    assert told["python-overhead"] == pytest.approx(8000, abs=60)


def test_inside_a_loader_the_fix_is_the_loaders() -> None:
    sample = "my_dataset.py(30): __getitem__"
    single = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    fetch = "torch/utils/data/_utils/fetch.py(51): fetch"
    assert dataloader_wait.marks(sample, SliceKind.PYTHON, "python_function")
    assert "num_workers=0" in dataloader_wait.fix_for(sample, (fetch, single))
    assert dataloader_wait.fix_for(sample, (fetch,)) == dataloader_wait.RULE.fix
