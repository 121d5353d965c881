"""Settings of rules: defaults, what replaces them, and what is refused."""

from __future__ import annotations

import math

import pytest

from whichlayer.analysis.findings.catalogue import all_rules
from whichlayer.analysis.options import Options
from whichlayer.analysis.quality.catalogue import gates_by_id
from whichlayer.analysis.settings import (
    FINDINGS,
    defaults,
    enabled,
    is_share,
    listed_from,
    listing,
    refuse_unknown,
    threshold,
    thresholds,
    used,
)


def test_without_settings_each_threshold_is_that_of_its_rule_or_gate() -> None:
    defaults = {name: rule.thresholds for name, rule in all_rules().items()}
    defaults |= {name: gate.thresholds for name, gate in gates_by_id().items()}
    for rule_id, expected in defaults.items():
        assert thresholds(Options(), rule_id) == dict(expected)
        assert enabled(Options(), rule_id)


def test_a_setting_replaces_its_default_and_no_other() -> None:
    options = Options(settings={"host-sync": {"major": 0.4}})
    assert threshold(options, "host-sync", "major") == 0.4
    assert threshold(options, "host-sync", "note") == 0.05
    assert threshold(options, "dataloader-wait", "major") == 0.20


def test_the_least_share_of_findings_holds_for_rules_that_do_not_set_their_own() -> None:
    settings = {FINDINGS: {"min_share": 0.02}, "host-sync": {"note": 0.1}}
    options = Options(settings=settings, origins={"rules.host-sync.note": "a.toml:3"})
    assert listed_from(options, "host-sync") == 0.1
    assert listed_from(options, "allocator") == threshold(options, "allocator", "note") == 0.02
    assert listed_from(options, "memory-bound-slow") == 0.02
    assert listing(options, "host-sync") == "rules.host-sync.note = 10 % (a.toml:3)"
    assert listing(options, "allocator") == "findings.min_share = 2 % (as set)"
    assert listing(Options(), "allocator") == "findings.min_share = 5 %"


def test_a_setting_in_words_keeps_its_unit() -> None:
    assert used(Options(), "python-overhead", "min_us") == "rules.python-overhead.min_us = 200"
    assert used(Options(), "Q2", "lost") == "rules.Q2.lost = 2 %"


def test_a_rule_is_off_only_where_it_is_switched_off() -> None:
    options = Options(rules_off=frozenset({"host-sync"}))
    assert not enabled(options, "host-sync")
    assert enabled(options, "allocator")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(settings={"host-snyc": {}}), "did you mean host-sync?"),
        (Options(settings={"host-sync": {"majr": 0.1}}), "did you mean major?"),
        (Options(settings={"host-sync": {"zzz": 0.1}}), "it has note, major"),
        (Options(settings={"Q1": {"share": 0.1}}), "it has none"),
        (Options(settings={"host-sync": {"major": 25}}), "rules.host-sync.major: 25 is no share"),
        (Options(settings={"host-sync": {"major": math.nan}}), "nan is no share"),
        (Options(settings={"Q5": {"noise_us": -1}}), "-1 is no number from zero"),
        (Options(settings={"Q5": {"noise_us": math.inf}}), "inf is no number from zero"),
        (Options(rules_off=frozenset({"allocatr"})), "did you mean allocator?"),
        (Options(rules_off=frozenset({FINDINGS})), "there is no rule 'findings'"),
    ],
)
def test_what_no_rule_reads_is_refused_in_one_line(options: Options, said: str) -> None:
    with pytest.raises(ValueError) as caught:
        refuse_unknown(options)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_default_is_itself_in_range() -> None:
    refuse_unknown(Options(settings=defaults()))


def test_shares_are_told_from_counts_ratios_and_times() -> None:
    assert is_share("host-sync", "major")
    assert is_share("low-occupancy", "occupancy")
    assert not is_share("Q8", "first_step")
    assert not is_share("python-overhead", "min_us")
    assert not is_share("Q10", "bandwidth")
