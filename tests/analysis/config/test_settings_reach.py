"""What is set changes what is found, on one and the same trace: nothing is remembered."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.support.program import Program, gap_time
from whichlayer.analysis import analyse, load
from whichlayer.analysis.findings.source_roots import below_root
from whichlayer.analysis.findings.where import is_users_frame
from whichlayer.analysis.kernels.peaks import match_device
from whichlayer.analysis.options import Options, Peaks
from whichlayer.analysis.results import Analysis
from whichlayer.analysis.trace.columns import Trace
from whichlayer.tui.samples import sample_path


@cache
def sample(name: str) -> Trace:
    return load(str(sample_path(name)), cache=False)


def found(name: str, **options: object) -> Analysis:
    return analyse(sample(name), Options(**options))  # type: ignore[arg-type]


def rules_of(analysis: Analysis) -> list[str]:
    return [finding.rule for finding in analysis.findings]


def codes_of(analysis: Analysis) -> set[str]:
    return {warning.code for warning in analysis.warnings}


def test_a_cause_that_is_off_lists_nothing_and_its_time_keeps_its_owner() -> None:
    before = found("host-sync")
    after = found("host-sync", rules_off=frozenset({"host-sync"}))
    assert "host-sync" in rules_of(before)
    assert rules_of(after) == [one for one in rules_of(before) if one != "host-sync"]
    assert after.budget == before.budget


def test_a_kernel_rule_that_is_off_explains_nothing() -> None:
    rule = "memory-bound-slow"
    before = found(rule)
    after = found(rule, rules_off=frozenset({rule}))
    assert rule in rules_of(before) and rule not in rules_of(after)
    assert after.budget.total_ns == before.budget.total_ns


def test_the_least_share_lists_more_or_fewer_findings() -> None:
    assert not rules_of(found("host-sync", settings={"findings": {"min_share": 1.0}}))
    assert len(rules_of(found("host-sync", settings={"findings": {"min_share": 0.0001}}))) > len(
        rules_of(found("host-sync"))
    )


def test_a_rules_own_note_goes_before_the_least_share() -> None:
    settings = {"host-sync": {"note": 1.0}}
    assert "host-sync" not in rules_of(found("host-sync", settings=settings))
    assert "host-sync" in rules_of(found("host-sync"))


def test_a_finding_names_the_setting_and_where_it_was_set() -> None:
    origins = {"rules.host-sync.major": "a.toml:3", "findings.min_share": "b.toml:7"}
    settings = {"host-sync": {"major": 0.001}, "findings": {"min_share": 0.01}}
    told = {
        finding.rule: finding.threshold
        for finding in found("host-sync", settings=settings, origins=origins).findings
    }
    assert told["host-sync"] == "rules.host-sync.major = 0.1 % (a.toml:3)"
    settings["host-sync"]["major"] = 1.0
    told = {
        finding.rule: finding.threshold
        for finding in found("host-sync", settings=settings, origins=origins).findings
    }
    assert told["host-sync"] == "findings.min_share = 1 % (b.toml:7)"


def test_a_kernel_rule_is_held_to_what_is_set_and_tells_it() -> None:
    rule = "memory-bound-slow"
    settings = {rule: {"bandwidth": 0.0}}
    assert rule not in {group.rule for group in found(rule, settings=settings).kernels}
    near = {rule: {"bandwidth": 0.61}}
    origins = {f"rules.{rule}.bandwidth": "a.toml:3"}
    finding = next(
        one for one in found(rule, settings=near, origins=origins).findings if one.rule == rule
    )
    assert any("bandwidth = 0.61 (a.toml:3)" in line for line in finding.evidence)


def test_what_no_rule_reads_is_refused_by_the_analysis() -> None:
    with pytest.raises(ValueError, match="did you mean host-sync"):
        found("host-sync", settings={"host-snyc": {"note": 0.1}})


def test_python_counts_from_the_length_that_is_set(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.frame("train.py(3): log", 90, 900)
    program.kernel("second", 1016, 100, (1010, 5))
    trace = program.trace(tmp_path)
    assert "python-overhead" in gap_time(analyse(trace, Options()))
    longer = Options(settings={"python-overhead": {"min_us": 2000}})
    assert "python-overhead" not in gap_time(analyse(trace, longer))


def test_cpu_operators_count_from_the_length_that_is_set(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.operator("aten::sort", 90, 900)
    program.kernel("second", 1016, 100, (1010, 5))
    trace = program.trace(tmp_path)
    assert "cpu-operator" in gap_time(analyse(trace, Options()))
    longer = Options(settings={"cpu-operator": {"min_us": 2000}})
    assert "cpu-operator" not in gap_time(analyse(trace, longer))


def test_gates_fire_from_what_is_set_and_not_where_they_are_off() -> None:
    trace = sample("host-sync")
    steps = len(analyse(trace).window.steps)
    assert "Q12" not in codes_of(analyse(trace))
    more = Options(settings={"Q12": {"steps": steps + 1}})
    warned = analyse(trace, more)
    assert "Q12" in codes_of(warned)
    assert {finding.confidence for finding in warned.findings} == {"low"}
    off = analyse(trace, Options(settings=more.settings, rules_off=frozenset({"Q12"})))
    assert "Q12" not in codes_of(off)
    assert [one.confidence for one in off.findings] == [
        one.confidence for one in analyse(trace).findings
    ]


def test_overlap_on_a_stream_is_told_from_the_time_that_is_set(tmp_path: Path) -> None:
    program = Program()
    program.kernel("first", 10, 90, (0, 5))
    program.kernel("second", 80, 90, (6, 5))
    trace = program.trace(tmp_path)
    assert "Q5" in codes_of(analyse(trace, Options()))
    assert "Q5" not in codes_of(analyse(trace, Options(settings={"Q5": {"noise_us": 21}})))
    assert "Q5" in codes_of(analyse(trace, Options(settings={"Q5": {"noise_us": 19}})))


def test_clocks_are_believed_up_to_what_is_set(tmp_path: Path) -> None:
    program = Program()
    for number in range(30):
        begin = 1000.0 * number
        program.kernel("early", begin + 10, 90, (begin + 60, 5))
    trace = program.trace(tmp_path)
    doubt = Options(settings={"Q4": {"trusted_us": 20, "believed_us": 20}})
    assert np.all(analyse(trace, doubt).floor_ns <= analyse(trace, Options()).floor_ns)
    assert "no gap has an owner" in _said(analyse(trace, doubt), "Q4")
    assert "no gap has an owner" not in _said(analyse(trace, Options()), "Q4")


def _said(analysis: Analysis, code: str) -> str:
    return " ".join(one.message for one in analysis.warnings if one.code == code)


@pytest.mark.parametrize(
    ("frame", "roots", "users"),
    [
        ("/home/me/job/train.py(1): f", ["/home/me/job"], True),
        ("/home/me/other/train.py(1): f", ["/home/me/job"], False),
        ("/home/me/jobs/train.py(1): f", ["/home/me/job"], False),
        ("/build/3/src/train.py(1): f", ["src"], True),
        ("/build/3/lib/train.py(1): f", ["src"], False),
        ("vllm/model.py(1): f", ["/home/me/vllm"], True),
        ("vllm/model.py(1): f", ["src"], False),
        ("train.py(1): f", ["/home/me/job"], True),
        ("torch/nn/modules/module.py(1): f", ["/home/me/job"], False),
        ("/home/me/job/.venv/lib/python3.11/site-packages/timm/x.py(1): f", ["/home/me/job"], False),
        ("/env/lib/python3.11/site-packages/mine/x.py(1): f", ["site-packages/mine"], True),
        ("/env/lib/python3.11/site-packages/mine/x.py(1): f", [], False),
        ("C:\\job\\train.py(1): f", ["C:/job"], True),
        ("C:\\other\\train.py(1): f", ["C:/job"], False),
        ("<frozen importlib>(1): f", ["/"], False),
    ],
)  # fmt: skip
def test_source_roots_tell_the_users_code(frame: str, roots: list[str], users: bool) -> None:
    assert is_users_frame(frame, roots) is users


def test_an_empty_root_holds_nothing() -> None:
    assert below_root("/a/b.py", ["", ".", "/"]) is None


def test_a_finding_is_placed_in_the_roots(tmp_path: Path) -> None:
    program = Program()
    program.frame("/job/src/train.py(1): main", 0, 20_000)
    program.frame("/job/vendored/helper.py(2): wait", 100, 9_000)
    program.kernel("first", 10, 90, (0, 5))
    program.call("cudaDeviceSynchronize", 110, 8_000)
    program.kernel("second", 15_010, 100, (15_000, 5))
    trace = program.trace(tmp_path)
    plain = {str(one.where) for one in analyse(trace, Options()).findings}
    rooted = {str(one.where) for one in analyse(trace, Options(source_roots=("src",))).findings}
    assert "/job/vendored/helper.py:2" in plain
    assert rooted == {"/job/src/train.py:1"}


def test_peaks_that_a_user_sets_are_confirmed_and_the_rest_stay_as_they_are() -> None:
    entry = {"name": "NVIDIA GB300", "id": 0}
    before = match_device(entry, {}, Options())
    assert {"bandwidth", "bf16"} & before.unconfirmed or before.confirmed is False
    peaks = {"GB300": Peaks(7000, {"bf16": 2400})}
    after = match_device(entry, {}, Options(peaks=peaks, origins={'peaks."GB300".bf16': "a:3"}))
    assert after.bandwidth_gbps == 7000 and after.tflops["bf16"] == 2400
    assert not {"bandwidth", "bf16"} & after.unconfirmed
    assert before.unconfirmed - {"bandwidth", "bf16"} == after.unconfirmed
    assert after.tflops["fp8"] == before.tflops["fp8"]
    assert "bandwidth, bf16 as set (a:3)" in after.note


def test_peaks_of_a_card_that_no_table_has_are_found_by_its_recorded_name() -> None:
    entry = {"name": "NVIDIA Foo 9000", "id": 0}
    options = Options(peaks={"nvidia foo 9000": Peaks(900, {"fp16": 90})})
    match = match_device(entry, {}, options)
    assert (match.bandwidth_gbps, dict(match.tflops)) == (900, {"fp16": 90})
    assert not match.unconfirmed


def test_peaks_of_a_whole_card_are_scaled_for_a_part_of_it() -> None:
    entry = {"name": "NVIDIA A100-SXM4-80GB MIG 3g.40gb", "id": 0, "numSms": 42}
    match = match_device(entry, {}, Options(peaks={"A100 SXM4 80": Peaks(None, {"bf16": 108})}))
    assert match.tflops["bf16"] == pytest.approx(42)


def test_typed_peaks_go_before_those_of_files() -> None:
    options = Options(peaks={"GB300": Peaks(7000)}, peak_bandwidth_gbps=6000)
    assert match_device({"name": "NVIDIA GB300"}, {}, options).bandwidth_gbps == 6000
