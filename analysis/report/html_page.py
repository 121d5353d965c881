"""The frame of a page: self-contained, and forbidden to load or run anything."""

from __future__ import annotations

from html import escape

from whichlayer.analysis.report.html_style import style_sheet
from whichlayer.analysis.text import clean

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, body: str) -> str:
    """A whole document around a body of HTML; the title is text."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(clean(title))} · whichlayer</title>\n"
        f"<style>{style_sheet()}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )
