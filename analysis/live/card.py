"""What the very card says of itself: written into each window, so that the roof needs no table."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from whichlayer.analysis.live.card_key import CARDS_KEY


def card_metadata() -> dict[str, str]:
    """JSON texts for the header of a window; empty without a GPU.

    Each card has ``index``, ``name``, ``sms``, ``memoryBytes``, ``memoryClockKHz`` and
    ``memoryBusBits`` where torch tells them, and ``powerCapMilliwatts`` where NVML does.
    """
    try:
        cards = [_card(index) for index in range(_count())]
    except Exception:  # noqa: BLE001  a driver that fails must not cost a window
        return {}
    return {CARDS_KEY: json.dumps(cards)} if cards else {}


def device_name() -> str:
    """The name of the current GPU, or empty."""
    cuda = _cuda()
    try:
        return str(cuda.get_device_name()) if cuda is not None and _count() else ""
    except Exception:  # noqa: BLE001  likewise
        return ""


def _card(index: int) -> dict[str, Any]:
    cuda = _cuda()
    properties = cuda.get_device_properties(index)
    card: dict[str, Any] = {"index": index, "name": properties.name}
    names = {
        "sms": "multi_processor_count",
        "memoryBytes": "total_memory",
        "memoryClockKHz": "memory_clock_rate",
        "memoryBusBits": "memory_bus_width",
    }
    for key, name in names.items():
        value = getattr(properties, name, None)
        if isinstance(value, int) and value > 0:
            card[key] = value
    cap = _power_cap(str(getattr(properties, "uuid", "")))
    if cap is not None:
        card["powerCapMilliwatts"] = cap
    return card


def _power_cap(uuid: str) -> int | None:
    """The enforced power limit by NVML, if that is installed and knows the card."""
    if not uuid:
        return None
    try:
        pynvml: Any = import_module("pynvml")
    except ImportError:
        return None
    pynvml.nvmlInit()
    try:
        name = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
        handle = pynvml.nvmlDeviceGetHandleByUUID(name)
        return int(pynvml.nvmlDeviceGetEnforcedPowerLimit(handle))
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()


def _cuda() -> Any:
    """``torch.cuda`` where the program has used it: asking may not be what brings it up."""
    torch: Any = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return cuda if cuda is not None and cuda.is_initialized() else None


def _count() -> int:
    cuda = _cuda()
    return 0 if cuda is None else int(cuda.device_count())
