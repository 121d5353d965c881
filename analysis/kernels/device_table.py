"""Data-sheet peaks of GPUs: one row a product, each figure with where it comes from.

Dense rates with FP32 accumulation, in TFLOP/s (1e12); bandwidth in GB/s (1e9). Letters say
how a figure was checked: ``a`` arithmetic (units x FMA per clock x 2 x clock) reproduces it
within 1 %; ``t`` SM count and memory were read in a real trace; ``m`` a real kernel reached
at least 90 % of it without exceeding it; ``p`` a published page says so; ``k`` general
knowledge only; ``u`` the user says so. A figure that rests on ``k`` is shown but never judged
by.

``eff`` is the share of the dense matrix rate that a good large product really reaches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

#: What ``eff`` is taken to be where no measurement is known.
ASSUMED_EFF: Final = 0.80


@dataclass(frozen=True, slots=True, eq=False)
class DeviceRow:
    """One product.

    Attributes:
        name: what users read and may type.
        vendor: ``nvidia``, ``amd`` or ``intel``.
        match: product names as drivers print them, lower case, without the brand.
        units: SMs or compute units, or 0 where they vary.
        memory: (least, most) bytes by which rows of the same name are told apart, or None; a row
            whose name other rows share needs them.
        bandwidth: GB/s.
        rates: TFLOP/s by precision; ``fp32`` is the vector rate, ``fp32-matrix`` that of
            matrix units that take FP32 operands (AMD).
        eff: share of ``rates`` reached by good large products, or None.
        l2_mb: L2 cache.
        far_cache_mb: cache behind the L2 (AMD's Infinity Cache).
        split_l2: the L2 is in two halves and one kernel's data may live in both.
        checked: letters for every figure without an entry in ``sources``.
        sources: letters by figure, ``bandwidth`` or a precision.
        gfx: compute capability as AMD writes it, (major, minor), for rows without a name.
        consumer: a GeForce part, whose boost clock exceeds the data sheet's.
        note: what to know.
    """

    name: str
    vendor: str
    match: tuple[str, ...]
    units: int
    bandwidth: float
    rates: Mapping[str, float]
    eff: float | None
    l2_mb: float
    checked: str
    memory: tuple[float, float] | None = None
    far_cache_mb: float = 0.0
    split_l2: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    gfx: tuple[int, int] | None = None
    consumer: bool = False
    note: str = ""

    def source(self, figure: str) -> str:
        """Letters of a figure: ``bandwidth`` or a precision."""
        return self.sources.get(figure, self.checked)

    def confirmed(self, figure: str) -> bool:
        """Whether a verdict may rest on a figure: ``t`` alone tells the card, not its peaks."""
        letters = self.source(figure)
        return any(letter in letters for letter in "ampu")


def _rates(
    fp32: float,
    fp16: float,
    tf32: float | None = None,
    bf16: float | None = None,
    **more: float,
) -> Mapping[str, float]:
    rates = {"fp32": fp32, "fp16": fp16, **more}
    if tf32 is not None:
        rates["tf32"] = tf32
    if bf16 is not None:
        rates["bf16"] = bf16
    return MappingProxyType(rates)


def _ampere(fp32: float, tf32: float, half: float, **more: float) -> Mapping[str, float]:
    return _rates(fp32, half, tf32, half, **more)


_HOPPER = _ampere(67, 494.7, 989.4, fp8=1978.9, int8=1978.9)
_HOPPER_NVL = _ampere(60, 418, 835, fp8=1671, int8=1671)
_GB = 1e9


def _nvidia(
    name: str,
    match: str | tuple[str, ...],
    units: int,
    bandwidth: float,
    rates: Mapping[str, float],
    eff: float | None,
    l2_mb: float,
    checked: str,
    *,
    memory: tuple[float, float] | None = None,
    split_l2: bool = False,
    sources: Mapping[str, str] | None = None,
    consumer: bool = False,
    note: str = "",
) -> DeviceRow:
    names = (match,) if isinstance(match, str) else match
    return DeviceRow(
        name, "nvidia", names, units, bandwidth, rates, eff, l2_mb, checked,
        memory=memory, split_l2=split_l2, sources=sources or {}, consumer=consumer, note=note,
    )  # fmt: skip


def _geforce(
    name: str,
    units: int,
    bandwidth: float,
    fp32: float,
    half: float,
    eff: float,
    l2_mb: float,
    checked: str,
    *,
    fp8: float | None = None,
    sources: Mapping[str, str] | None = None,
) -> DeviceRow:
    # TF32 runs at the FP32 rate on GeForce from Ampere on.
    more = {} if fp8 is None else {"fp8": fp8}
    return _nvidia(
        name, name.lower(), units, bandwidth, _ampere(fp32, fp32, half, **more), eff, l2_mb,
        checked, sources=sources, consumer=True,
    )  # fmt: skip


# fmt: off
_NVIDIA: Final = (
    _nvidia("GP100", "quadro gp100", 56, 717, _rates(10.3, 20.7), .9, 4, "t k",
            note="no tensor cores"),
    _nvidia("P100 PCIe 16 GB", ("tesla p100-pcie-16gb", "p100-pcie-16gb"), 56, 732,
            _rates(9.3, 18.7), .9, 4, "t k", note="no tensor cores"),
    _nvidia("P40", ("tesla p40", "p40"), 30, 346, MappingProxyType({"fp32": 11.8}), None, 3, "p",
            sources={"bandwidth": "k"}, note="no tensor cores; FP16 is emulated"),
    _nvidia("T4", ("tesla t4", "t4"), 40, 320, _rates(8.1, 65, int8=130), .45, 4, "a t p",
            note="70 W: about 25 to 35 TFLOP/s are sustained; BF16 is emulated"),
    _nvidia("V100 SXM2", ("tesla v100-sxm2", "v100-sxm2", "tesla v100-dgxs", "v100-dgxs"), 80,
            900, _rates(15.7, 125), .80, 6, "a t m p", note="BF16 has no tensor cores"),
    _nvidia("V100 SXM3 32", ("tesla v100-sxm3", "v100-sxm3"), 80, 981, _rates(15.7, 125), .80,
            6, "k", note="BF16 has no tensor cores"),
    _nvidia("V100 PCIe", ("tesla v100-pcie", "v100-pcie"), 80, 900, _rates(14, 112), .80, 6,
            "a p", note="BF16 has no tensor cores"),
    _nvidia("V100S PCIe", ("tesla v100s-pcie", "v100s-pcie"), 80, 1134, _rates(16.4, 130), .80,
            6, "p", sources={"bandwidth": "p k"}, note="BF16 has no tensor cores"),
    _nvidia("Quadro RTX 6000", ("quadro rtx 6000", "quadro rtx 8000"), 72, 672,
            _rates(16.3, 130.5), .7, 6, "a p"),
    _nvidia("A100 SXM4 40", ("a100-sxm4-40gb",), 108, 1555, _ampere(19.5, 156, 312, int8=624),
            .85, 40, "a p", split_l2=True),
    _nvidia("A100 PG509", ("a100-pg509-200", "a100-pg509"), 108, 1555,
            _ampere(19.5, 156, 312, int8=624), .85, 40, "a t p", memory=(36 * _GB, 60 * _GB),
            split_l2=True, note="the figures of the A100 SXM4 40 GB"),
    _nvidia("A100 PG509 80", ("a100-pg509-200", "a100-pg509"), 108, 2039,
            _ampere(19.5, 156, 312, int8=624), .85, 40, "a p", memory=(70 * _GB, 100 * _GB),
            split_l2=True, note="the figures of the A100 SXM4 80 GB"),
    _nvidia("A100 SXM4 80", ("a100-sxm4-80gb", "a800-sxm4-80gb"), 108, 2039,
            _ampere(19.5, 156, 312, int8=624), .85, 40, "a t p", split_l2=True),
    _nvidia("A100 PCIe 80", ("a100 80gb pcie", "a800 80gb pcie"), 108, 1935,
            _ampere(19.5, 156, 312, int8=624), .75, 40, "a t m", split_l2=True,
            note="300 W lowers large products"),
    _nvidia("A100 PCIe 40", ("a100-pcie-40gb", "a800-pcie-40gb"), 108, 1555,
            _ampere(19.5, 156, 312, int8=624), .70, 40, "a t p", split_l2=True,
            note="250 W lowers large products"),
    _nvidia("A100 custom 64", ("a100-sxm-64gb",), 124, 1640, _ampere(22.4, 179, 358), None, 40,
            "k", split_l2=True),
    _nvidia("A30", "a30", 56, 933, _ampere(10.3, 82, 165, int8=330), .8, 24, "a", split_l2=True),
    _nvidia("A10", "a10", 72, 600, _ampere(31.2, 62.5, 125, int8=250), .6, 6, "a p"),
    _nvidia("A10G", "a10g", 80, 600, _ampere(35.0, 35.0, 70, int8=140), .9, 6, "a t p",
            note="half-rate FP32 accumulation"),
    _nvidia("A40", "a40", 84, 696, _ampere(37.4, 74.8, 149.7), .65, 6, "a p"),
    _nvidia("A16 (per GPU)", "a16", 10, 200, _ampere(4.5, 9, 17.9), None, 2, "p"),
    _nvidia("RTX A6000", "rtx a6000", 84, 768, _ampere(38.7, 77.4, 154.8), .62, 6, "a p"),
    _nvidia("RTX A5000", "rtx a5000", 64, 768, _ampere(27.8, 55.6, 111), .65, 6, "a"),
    _nvidia("RTX A4000", "rtx a4000", 48, 448, _ampere(19.2, 38.4, 76.7), .65, 4, "a p"),
    _nvidia("L4", "l4", 58, 300, _ampere(30.3, 60.6, 121, fp8=242), .5, 48, "a p", note="72 W"),
    _nvidia("L40", "l40", 142, 864, _ampere(90.5, 90.5, 181, fp8=362), .9, 96, "a p",
            note="half-rate FP32 accumulation"),
    _nvidia("L40S", "l40s", 142, 864, _ampere(91.6, 183, 362, fp8=733), .65, 96, "a p"),
    _nvidia("L20", "l20", 92, 864, _ampere(59.8, 59.8, 119.5, fp8=239), .95, 96, "a p"),
    _nvidia("H100 SXM5 80", ("h100 80gb hbm3", "h800 80gb hbm3", "h800", "h100 sxm5 80gb",
                             "h100 sxm"), 132, 3350, _HOPPER, .75, 50, "a t p", split_l2=True),
    _nvidia("H100 96 GB", ("h100",), 132, 2400, _HOPPER, .6, 50, "t k", split_l2=True,
            memory=(90 * _GB, 130 * _GB),
            note="bare name with 95 GiB: a custom board of about 2400 to 3350 GB/s, not confirmed"),
    _nvidia("H100 PCIe", ("h100 pcie", "h800 pcie"), 114, 2039,
            _ampere(51, 378, 756, fp8=1513, int8=1513), .65, 50, "a p", split_l2=True),
    _nvidia("H100 NVL", ("h100 nvl",), 132, 3938, _HOPPER_NVL, .8, 50, "p", split_l2=True,
            sources={"bandwidth": "k"}),
    _nvidia("H200 SXM", ("h200",), 132, 4800, _HOPPER, .80, 50, "a p m", split_l2=True),
    _nvidia("H200 NVL", ("h200 nvl",), 132, 4800, _HOPPER_NVL, 1.0, 50, "p", split_l2=True),
    _nvidia("GH200 96", ("gh200 480gb", "gh200 120gb", "gh200"), 132, 4000, _HOPPER, .7, 60,
            "a t p", memory=(90 * _GB, 120 * _GB), split_l2=True, sources={"bandwidth": "k"},
            note="480GB in the name is the CPU's memory"),
    _nvidia("GH200 144", ("gh200 144g hbm3e", "gh200 480gb", "gh200 120gb", "gh200"), 132, 4900,
            _HOPPER, .7, 60, "k", memory=(120 * _GB, 160 * _GB), split_l2=True),
    _nvidia("H20 96", "h20", 78, 4000, _ampere(44, 74, 148, fp8=296), .95, 60, "p",
            memory=(90 * _GB, 120 * _GB), split_l2=True),
    _nvidia("H20 141", "h20", 78, 4800, _ampere(44, 74, 148, fp8=296), .95, 60, "p",
            memory=(120 * _GB, 160 * _GB), split_l2=True),
    _nvidia("B100", "b100", 148, 8000, _ampere(60.6, 875, 1750, fp8=3500), None, 126, "p",
            split_l2=True),
    _nvidia("B200 HGX", "b200", 148, 7700, _ampere(75, 1125, 2250, fp8=4500), .75, 126, "a t p",
            split_l2=True, note="the launch brief says 8000 GB/s"),
    _nvidia("GB200", "gb200", 0, 8000, _ampere(80, 1250, 2500, fp8=5000), .75, 126, "p",
            split_l2=True),
    _nvidia("B300 HGX", ("b300 sxm6 ac", "b300"), 148, 8000, _ampere(75, 1125, 2250, fp8=4500),
            None, 126, "t m p", split_l2=True),
    _nvidia("GB300", "gb300", 0, 8000, _ampere(80, 1250, 2500, fp8=5000), None, 126, "p",
            split_l2=True, sources={"bandwidth": "k", "fp32": "k", "fp8": "k", "tf32": "k"}),
    _nvidia("RTX PRO 6000 Blackwell", ("rtx pro 6000 blackwell workstation edition",
                                       "rtx pro 6000 blackwell"), 188, 1792,
            _ampere(125, 252, 504, fp8=1007), .90, 128, "a p"),
    _nvidia("RTX PRO 6000 Blackwell Max-Q", ("rtx pro 6000 blackwell max-q workstation edition",
                                             "rtx pro 6000 blackwell max-q"), 188, 1792,
            _ampere(110, 252, 504, fp8=1007), .7, 128, "a p", note="300 W"),
    _nvidia("RTX PRO 6000 Blackwell Server", ("rtx pro 6000 blackwell server edition",), 188,
            1597, _ampere(125, 252, 504, fp8=1007), .7, 128, "a p", sources={"bandwidth": "k"}),
    _nvidia("RTX PRO 5000 Blackwell", ("rtx pro 5000 blackwell",), 110, 1344,
            _ampere(73.7, 147, 295, fp8=590), .88, 96, "p"),
    _nvidia("RTX 6000 Ada", ("rtx 6000 ada generation", "rtx 6000 ada"), 142, 960,
            _ampere(91.1, 182, 364, fp8=728), .7, 96, "a"),
    _nvidia("GeForce RTX 2080 Ti", "geforce rtx 2080 ti", 68, 616, _rates(13.4, 53.8), .95, 5.5,
            "a t p", consumer=True),
    _geforce("GeForce RTX 5090", 170, 1792, 104.8, 209.5, 1.2, 96, "a p", fp8=419),
    _geforce("GeForce RTX 5080", 84, 960, 56.3, 112.6, 1.1, 64, "a", fp8=225.2),
    _geforce("GeForce RTX 5070 Ti", 70, 896, 43.9, 87.9, 1.1, 48, "a", fp8=175.8),
    _geforce("GeForce RTX 5070", 48, 672, 30.9, 61.7, 1.1, 48, "a", fp8=123.4),
    _geforce("GeForce RTX 5060 Ti", 36, 448, 23.7, 47.4, 1.1, 32, "a", fp8=94.8),
    _geforce("GeForce RTX 4090", 128, 1008, 82.6, 165.2, 1.0, 72, "a p", fp8=330.3),
    _geforce("GeForce RTX 4080", 76, 717, 48.7, 97.5, 1.0, 64, "a", fp8=195),
    _geforce("GeForce RTX 4070 Ti", 60, 504, 40.1, 80.2, 1.0, 48, "a", fp8=160.4),
    _geforce("GeForce RTX 4060", 24, 272, 15.1, 30.2, 1.0, 24, "a t", fp8=60.4),
    _geforce("GeForce RTX 3090", 82, 936, 35.6, 71, 1.0, 6, "a p"),
    _geforce("GeForce RTX 3090 Ti", 84, 1008, 40, 80, 1.0, 6, "a p"),
    _geforce("GeForce RTX 3080", 68, 760, 29.8, 59.5, 1.0, 5, "a"),
)
# fmt: on


def _amd(
    name: str,
    match: tuple[str, ...],
    units: int,
    bandwidth: float,
    fp32: float,
    matrix_fp32: float | None,
    half: float,
    eff: float | None,
    caches: tuple[float, float],
    checked: str,
    gfx: tuple[int, int],
    *,
    memory: tuple[float, float] | None = None,
    tf32: float | None = None,
    bf16: float | None = None,
    fp8: float | None = None,
    note: str = "",
) -> DeviceRow:
    rates = {"fp32": fp32, "fp16": half, "bf16": half if bf16 is None else bf16}
    optional = {"fp32-matrix": matrix_fp32, "tf32": tf32, "fp8": fp8}
    rates.update({key: value for key, value in optional.items() if value is not None})
    return DeviceRow(
        name, "amd", match, units, bandwidth, MappingProxyType(rates), eff, caches[0], checked,
        memory=memory, far_cache_mb=caches[1], gfx=gfx, note=note,
    )  # fmt: skip


# fmt: off
_AMD: Final = (
    _amd("MI100", ("instinct mi100",), 120, 1229, 23.1, 46.1, 184.6, .7, (8, 0), "a", (9, 0),
         memory=(30 * _GB, 40 * _GB), bf16=92.3),
    _amd("MI210", ("instinct mi210",), 104, 1638, 22.6, 45.3, 181, .75, (8, 0), "a t", (9, 0),
         memory=(60 * _GB, 75 * _GB), note="the figures of one MI250 die too"),
    _amd("MI250 (per GCD)", ("instinct mi250",), 104, 1638, 22.6, 45.3, 181, .75, (8, 0), "a t",
         (9, 0), memory=(60 * _GB, 75 * _GB)),
    _amd("MI250X (per GCD)", ("instinct mi250x",), 110, 1638, 23.9, 47.9, 191.5, .75, (8, 0),
         "a p", (9, 0), memory=(60 * _GB, 75 * _GB)),
    _amd("MI300A", ("instinct mi300a",), 228, 5300, 122.6, 122.6, 981, .55, (24, 256), "a p",
         (9, 4), memory=(110 * _GB, 145 * _GB), tf32=490, fp8=1961),
    _amd("MI300X", ("instinct mi300x", "instinct mi300x vf"), 304, 5300, 163.4, 163.4, 1307, .54,
         (32, 256), "a t p", (9, 4), memory=(180 * _GB, 240 * _GB), tf32=654, fp8=2615),
    _amd("MI308X", ("instinct mi308x",), 80, 5300, 43, None, 344, None, (32, 256), "k", (9, 4),
         memory=(180 * _GB, 240 * _GB), tf32=172, fp8=688),
    _amd("MI325X", ("instinct mi325x",), 304, 6000, 163.4, 163.4, 1307, .60, (32, 256), "a p",
         (9, 4), memory=(240 * _GB, 300 * _GB), tf32=654, fp8=2615),
    _amd("MI350X", ("instinct mi350x",), 256, 8000, 144.2, 144.2, 2307, None, (32, 256), "a p",
         (9, 5), memory=(280 * _GB, 330 * _GB), fp8=4614),
    _amd("MI355X", ("instinct mi355x",), 256, 8000, 157.3, 157.3, 2517, None, (32, 256), "a p",
         (9, 5), memory=(280 * _GB, 330 * _GB), fp8=5033),
    _amd("RX 7900 XTX", ("radeon rx 7900 xtx", "rx 7900 xtx"), 96, 960, 61.4, None, 122.8, .8,
         (6, 96), "a", (11, 0), memory=(22 * _GB, 28 * _GB)),
    _amd("W7900", ("radeon pro w7900", "pro w7900"), 96, 864, 61.3, None, 122.6, .8, (6, 96),
         "a", (11, 0), memory=(45 * _GB, 55 * _GB)),
    _amd("RX 9070 XT", ("radeon rx 9070 xt", "rx 9070 xt"), 64, 645, 48.7, None, 195, .8,
         (8, 64), "a", (12, 0), memory=(15 * _GB, 20 * _GB), fp8=389),
)
_INTEL: Final = (
    DeviceRow("Max 1550", "intel", ("data center gpu max 1550",), 128, 3277,
              MappingProxyType({"fp32": 52.0, "tf32": 419.0, "bf16": 839.0, "fp16": 839.0}), .65,
              408, "p", note="the whole card; halved where a device is one of its two stacks"),
    DeviceRow("Max 1100", "intel", ("data center gpu max 1100",), 56, 1229,
              MappingProxyType({"fp32": 22.2, "bf16": 355.0, "fp16": 355.0}), None, 108, "k"),
)
# fmt: on

#: Every row.
DEVICE_ROWS: Final[tuple[DeviceRow, ...]] = (*_NVIDIA, *_AMD, *_INTEL)

#: Compute capability of NVIDIA's rows by how their names begin, longest first: for a card that
#: is named by hand, where the recording does not tell.
_CAPABILITIES: Final[Mapping[str, tuple[int, int]]] = {
    "GP100": (6, 0), "P100": (6, 0), "P40": (6, 1), "T4": (7, 5), "V100": (7, 0),
    "Quadro RTX": (7, 5), "A100": (8, 0), "A30": (8, 0), "A10": (8, 6), "A40": (8, 6),
    "A16": (8, 6), "RTX A": (8, 6), "L4": (8, 9), "L20": (8, 9), "H100": (9, 0), "H200": (9, 0),
    "GH200": (9, 0), "H20": (9, 0), "B100": (10, 0), "B200": (10, 0), "GB200": (10, 0),
    "B300": (10, 3), "GB300": (10, 3), "RTX PRO": (12, 0), "RTX 6000 Ada": (8, 9),
    "GeForce RTX 20": (7, 5), "GeForce RTX 30": (8, 6), "GeForce RTX 40": (8, 9),
    "GeForce RTX 50": (12, 0),
}  # fmt: skip


def capability_of(row_name: str) -> tuple[int, int] | None:
    """Compute capability of an NVIDIA row; None for others."""
    fitting = [start for start in _CAPABILITIES if row_name.startswith(start)]
    return _CAPABILITIES[max(fitting, key=len)] if fitting else None
