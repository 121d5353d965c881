"""The one table of what may be set: files are held to it, and the docs are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from whichlayer.analysis.config import kinds
from whichlayer.analysis.config.entries import Path
from whichlayer.analysis.config.kinds import Kind

PRECISIONS: Final = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4")
LAYERS: Final = ("pytorch", "runtime", "boundary", "cuda", "precision", "unknown")
COLOURS: Final = ("256", "16", "none")
#: In place of a rule: no finding at all.
ANY: Final = "any"


@dataclass(frozen=True, slots=True)
class Names:
    """What the screen knows that settings may name; the analysis knows no screen.

    Attributes:
        themes: themes by name.
        actions: what can be done from the keyboard, by id.
        key: a key in the screen's own words.

    ``key`` raises ValueError for what no key is called.
    """

    themes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    key: Callable[[str], str] = field(default=str)


@dataclass(frozen=True, slots=True)
class Setting:
    """One key, or one key of many names.

    Attributes:
        section: the names before it.
        name: the key; ``<word>`` stands for a name of the user's choice.
        form: how its value is written, for people.
        does: what it is for.
    """

    section: Path
    name: str
    form: str
    does: str


_SHARE = '0 to 1, or "15%"'
TABLE: Final = (
    Setting((), "source_roots", 'list of folders, such as ["src"]',
        "the user's own code: a frame of an absolute path elsewhere is a library's; a relative "
        "folder is looked for anywhere in a path"),
    Setting((), "device_model", "name of a GPU", "the GPU of every recording, as --device-model"),
    Setting((), "link_bandwidth", "GB/s", "what one GPU can send to the others, as "
        "--link-bandwidth"),
    Setting(("findings",), "min_share", _SHARE, "share of the window from which a finding is listed"),
    Setting(("rules", "<id>"), "enabled", "true or false",
        "false: the rule lists no finding, the gate does not warn; the time of a cause keeps its "
        "owner in the layer budget, what a kernel rule explained goes to the next one that fits"),
    Setting(("rules", "<id>"), "<threshold>", f"a number; a share: {_SHARE}",
        "a threshold of the rule or gate; 'whichlayer rules' lists them"),
    Setting(("peaks", "<device>"), "bandwidth", "GB/s",
        "memory bandwidth of that GPU"),
    Setting(("peaks", "<device>"), "<precision>", "TFLOP/s",
        f"dense rate of that GPU, for {', '.join(PRECISIONS)}"),
    Setting(("peaks", "<device>"), "unlisted", "true or false",
        "true: the GPU is not in the device table, and is named as recordings name it"),
    Setting(("check",), "max_idle", _SHARE, "as 'whichlayer check --max-idle'"),
    Setting(("check",), "min_roof", _SHARE, "as 'whichlayer check --min-roof'"),
    Setting(("check",), "no_finding", f'list of rules, or ["{ANY}"]',
        "as 'whichlayer check --no-finding'"),
    Setting(("check", "max_layer"), "<layer>", _SHARE,
        f"as 'whichlayer check --max-layer', for {', '.join(LAYERS)}"),
    Setting(("screen",), "theme", "name of a theme", "colours of the screen at its start"),
    Setting(("screen",), "colours", "256, 16 or \"none\"",
        "how many colours the terminal is given; else what it says it has"),
    Setting(("screen",), "ascii", "true or false", "true: the screen is drawn with ASCII alone"),
    Setting(("screen",), "letters", "true or false",
        "true: bars without a name carry a letter in every colour mode"),
    Setting(("keys",), "<action>", "a key, or a list of keys",
        "what does this, in place of its own keys"),
)  # fmt: skip


def kind_of(path: Path, names: Names) -> Kind:
    """What the value of a key may be.

    Raises:
        ValueError: there is no such key; the message says what there is.
    """
    top = path[0]
    if top == "rules":
        return _of_rule(path)
    if top == "peaks":
        return _of_device(path)
    if top == "keys":
        return _of_action(path, names)
    return _fixed(path, names)


def is_section(path: Path) -> bool:
    """Whether a key leads to a table."""
    return path in _SECTIONS or (len(path) == 2 and path[0] in ("rules", "peaks"))


_SECTIONS = frozenset(
    setting.section[:length]
    for setting in TABLE
    for length in range(1, len(setting.section) + 1)
    if "<" not in setting.section[length - 1]
)


def _fixed(path: Path, names: Names) -> Kind:
    if path[:2] == ("check", "max_layer") and len(path) == 3:
        kinds.one_of(LAYERS, "layer")(path[2])
        return kinds.share
    found = _KINDS.get(path)
    if found is not None:
        return found
    if path == ("screen", "theme"):
        return kinds.one_of(names.themes, "theme") if names.themes else str
    raise ValueError(unknown(path[-1], _siblings(path[:-1])))


def _no_finding(value: object) -> str:
    known = (*_rules(), ANY)
    return str(kinds.one_of(known, "rule")(value))


_KINDS: dict[Path, Kind] = {
    ("source_roots",): kinds.each(kinds.folder, "folders"),
    ("device_model",): lambda value: device_name(value),
    ("link_bandwidth",): kinds.rate,
    ("findings", "min_share"): kinds.share,
    ("check", "max_idle"): kinds.share,
    ("check", "min_roof"): kinds.share,
    ("check", "no_finding"): kinds.each(_no_finding, "rules"),
    ("screen", "colours"): kinds.one_of(COLOURS, "number of colours"),
    ("screen", "ascii"): kinds.flag,
    ("screen", "letters"): kinds.flag,
}


def _siblings(section: Path) -> Iterator[str]:
    """What may stand in a section."""
    for setting in TABLE:
        if setting.section == section:
            yield setting.name
        elif setting.section[: len(section)] == section:
            yield setting.section[len(section)]


def unknown(name: str, known: Iterable[str]) -> str:
    """What to say of a key that does not exist."""
    words = list(dict.fromkeys(known))
    hint = kinds.near(name, words) or f"known are {', '.join(words)}"
    return f"unknown key; {hint}"


def _rules() -> tuple[str, ...]:
    from whichlayer.analysis.findings.catalogue import all_rules

    return tuple(all_rules())


def _of_rule(path: Path) -> Kind:
    # Imported late: what rules there are brings NumPy, and most files set none.
    from whichlayer.analysis.settings import FINDINGS, defaults, is_share, no_rule

    rule_id = path[1]
    if rule_id not in defaults() or rule_id == FINDINGS:
        raise ValueError(no_rule(rule_id))
    if len(path) == 3 and path[2] == "enabled":
        return kinds.flag
    if len(path) != 3 or path[2] not in defaults()[rule_id]:
        raise ValueError(unknown(path[2], ("enabled", *defaults()[rule_id])))
    return kinds.share if is_share(rule_id, path[2]) else kinds.number


def _of_device(path: Path) -> Kind:
    known = {"bandwidth": kinds.rate, "unlisted": kinds.flag}
    known |= dict.fromkeys(PRECISIONS, kinds.rate)
    if len(path) != 3 or path[2] not in known:
        raise ValueError(unknown(path[2], known))
    return known[path[2]]


def device_name(value: object) -> str:
    """The row of the device table that a user means.

    Raises:
        ValueError: none or several.
    """
    from whichlayer.analysis.kernels.device_names import rows_by_user

    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected the name of a GPU, not {kinds.said(value)}")
    return rows_by_user(value[:200], None).name


def _of_action(path: Path, names: Names) -> Kind:
    if len(path) != 2 or (names.actions and path[1] not in names.actions):
        hint = kinds.near(path[1], names.actions) or "'whichlayer config' lists them"
        raise ValueError(f"there is no action {kinds.said(path[1])}; {hint}")

    def one(value: object) -> str:
        if not isinstance(value, str) or not value.isprintable() or not value:
            raise ValueError(f"expected a key such as {_KEYS}, not {kinds.said(value)}")
        return names.key(value)

    def read(value: object) -> tuple[str, ...]:
        listed = value if isinstance(value, list) else [value]
        if not listed:
            raise ValueError("expected a key or a list of keys, not an empty list")
        return tuple(dict.fromkeys(one(each) for each in listed))

    return read


_KEYS = '"x", "ctrl+x" or "pageup"'
