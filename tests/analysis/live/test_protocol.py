"""Messages arrive as they were sent, and nothing else is taken for one."""

from __future__ import annotations

import json
import socket
import struct
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whichlayer.analysis.live.protocol import (
    FROM_RECORDER,
    FROM_SCREEN,
    MAGIC,
    MOST_HEAD,
    Message,
    ProtocolError,
    receive,
    send,
)

LENGTHS = struct.Struct(">4sIQ")


def sent(data: bytes, allowed: frozenset[str] = FROM_RECORDER, **settings: Any) -> Message | None:
    """What is received of some bytes after which the connection ends."""
    here, there = socket.socketpair()
    with here, there:
        here.settimeout(5)
        there.settimeout(5)

        def write() -> None:
            there.sendall(data)
            there.shutdown(socket.SHUT_WR)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            return receive(here, allowed, **settings)
        finally:
            here.close()
            writer.join()


def written(message: Message) -> bytes:
    here, there = socket.socketpair()
    with here, there:
        send(there, message)
        there.close()
        return b"".join(iter(lambda: here.recv(1 << 16), b""))


values = st.one_of(st.integers(-(2**62), 2**62), st.text(max_size=20), st.booleans(), st.none())


@given(
    st.sampled_from(sorted(FROM_RECORDER)),
    st.dictionaries(st.text(max_size=10).filter(lambda key: key != "kind"), values, max_size=5),
    st.binary(max_size=2000),
)
def test_messages_arrive_as_they_were_sent(
    kind: str, fields: dict[str, Any], payload: bytes
) -> None:
    message = Message(kind, fields, payload if kind == "window" else b"")
    assert sent(written(message)) == message


def test_a_connection_that_ends_between_messages_is_no_error() -> None:
    assert sent(b"") is None


@pytest.mark.parametrize("cut", [1, 4, 15, 17, 40, -1])
def test_a_message_that_is_cut_off_is_an_error(cut: int) -> None:
    data = written(Message("window", {"number": 1}, b"x" * 100))
    with pytest.raises(ProtocolError, match="ended after"):
        sent(data[:cut])


def framed(head: bytes, payload: bytes = b"", magic: bytes = MAGIC) -> bytes:
    return LENGTHS.pack(magic, len(head), len(payload)) + head + payload


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "not a message"),
        (framed(b"{}", magic=b"WLv2"), "another version"),
        (framed(b"{"), "no JSON"),
        (framed(b"[" * 60_000), "no JSON"),
        (framed(b"\xff\xfe"), "no JSON"),
        (framed(b"[]"), "no object"),
        (framed(b"{}"), "kind"),
        (framed(b'{"kind": 3}'), "kind"),
        (framed(b'{"kind": "record"}'), "kind"),
        (framed(b'{"kind": "note"}', b"x"), "payload"),
        (LENGTHS.pack(MAGIC, MOST_HEAD + 1, 0), "too large"),
        (LENGTHS.pack(MAGIC, 2, 2**63), "too large"),
    ],
)
def test_what_is_no_message_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason):
        sent(data)


def test_a_payload_beyond_what_one_is_ready_to_hold_is_refused_before_it_is_read() -> None:
    data = written(Message("window", {}, b"x" * 1000))
    with pytest.raises(ProtocolError, match="too large"):
        sent(data, most_payload=999)
    assert sent(data, most_payload=1000) is not None


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    try:
        message = sent(data, FROM_SCREEN)
    except ProtocolError as error:
        assert "\n" not in str(error)
    else:
        assert message is None or message.kind in FROM_SCREEN


def test_fields_of_another_type_count_as_absent() -> None:
    message = Message("state", {"step": "3", "reason": 4, "own": True})
    assert (message.number("step"), message.text("reason"), message.number("own")) == (
        None,
        "",
        None,
    )
    assert Message("state", {"step": 3}).number("step") == 3


def test_a_message_that_is_no_json_is_not_sent() -> None:
    with pytest.raises(ValueError, match="JSON"):
        written(Message("state", {"x": float("nan")}))
    with pytest.raises(ValueError, match="bytes"):
        written(Message("note", {"text": "x" * MOST_HEAD}))
    assert json.loads(written(Message("note", {"text": "é"}))[LENGTHS.size :])["text"] == "é"
