from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report import json_report, render
from whichlayer.analysis.report.json_values import document, integer, microseconds, number, words
from whichlayer.analysis.results import Analysis, Budget

MakeAnalysis = Callable[..., Analysis]

SCHEMA = json.loads((files("whichlayer.analysis.report") / "report.schema.json").read_text())


def read(analysis: Analysis) -> dict[str, Any]:
    """The report with exact numbers, after checking it against the schema."""
    report = render(analysis, "json")
    Draft202012Validator(SCHEMA).validate(json.loads(report))
    found = json.loads(report, parse_float=Decimal, parse_constant=_no_constant)
    assert isinstance(found, dict)
    return found


def _no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def test_schema_is_valid_and_closed_against_unknown_fields() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    validator = Draft202012Validator(SCHEMA)
    assert any("was unexpected" in error.message for error in validator.iter_errors({"new": 1}))


def test_schema_version_of_the_report_is_that_of_the_schema(make_analysis: MakeAnalysis) -> None:
    report = read(make_analysis())
    assert report["schema_version"] == json_report.SCHEMA_VERSION
    assert SCHEMA["properties"]["schema_version"]["const"] == json_report.SCHEMA_VERSION
    assert SCHEMA["$id"].endswith(f":{json_report.SCHEMA_VERSION}")


def test_layers_and_unjudged_add_up_to_the_window_to_the_nanosecond(
    make_analysis: MakeAnalysis,
) -> None:
    report = read(make_analysis())
    for part in (report, *report["layers_by_device"], *report["layers_by_step"]):
        assert sum(part["layers"].values()) + part["unjudged_us"] == Decimal(1000)
    assert report["layers"]["none"] == Decimal("199.999")  # at the roof, spacing, edge
    assert report["layers"]["cuda"] == Decimal("150.001")
    assert report["layers"]["unknown"] == Decimal(50)


def test_budget_parts_add_up_to_the_window_to_the_nanosecond(make_analysis: MakeAnalysis) -> None:
    budget = read(make_analysis())["budget"]
    single = ("at_roof_us", "spacing_us", "unjudged_us", "edge_us")
    parts = sum(budget[name] for name in single)
    parts += sum(budget["losses"].values()) + sum(budget["gaps"].values())
    assert parts == budget["total_us"] == Decimal(1000)


def test_every_gap_and_every_kernel_group_is_listed(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    report = read(analysis)
    assert len(report["gaps"]) == len(analysis.gaps) == 2
    assert len(report["kernels"]) == len(analysis.kernels) == 2
    first, second = report["gaps"]
    assert (first["start_us"], first["end_us"]) == (Decimal(0), Decimal(400))
    assert (first["cause"], first["layer"], first["kind"]) == ("dataloader-wait", "runtime", "idle")
    assert (second["end_us"], second["kind"]) == (Decimal("550.001"), "exposed-copy")
    assert first["where"] == {
        "file": None,
        "line": None,
        "module": None,
        "operator": None,
        "record": "with_stack=True",
    }


def test_devices_are_named_by_their_recorded_number_everywhere(make_analysis: MakeAnalysis) -> None:
    report = read(make_analysis())
    assert report["devices"] == report["trace"]["devices"]
    numbers = {report["devices"][0]["index"]}
    numbers |= {entry["device"] for entry in report["gaps"]}
    numbers |= {entry["device"] for entry in report["layers_by_device"]}
    numbers |= {region["device"] for entry in report["findings"] for region in entry["regions"]}
    assert numbers == {3}


def test_time_lost_in_unjudged_kernels_is_null_and_not_zero(make_analysis: MakeAnalysis) -> None:
    judged, unjudged = read(make_analysis())["kernels"]
    assert judged["lost_us"] == Decimal("150.001") and judged["judged_calls"] == 2
    assert unjudged["lost_us"] is None and unjudged["judged_calls"] == 0


def test_nothing_of_the_contract_is_left_out(make_analysis: MakeAnalysis) -> None:
    report = read(make_analysis())
    assert report["not_analysed"] == {}
    assert report["compile"]["used"] is False and report["compile"]["reason"]
    assert report["memory"]["allocators"] == [] and report["memory"]["reason"]
    assert isinstance(report["custom_kernel"], list) and isinstance(report["vendor"], list)


def test_missing_values_are_null(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    bare = replace(analysis.devices[0], model=None, name="", model_note="", vendor="")
    trace = replace(analysis.trace, header={}, base_ns=None)
    report = read(replace(analysis, trace=trace, devices=(bare,)))
    assert report["trace"]["rank"] is None and report["trace"]["world_size"] is None
    assert report["trace"]["start_unix_ns"] is None
    device = report["devices"][0]
    assert [device[key] for key in ("model", "name", "model_note", "vendor")] == [None] * 4
    assert report["findings"][0]["recoverable_us"] is None
    assert report["trace"]["warnings"][1]["byte_offset"] is None


@pytest.mark.parametrize("rank", [True, -1, "3", 2.5, None, [3], {}])
def test_a_rank_of_a_wrong_type_is_null(make_analysis: MakeAnalysis, rank: object) -> None:
    analysis = make_analysis()
    trace = replace(analysis.trace, header={"distributedInfo": {"rank": rank}})
    assert read(replace(analysis, trace=trace))["trace"]["rank"] is None


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_null(make_analysis: MakeAnalysis, value: float) -> None:
    analysis = make_analysis()
    group = replace(analysis.kernels[0], gbps=value, roof_fraction=value, occupancy=value)
    report = read(replace(analysis, kernels=(group, analysis.kernels[1])))
    kernel = report["kernels"][0]
    assert (kernel["gbps"], kernel["roof_fraction"], kernel["occupancy"]) == (None, None, None)


def test_names_with_escape_codes_and_lone_surrogates_become_text(
    make_analysis: MakeAnalysis,
) -> None:
    analysis = make_analysis()
    hostile = "bad\x1b[31m\x07\udc80\u009b1m\n[b]name[/b]"
    group = replace(analysis.kernels[0], name=hostile, short_name=hostile)
    report = render(replace(analysis, kernels=(group, analysis.kernels[1])), "json").decode()
    name = json.loads(report)["kernels"][0]["name"]
    assert "[b]name[/b]" in name
    assert all(character.isprintable() for character in name)
    assert not any((ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 for c in report)


def test_a_warning_of_reader_and_analysis_is_told_once(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    both = replace(analysis, warnings=(*analysis.trace.warnings, *analysis.warnings))
    codes = [warning["code"] for warning in read(both)["trace"]["warnings"]]
    assert codes == ["truncated", "Q12"]


def test_an_analysis_without_devices_has_a_report(make_analysis: MakeAnalysis) -> None:
    analysis = make_analysis()
    nothing = Budget(0, 0, {}, {}, 0, 0, 0)
    none = np.zeros(0, np.int32)
    gaps = replace(
        analysis.gaps,
        **{
            name: getattr(analysis.gaps, name)[:0]
            for name in ("start_ns", "end_ns", "device", "kind", "cause", "layer")
        },
    )
    activities = replace(analysis.activities, group=none, judged=none.astype(bool))
    report = read(
        replace(
            analysis,
            devices=(),
            gaps=gaps,
            activities=activities,
            kernels=(),
            findings=(),
            budget=nothing,
            budget_by_device=(),
            budget_by_step=(nothing,),
        )
    )
    assert report["devices"] == report["gaps"] == report["kernels"] == []
    assert report["total_us"] == 0


def test_tables_hold_one_row_per_line(make_analysis: MakeAnalysis) -> None:
    lines = render(make_analysis(), "json").decode().splitlines()
    assert sum(line.startswith('{"start_us"') for line in lines) == 2


@given(st.integers(-(2**63), 2**63 - 1))
def test_microseconds_are_exact_with_three_decimals(ns: int) -> None:
    written = document({"time": microseconds(ns)}).decode().split()[2]
    assert Decimal(written) * 1000 == ns
    assert len(written.partition(".")[2]) == 3


@given(st.floats())
def test_a_number_is_finite_or_null_and_close(value: float) -> None:
    written = number(value)
    assert written is None if not np.isfinite(value) else written == pytest.approx(value, rel=1e-5)


@given(st.integers())
def test_integers_of_any_size_survive(value: int) -> None:
    assert json.loads(document({"count": integer(value)})) == {"count": value}


@given(st.text(st.characters()))
def test_any_text_can_be_written(text: str) -> None:
    written = words(text)
    assert json.loads(document({"name": written})) == {"name": written}


def test_layer_words_of_the_schema_are_the_layers() -> None:
    assert SCHEMA["$defs"]["layer"]["enum"] == [layer.id for layer in Layer]
    assert list(SCHEMA["$defs"]["layers"]["properties"]) == [layer.id for layer in Layer]
