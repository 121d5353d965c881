"""Collectives, copies and their overlap with compute as JSON rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whichlayer.analysis.communication.calls import Overlap, overlaps_of
from whichlayer.analysis.communication.collectives import CollectiveGroup, find_collectives
from whichlayer.analysis.communication.copies import CopyGroup, find_copies
from whichlayer.analysis.communication.job import compare_devices
from whichlayer.analysis.report import json_values as values
from whichlayer.analysis.report.json_comparison import comparison_fields
from whichlayer.analysis.results import Analysis


def communication_fields(analysis: Analysis) -> dict[str, Any]:
    """The fields ``communication``, ``copies``, ``overlap`` and ``comparison`` of all devices."""
    compared = compare_devices(analysis)
    numbers = [device.number for device in analysis.devices]
    return {
        "communication": values.rows(
            {"device": numbers[group.device], **_collective(group)}
            for group in find_collectives(analysis)
        ),
        "copies": values.rows(
            {"device": numbers[group.device], **_copies(group)} for group in find_copies(analysis)
        ),
        "overlap": values.rows(overlap_rows(analysis)),
        "comparison": None if compared is None else comparison_fields(compared),
    }


def overlap_rows(analysis: Analysis) -> Iterator[dict[str, Any]]:
    """One row per device, with its streams."""
    for overlap in overlaps_of(analysis):
        yield {
            "device": analysis.devices[overlap.device].number,
            "communication": _overlap(overlap.communication),
            "copies": _overlap(overlap.copies),
            "streams": [
                {"stream": stream.stream, **_overlap(stream)} for stream in overlap.streams
            ],
        }


def _collective(group: CollectiveGroup) -> dict[str, Any]:
    known = group.known
    algorithm, bus = group.algbw_gbps, group.busbw_gbps
    return {
        "kind": known.kind,
        "process_group": values.words(known.group),
        "process_group_description": values.words(known.group_text),
        "ranks": list(known.members) or None,
        "group_size": values.integer(known.ranks),
        "dtype": known.dtype,
        "in_elements": values.integer(known.given),
        "out_elements": values.integer(known.got),
        "bytes": values.integer(group.bytes),
        "bytes_from": values.words(known.source),
        "calls": group.calls,
        "total_us": values.microseconds(group.total_ns),
        "exposed_us": values.microseconds(group.exposed_ns),
        "hidden_us": values.microseconds(group.hidden_ns),
        "shared_us": values.microseconds(group.shared_ns),
        "algbw_gbps": None if algorithm is None else values.number(algorithm[0]),
        "best_algbw_gbps": None if algorithm is None else values.number(algorithm[1]),
        "busbw_gbps": None if bus is None else values.number(bus[0]),
        "best_busbw_gbps": None if bus is None else values.number(bus[1]),
        "streams": list(group.streams),
        "kernels": values.texts(group.kernels),
        "why": values.words(group.why),
    }


def _copies(group: CopyGroup) -> dict[str, Any]:
    return {
        "direction": group.direction,
        "memory": group.memory,
        "calls": group.calls,
        "bytes": values.integer(group.bytes),
        "gbps": values.number(group.gbps),
        "total_us": values.microseconds(group.total_ns),
        "exposed_us": values.microseconds(group.exposed_ns),
        "hidden_us": values.microseconds(group.hidden_ns),
        "shared_us": values.microseconds(group.shared_ns),
        "streams": list(group.streams),
        "why": values.words(group.why),
    }


def _overlap(overlap: Overlap) -> dict[str, Any]:
    return {
        "busy_us": values.microseconds(overlap.busy_ns),
        "hidden_us": values.microseconds(overlap.hidden_ns),
        "exposed_us": values.microseconds(overlap.exposed_ns),
    }
