"""What the GPUs of this machine do between windows, from NVML or AMD SMI where one is there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from typing import Any, Final

_EVERY_S: Final = 1.0
_GIGA: Final = 1 << 30
_MOST_IN_FIGURES: Final = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """One GPU at one moment; None where its driver does not tell.

    Attributes:
        busy_percent: part of the last second in which any kernel ran.
        memory_bytes, memory_total_bytes: taken by all programs, and what there is.
        watts: power drawn.
        clock_mhz: of the multiprocessors.
        name: which it is, in place of its number: an instance of a GPU that is divided.
    """

    busy_percent: int | None
    memory_bytes: int | None
    memory_total_bytes: int | None
    watts: float | None
    clock_mhz: int | None
    name: str = ""

    @property
    def text(self) -> str:
        """The figures on a line, those that are known."""
        parts = []
        if self.busy_percent is not None:
            parts.append(f"{self.busy_percent} %")
        if self.memory_bytes is not None and self.memory_total_bytes:
            total = self.memory_total_bytes / _GIGA
            parts.append(f"{self.memory_bytes / _GIGA:.1f}/{total:.0f} GiB")
        if self.watts is not None:
            parts.append(f"{self.watts:.0f} W")
        if self.clock_mhz is not None:
            parts.append(f"{self.clock_mhz} MHz")
        return " ".join(parts)


class Telemetry:
    """Asks the driver once a second, in a thread of its own: a driver may take its time."""

    def __init__(self, source: Callable[[], Callable[[], list[Reading]] | None]) -> None:
        """Take what finds a driver; see :func:`find_driver`."""
        self._source = source
        self._stopped = threading.Event()
        self.readings: tuple[Reading, ...] = ()

    def start(self) -> None:
        """Begin; without a driver this ends at once."""
        threading.Thread(target=self._run, name="telemetry", daemon=True).start()

    def stop(self) -> None:
        """Ask no more."""
        self._stopped.set()

    @property
    def texts(self) -> tuple[str, ...]:
        """All GPUs on a line, the longest text first: ever fewer of them in figures of their own."""
        numbers = count()
        named = [(one.name or f"GPU{next(numbers)}", one) for one in self.readings]
        told = [(f"{name} {one.text}", one) for name, one in named if one.text]
        if not told:
            return ()
        texts = [
            "  ".join([*(text for text, _ in told[:shown]), *_rest_text(told[shown:])])
            for shown in range(min(_MOST_IN_FIGURES, len(told)), 0, -1)
        ]
        cards = [(name, one) for name, one in told if not one.name]
        return (*texts, *_rest_text(cards, "GPUs", ""))

    def _run(self) -> None:
        with suppress(Exception):  # a driver that fails costs this line alone
            read = self._source()
            while read is not None and not self._stopped.is_set():
                self.readings = tuple(read())
                self._stopped.wait(_EVERY_S)
        self.readings = ()


def _rest_text(
    told: Sequence[tuple[str, Reading]], word: str = "more", sign: str = "+"
) -> list[str]:
    """How many there are, and between what their busy shares lie: no idle one is hidden."""
    if not told:
        return []
    busy = [one.busy_percent for _, one in told if one.busy_percent is not None]
    shares = "" if not busy else f" at {min(busy)} %"
    if busy and min(busy) < max(busy):
        shares = f" at {min(busy)}–{max(busy)} %"
    word = word if len(told) > 1 else word.removesuffix("s")
    return [f"{sign}{len(told)} {word}{shares}"]


def find_driver() -> Callable[[], list[Reading]] | None:
    """What reads all GPUs: through NVML, else AMD SMI; None where neither is there."""
    for begin in (_nvml, _amd):
        with suppress(Exception):  # not installed, or no driver behind it
            return begin()
    return None


def _nvml() -> Callable[[], list[Reading]]:
    nvml: Any = import_module("pynvml")
    nvml.nvmlInit()
    cards = nvml.nvmlDeviceGetCount()
    if not cards:
        raise RuntimeError("no GPU")

    def read() -> list[Reading]:
        # Handles are asked for anew: a GPU that was reset has another one.
        return [reading for index in range(cards) for reading in _nvml_readings(nvml, index)]

    return read


def _nvml_readings(nvml: Any, index: int) -> list[Reading]:
    """A GPU, and what it is divided into (MIG), whose memory is told each for itself."""
    card = _asked(lambda: nvml.nvmlDeviceGetHandleByIndex(index))
    if card is None:  # others may still be there, under their numbers
        return [Reading(None, None, None, None, None)]
    parts = _instances(nvml, card)
    used, total = (None, None) if parts else _memory(nvml, card)
    milliwatts = _asked(lambda: int(nvml.nvmlDeviceGetPowerUsage(card)))
    whole = Reading(
        _asked(lambda: int(nvml.nvmlDeviceGetUtilizationRates(card).gpu)),
        used,
        total,
        None if milliwatts is None else milliwatts / 1000,
        _asked(lambda: int(nvml.nvmlDeviceGetClockInfo(card, nvml.NVML_CLOCK_SM))),
    )
    of_parts = ((number, *_memory(nvml, part)) for number, part in parts)
    return [whole] + [
        Reading(None, used, total, None, None, f"GPU{index}/MIG{number}")
        for number, used, total in of_parts
    ]


def _instances(nvml: Any, card: Any) -> list[tuple[int, Any]]:
    """The instances that a GPU is divided into; none where it is not, or cannot be."""
    mode = _asked(lambda: nvml.nvmlDeviceGetMigMode(card)[0])
    if mode != 1:
        return []
    most = _asked(lambda: int(nvml.nvmlDeviceGetMaxMigDeviceCount(card))) or 0

    def part(number: int) -> Any:
        return _asked(lambda: nvml.nvmlDeviceGetMigDeviceHandleByIndex(card, number))

    found = ((number, part(number)) for number in range(most))
    return [(number, handle) for number, handle in found if handle is not None]


def _memory(nvml: Any, handle: Any) -> tuple[int | None, int | None]:
    memory = _asked(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
    return (None, None) if memory is None else (int(memory.used), int(memory.total))


def _amd() -> Callable[[], list[Reading]]:
    smi: Any = import_module("amdsmi")
    smi.amdsmi_init()
    handles = list(smi.amdsmi_get_processor_handles())
    if not handles:
        raise RuntimeError("no GPU")

    def read(handle: Any) -> Reading:
        vram = _asked(lambda: smi.amdsmi_get_gpu_vram_usage(handle)) or {}
        activity = _asked(lambda: smi.amdsmi_get_gpu_activity(handle)) or {}
        power = _asked(lambda: smi.amdsmi_get_power_info(handle)) or {}
        clock = _asked(lambda: smi.amdsmi_get_clock_info(handle, smi.AmdSmiClkType.GFX)) or {}
        used, total = _number(vram, "vram_used"), _number(vram, "vram_total")
        watts = _number(power, "current_socket_power")
        watts = _number(power, "average_socket_power") if watts is None else watts
        return Reading(
            _number(activity, "gfx_activity"),
            None if used is None else used << 20,  # told in MiB
            None if total is None else total << 20,
            watts,
            _number(clock, "clk"),
        )

    return lambda: [read(handle) for handle in handles]


def _asked(ask: Callable[[], Any]) -> Any:
    """An answer; None where this GPU or driver has none."""
    try:
        return ask()
    except Exception:  # noqa: BLE001  each library has errors of its own
        return None


def _number(told: Any, key: str) -> int | None:
    value = told.get(key) if isinstance(told, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
