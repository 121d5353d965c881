"""What is in force, as a file that can be saved and loaded again.

What somebody set is a line with its place; what nobody set is a comment with its default, so
that a saved file sets no more than was set.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from whichlayer.analysis.config.entries import Config, Entry, Path, Value, dotted
from whichlayer.analysis.config.schema import LAYERS, PRECISIONS, TABLE, Setting
from whichlayer.analysis.settings import FINDINGS, MIN_SHARE, defaults

Keys = Sequence[tuple[str, tuple[str, ...], str]]
"""Of each action its id, its keys where nobody sets any, and what it does."""

_EXAMPLE = "H100 SXM5 80"


def config_text(config: Config, keys: Keys, unused: Iterable[str] = ()) -> str:
    """Everything that can be set, and what it is.

    Args:
        config: what was set.
        keys: the keyboard's actions.
        unused: lines to tell at the top, such as what was typed and no file can set.
    """
    lines = ["# Settings of whichlayer. A line without # was set, at the place behind it; the"]
    lines += ["# others are defaults. 'whichlayer rules ID' explains the thresholds of a rule."]
    lines += [f"# read: {file}" for file in reversed(config.files)] or ["# read: no file"]
    lines += [f"# {line}" for line in unused]
    for setting in TABLE:
        if not setting.section:
            lines += ["", *_one(config, setting)]
    for section in (("findings",), ("check",), ("check", "max_layer"), ("screen",)):
        lines += ["", f"[{dotted(section)}]"]
        lines += [line for one in TABLE if one.section == section for line in _one(config, one)]
    lines += _keys(config, keys)
    lines += _peaks(config)
    for rule_id in defaults():
        if rule_id != FINDINGS:
            lines += _rule(config, rule_id)
    return "\n".join(lines) + "\n"


def _one(config: Config, setting: Setting) -> Iterator[str]:
    about = f"{setting.does} ({setting.form})"
    yield from textwrap.wrap(about, 98, initial_indent="# ", subsequent_indent="# ")
    for name in LAYERS if setting.name == "<layer>" else (setting.name,):
        path = (*setting.section, name)
        entry = config.entries.get(path)
        default = MIN_SHARE if path == ("findings", "min_share") else None
        yield _line(path[-1], entry, default)


def _line(name: str, entry: Entry | None, default: Value | None, does: str = "") -> str:
    """One key: set, or as a comment its default."""
    if entry is not None:
        return f"{dotted((name,))} = {toml(entry.value)}  # {entry.origin}"
    shown = f"# {dotted((name,))} = {'' if default is None else toml(default)}".rstrip()
    if default is None:
        return f"{shown} not set"
    return f"{shown}  # {does}" if does else shown


def _keys(config: Config, keys: Keys) -> Iterator[str]:
    yield from ("", "[keys]", "# what does this, in place of its own keys: a key or a list of keys")
    for action, own, does in keys:
        yield _line(action, config.entries.get(("keys", action)), own, does)


def _peaks(config: Config) -> Iterator[str]:
    devices = dict.fromkeys(path[1] for path in config.entries if path[0] == "peaks")
    for device in devices:
        yield from ("", f"[{dotted(('peaks', device))}]")
        for name, entry in config.below("peaks", device):
            yield _line(name, entry, None)
    if not devices:
        yield from ("", f"# [{dotted(('peaks', _EXAMPLE))}]")
        yield f"# bandwidth in GB/s; in TFLOP/s: {', '.join(PRECISIONS)}"


def _rule(config: Config, rule_id: str) -> Iterator[str]:
    yield from ("", f"[{dotted(('rules', rule_id))}]")
    yield _line("enabled", config.entries.get(("rules", rule_id, "enabled")), True)
    least = config.number("findings", "min_share")
    for name, value in defaults()[rule_id].items():
        follows = name == "note" and least is not None
        does = "findings.min_share" if follows else ""
        default = least if follows and least is not None else float(value)
        yield _line(name, config.entries.get(("rules", rule_id, name)), default, does)


def toml(value: Value) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return f"[{', '.join(_text(one) for one in value)}]"
    return str(value)


def _text(value: str) -> str:
    plain = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in plain) + '"'


def as_entries(values: Mapping[Path, Value | None], origins: Mapping[Path, str]) -> Config:
    """Values as what was set, those that are None left out."""
    return Config({p: Entry(v, origins[p]) for p, v in values.items() if v is not None})
