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


class Refused(Exception):
    """As ``pynvml.NVMLError`` is no error of Python's own kinds."""


def refuses(*arguments: Any) -> Any:
    raise Refused("Insufficient Permissions")


def test_whom_the_driver_lets_see_nothing_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for refused in ("nvmlInit", "nvmlDeviceGetCount"):
        changed = module("pynvml", **{**NVML, refused: refuses})
        monkeypatch.setitem(sys.modules, "pynvml", changed)
        monkeypatch.setitem(sys.modules, "amdsmi", None)
        assert find_driver() is None


def test_a_card_that_may_not_be_asked_leaves_the_others_their_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def handle(index: int) -> int:
        return index if index else refuses()

    changed = module("pynvml", **{**NVML, "nvmlDeviceGetHandleByIndex": handle})
    monkeypatch.setitem(sys.modules, "pynvml", changed)
    read = find_driver()
    telemetry = Telemetry(lambda: None)
    assert read is not None
    telemetry.readings = tuple(read())
    assert telemetry.texts[0] == "GPU1 63 % 12.0/80 GiB 281 W 1410 MHz"


def test_a_driver_that_dies_takes_its_figures_along_and_comes_back_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = module("pynvml", **NVML)
    monkeypatch.setitem(sys.modules, "pynvml", changed)
    read = find_driver()
    telemetry = Telemetry(lambda: None)
    assert read is not None
    texts = []
    for broken in (False, True, False):
        for name, function in NVML.items():
            if name.startswith("nvmlDevice"):
                setattr(changed, name, refuses if broken else function)
        telemetry.readings = tuple(read())
        texts.append(telemetry.texts)
    assert texts[1] == () and texts[0] == texts[2] != ()


def test_what_a_card_is_divided_into_is_told_each_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def memory(handle: Any) -> Any:
        return SimpleNamespace(used=(3 if handle == "part 2" else 12) << 30, total=20 << 30)

    def part(card: int, number: int) -> str:
        return f"part {number}" if number == 2 else refuses()

    divided = {
        **NVML,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetMigMode": lambda card: [1, 1],
        "nvmlDeviceGetMaxMigDeviceCount": lambda card: 7,
        "nvmlDeviceGetMigDeviceHandleByIndex": part,
        "nvmlDeviceGetUtilizationRates": refuses,
        "nvmlDeviceGetMemoryInfo": memory,
    }
    monkeypatch.setitem(sys.modules, "pynvml", module("pynvml", **divided))
    read = find_driver()
    telemetry = Telemetry(lambda: None)
    assert read is not None
    telemetry.readings = tuple(read())
    assert telemetry.texts[0] == "GPU0 281 W 1410 MHz  GPU0/MIG2 3.0/20 GiB"


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
    assert telemetry.texts == ()


def test_many_gpus_take_little_room_and_hide_no_idle_one() -> None:
    def texts(*readings: Reading) -> tuple[str, ...]:
        telemetry = Telemetry(lambda: None)
        telemetry.readings = readings
        return telemetry.texts

    busy = [97, 98, 99, 3, 99, 96, 97, 98]
    assert texts(*(Reading(share, None, None, None, None) for share in busy)) == (
        "GPU0 97 %  GPU1 98 %  +6 more at 3–99 %",
        "GPU0 97 %  +7 more at 3–99 %",
        "8 GPUs at 3–99 %",
    )
    assert texts(Reading(97, None, None, 281.4, None)) == ("GPU0 97 % 281 W", "1 GPU at 97 %")
    three = texts(*[Reading(None, None, None, 281.4, None)] * 3)
    assert three[0] == "GPU0 281 W  GPU1 281 W  +1 more"
