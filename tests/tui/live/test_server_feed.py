"""Recorders on the screen: told apart, and asked for windows each for itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.live_peer import hello, peer_of, wait_for
from whichlayer.analysis.live.events import Joined, Left, StateTold
from whichlayer.analysis.live.history import History
from whichlayer.analysis.live.protocol import FROM_SCREEN, Message, receive
from whichlayer.analysis.live.server import LiveServer
from whichlayer.tui.live.model import LiveModel
from whichlayer.tui.live.server_feed import ServerFeed


@pytest.fixture
def server() -> Iterator[LiveServer]:
    server = LiveServer(History())
    yield server
    server.close()


@pytest.mark.parametrize(
    ("rank", "names"),
    [
        (None, ["process 11", "process 12"]),
        (0, ["rank 0", "rank 0 (process 12)"]),
    ],
)
def test_two_of_one_rank_or_of_none_are_told_and_asked_apart(
    server: LiveServer, rank: int | None, names: list[str]
) -> None:
    path = server.listen()
    model, feed = LiveModel(), ServerFeed(server, "")
    with peer_of(path, hello(pid=11, rank=rank)) as first:
        feed.apply(model, wait_for(server, Joined))
        with peer_of(path, hello(pid=12, rank=rank)) as second:
            feed.apply(model, wait_for(server, Joined))
            assert model.sources == names
            assert feed.record(5, names[1]) == "asked for the next 5 steps"
            kinds = [receive(second, FROM_SCREEN), receive(second, FROM_SCREEN)]
            assert [one.kind if one else "" for one in kinds] == ["join", "record"]
            feed.pause(names[0])
            kinds = [receive(first, FROM_SCREEN), receive(first, FROM_SCREEN)]
            assert [one.kind if one else "" for one in kinds] == ["join", "pause"]


def test_who_is_refused_is_not_told_to_wait_for_windows(server: LiveServer) -> None:
    path = server.listen()
    model, feed = LiveModel(), ServerFeed(server, "", on_demand=True)
    bye = Message("bye", {"reason": "another screen is connected"})
    with peer_of(path, hello(pid=11), Message("state", {"phase": "idle", "step": 9}), bye):
        feed.apply(model, wait_for(server, Joined))
        feed.apply(model, wait_for(server, StateTold))
        assert "e records one" in feed.waits_for
        feed.apply(model, wait_for(server, Left))
    assert feed.waits_for == "no window: another screen is connected"
    assert model.told["rank 0"].gone
