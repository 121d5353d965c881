"""Write the table of settings in docs/config.md from the code: ``python docs/make_config_table.py``."""

from __future__ import annotations

from pathlib import Path

from whichlayer.analysis.config.schema import TABLE

PAGE = Path(__file__).parent / "config.md"
BEGIN, END = (
    "<!-- settings: written by docs/make_config_table.py -->\n",
    "<!-- end of settings -->\n",
)


def config_table() -> str:
    """Every setting as a Markdown table, in the order of the code."""
    rows = ["| section | key | value | what it does |", "|---|---|---|---|"]
    section = ""
    for setting in TABLE:
        name = f"`[{'.'.join(setting.section)}]`" if setting.section else "top"
        heading, section = ("" if name == section else name), name
        rows.append(f"| {heading} | `{setting.name}` | {setting.form} | {setting.does} |")
    return "\n".join(rows) + "\n"


def with_table(page: str) -> str:
    """The page with its table renewed.

    Raises:
        ValueError: it has no place for one.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("docs/config.md has no place for the table of settings")
    return f"{before}{begin}\n{config_table()}\n{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
