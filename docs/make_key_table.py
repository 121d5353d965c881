"""Write the table of keys in README.md from ``tui/keys.py``: ``python docs/make_key_table.py``."""

from __future__ import annotations

from pathlib import Path

from whichlayer.tui.keys import KEYS, Key, footer_hints, hinted

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- keys: written by docs/make_key_table.py -->\n", "<!-- end of keys -->\n"


def key_table() -> str:
    """The keys as a Markdown table, one row per key, in the order of the help sheet."""
    rows = ["| | key | does | mouse |", "|---|---|---|---|"]
    group = ""
    for key in KEYS:
        heading = key.group if key.group != group else ""
        keys = " ".join(f"`{name}`" for name in key.shown.split())
        rows.append(f"| {heading} | {keys} | {key.does} | {key.mouse or by_click(key)} |")
        group = key.group
    return "\n".join(rows) + "\n"


def by_click(key: Key) -> str:
    """Where a key without an act of the mouse of its own is clicked."""
    return "footer" if any(one is key for _, one in _in_footer()) else "palette"


def _in_footer() -> list[tuple[str, Key]]:
    return [pair for keys, _ in footer_hints(live=True) for pair in hinted(keys, live=True)]


def with_table(readme: str) -> str:
    """A README with its table of keys renewed.

    Raises:
        ValueError: it has no place for one.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("README.md has no place for the table of keys")
    return f"{before}{begin}\n{key_table()}\n{end}{after}"


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
