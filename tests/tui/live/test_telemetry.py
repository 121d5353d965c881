"""Figures of GPUs where a driver tells them, nothing where none does."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from whichlayer.tui.live.telemetry import Reading, Telemetry, find_driver


def module(name: str, **functions: Any) -> ModuleType:
    made = ModuleType(name)
    for key, value in functions.items():
        setattr(made, key, value)
    return made


def fails(*arguments: Any) -> Any:
    raise RuntimeError("not supported")


NVML = {
    "nvmlInit": lambda: None,
    "nvmlDeviceGetCount": lambda: 2,
    "nvmlDeviceGetHandleByIndex": lambda index: index,
    "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(used=12 << 30, total=80 << 30),
    "nvmlDeviceGetPowerUsage": lambda handle: 281_400,
    "nvmlDeviceGetUtilizationRates": lambda handle: SimpleNamespace(gpu=63),
    "nvmlDeviceGetClockInfo": lambda handle, kind: 1410,
    "NVML_CLOCK_SM": 1,
}


def test_nvml_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", module("pynvml", **NVML))
    read = find_driver()
    assert read is not None
    assert read() == [Reading(63, 12 << 30, 80 << 30, 281.4, 1410)] * 2
    assert read()[0].text == "63 % 12.0/80 GiB 281 W 1410 MHz"


def test_what_a_card_does_not_tell_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {**NVML, "nvmlDeviceGetPowerUsage": fails, "nvmlDeviceGetUtilizationRates": fails}
    monkeypatch.setitem(sys.modules, "pynvml", module("pynvml", **some))
    read = find_driver()
    assert read is not None and read()[0].text == "12.0/80 GiB 1410 MHz"


def test_amd_smi_is_read_where_there_is_no_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    smi = module(
        "amdsmi",
        amdsmi_init=lambda: None,
        amdsmi_get_processor_handles=lambda: ["gpu"],
        amdsmi_get_gpu_vram_usage=lambda handle: {"vram_used": 1024, "vram_total": 196_608},
        amdsmi_get_gpu_activity=lambda handle: {"gfx_activity": 7},
        amdsmi_get_power_info=lambda handle: {
            "current_socket_power": "N/A", "average_socket_power": 300,
        },
        amdsmi_get_clock_info=lambda handle, kind: {"clk": 2100},
        AmdSmiClkType=SimpleNamespace(GFX=0),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "pynvml", None)
    monkeypatch.setitem(sys.modules, "amdsmi", smi)
    read = find_driver()
    assert read is not None and read()[0].text == "7 % 1.0/192 GiB 300 W 2100 MHz"


def test_without_a_driver_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", module("pynvml", nvmlInit=fails))
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    assert find_driver() is None
    telemetry = Telemetry(find_driver)
    telemetry._run()
    assert telemetry.text() == ""


def test_many_gpus_take_no_more_room_than_two() -> None:
    telemetry = Telemetry(lambda: None)
    telemetry.readings = (Reading(5, None, None, None, None),) * 8
    assert telemetry.text() == "GPU0 5 %  GPU1 5 % +6"
