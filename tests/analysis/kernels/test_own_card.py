"""The roof of a recording made by whichlayer is that of its very card."""

from __future__ import annotations

from typing import Any

import pytest

from whichlayer.analysis.kernels.peaks import match_device
from whichlayer.analysis.live.card_key import CARDS_KEY
from whichlayer.analysis.options import Options

H100 = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85_028_634_624,
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
}
CARD = {
    "index": 0,
    "name": H100["name"],
    "sms": 132,
    "memoryClockKHz": 2_619_000,
    "memoryBusBits": 5120,
}


def bandwidth(card: Any, **entry: Any) -> float | None:
    return match_device({**H100, **entry}, {CARDS_KEY: card}, Options()).bandwidth_gbps


def test_clock_and_bus_of_the_card_go_before_the_table() -> None:
    found = match_device(H100, {CARDS_KEY: [CARD]}, Options())
    assert found.bandwidth_gbps == pytest.approx(3352.32)
    assert "this card's own memory clock and bus" in found.note
    assert "bandwidth" not in found.unconfirmed
    assert found.model == match_device(H100, {}, Options()).model


def test_a_card_that_no_table_has_gets_its_roof() -> None:
    card = {**CARD, "name": "NVIDIA Z9", "memoryClockKHz": 9_000_000}
    assert bandwidth([card], name="NVIDIA Z9") == pytest.approx(11_520)


@pytest.mark.parametrize(
    "cards",
    [
        None,
        {},
        "x",
        [None, 3, []],
        [{**CARD, "index": 1}],
        [{**CARD, "name": "NVIDIA A100-SXM4-80GB"}],
        [{**CARD, "memoryClockKHz": 1_300_000}],
        [{**CARD, "memoryClockKHz": True}],
        [{**CARD, "memoryClockKHz": "2619000"}],
        [{**CARD, "memoryClockKHz": -1}],
        [{**CARD, "memoryBusBits": 1 << 400}],
        [{**CARD, "memoryBusBits": float("nan")}],
        [{"index": 0, "name": H100["name"]}],
    ],
)
def test_what_is_not_the_cards_own_word_changes_nothing(cards: Any) -> None:
    table = match_device(H100, {}, Options())
    assert match_device(H100, {CARDS_KEY: cards}, Options()) == table


def test_a_slice_of_a_card_has_no_such_bandwidth() -> None:
    name = "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
    entry = {"name": name, "numSms": 16, "totalGlobalMem": 10 << 30}
    without = match_device({**H100, **entry}, {}, Options()).bandwidth_gbps
    assert bandwidth([{**CARD, "name": name}], **entry) == without


def test_what_the_user_says_goes_before_the_card() -> None:
    asked = Options(peak_bandwidth_gbps=1000.0)
    assert match_device(H100, {CARDS_KEY: [CARD]}, asked).bandwidth_gbps == 1000.0
