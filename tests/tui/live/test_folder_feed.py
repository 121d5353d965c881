"""What lands in a folder, as windows by rank."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.live.live_screen import opened, shot
from whichlayer.analysis.follow.folder import Changes, Seen
from whichlayer.tui.live.folder_feed import FolderFeed, source_of
from whichlayer.tui.live.model import LiveModel


def seen(folder: Path, name: str, size: int = 5) -> Seen:
    return Seen(str(folder / name), size, 1, (1, hash(name) & 0xFFFF))


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("rank3_trace.json", "rank 3"),
        ("worker12.1700.pt.trace.json.gz", "rank 12"),
        ("1700000-TP-1.trace.json.gz", "TP 1"),
        ("1700000-TP-1-DP-0-EXTEND.trace.json.gz", "TP 1 DP 0"),
        ("host_4711.1700.pt.trace.json", ""),
        ("pid4711_window0001_steps3-5.json.gz", "process 4711"),
        ("rank0_pid4711_window0001_steps3-5.json.gz", "rank 0 (process 4711)"),
    ],
)
def test_ranks_are_told_by_the_names_that_tools_give(name: str, source: str) -> None:
    assert source_of(f"/runs/{name}") == source


def test_windows_go_to_their_ranks_and_one_can_be_kept_alone(tmp_path: Path) -> None:
    changes = Changes(ready=(seen(tmp_path, "rank0.json"), seen(tmp_path, "rank1.json")))
    every, one = LiveModel(), LiveModel()
    FolderFeed(str(tmp_path)).apply(every, changes)
    FolderFeed(str(tmp_path), rank=1).apply(one, changes)
    assert every.sources == ["rank 0", "rank 1"] and one.sources == ["rank 1"]
    assert [shot.label for shot in one.line] == ["rank1.json"]


def test_a_rank_that_arrives_later_is_told_and_one_that_was_there_is_not(tmp_path: Path) -> None:
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    feed.apply(model, Changes(ready=(seen(tmp_path, "rank0.json"), seen(tmp_path, "rank1.json"))))
    model.meet()
    assert model.arrived == "" and not model.notes and model.parties_text == "J: 2 ranks"
    feed.apply(model, Changes(ready=(seen(tmp_path, "rank0_2.json"),)))
    model.meet()
    assert model.arrived == "" and not model.notes
    feed.apply(model, Changes(ready=(seen(tmp_path, "rank2.json"),)))
    for _ in range(2):
        model.meet()
    assert list(model.notes) == ["rank 2 has arrived, J: 3 ranks"] and model.arrived == "rank 2"
    model.choose_source("rank 2")
    assert model.arrived == ""


def test_a_trace_counts_as_a_rank_of_its_own_only_once_it_is_known_whose_it_is(
    tmp_path: Path,
) -> None:
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    feed.apply(model, Changes(ready=(seen(tmp_path, "rank0.json"),)))
    model.meet()
    feed.apply(model, Changes(ready=(seen(tmp_path, "b.json"),)))
    model.meet()
    assert model.parties_text == "" and model.arrived == ""
    document, _ = opened(shot(1))
    model.shots[2] = feed.learned(model.shots[2], document)
    model.meet()
    assert model.parties_text == "J: 2 ranks" and model.arrived == "rank 3"


def test_a_rank_that_only_the_trace_tells_is_learned(tmp_path: Path) -> None:
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    feed.apply(model, Changes(ready=(seen(tmp_path, "a.json"),)))
    document, _ = opened(shot(1))
    model.shots[1] = feed.learned(model.shots[1], document)
    assert model.sources == ["rank 3"]
    assert feed.learned(replace(model.shots[1], source="TP 0"), document).source == "TP 0"


def test_rewritten_renamed_and_removed_files_keep_their_cells(tmp_path: Path) -> None:
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    first = seen(tmp_path, "a.json")
    feed.apply(model, Changes(ready=(first,), writing=(seen(tmp_path, "b.json", 7),)))
    assert model.writing == (("b.json", 7),)
    document, _ = opened(shot(1))
    feed.hold(model.shots[1], document)
    feed.apply(model, Changes(rewritten=(replace(first, size=9),)))
    assert model.shots[1].file_bytes == 9 and feed.held(model.shots[1]) is None
    moved = replace(first, path=str(tmp_path / "c.json"))
    feed.apply(model, Changes(moved=((first.path, moved),)))
    assert model.shots[1].label == "c.json" and len(model.shots) == 1
    feed.apply(model, Changes(removed=(moved.path,)))
    assert model.gone == {1} and "removed" in model.notes[-1]
    feed.apply(model, Changes(ready=(moved,)))
    assert list(model.shots) == [1, 2]


def test_a_folder_that_cannot_be_read_is_told_once(tmp_path: Path) -> None:
    feed, model = FolderFeed(str(tmp_path)), LiveModel()
    for _ in range(3):
        feed.apply(model, Changes(failure="no such folder"))
    assert len(model.notes) == 1


def test_what_is_held_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = FolderFeed(str(tmp_path))
    document, _ = opened(shot(1))
    monkeypatch.setattr("whichlayer.tui.live.feed._MOST_HELD_BYTES", 100_000)
    for number in range(1, 20):
        feed.hold(shot(number), document)
    assert feed.held(shot(19)) is document and feed.held(shot(1)) is None


def test_saving_leaves_nothing_where_it_fails(tmp_path: Path) -> None:
    feed = FolderFeed(str(tmp_path))
    gone = replace(shot(1), path=tmp_path / "gone.json")
    with pytest.raises(OSError, match="No such file"):
        feed.save(gone, tmp_path / "kept.json")
    assert list(tmp_path.iterdir()) == []
    shutil.copy(__file__, tmp_path / "here.json")
    feed.save(replace(gone, path=tmp_path / "here.json"), tmp_path / "kept.json")
    assert (tmp_path / "kept.json").read_bytes() == Path(__file__).read_bytes()
