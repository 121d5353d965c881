"""The commands of the palette, found by the words that people look for them by."""

from __future__ import annotations

import re

from textual.command import DiscoveryHit, Hit, Hits
from textual.content import Content
from textual.style import Style
from textual.system_commands import SystemCommandsProvider

from whichlayer.tui.keys import KEYS

#: A command of whose words all that was typed is found goes before those that hold its letters.
BY_WORDS = 2.0


class KeyCommands(SystemCommandsProvider):
    """The application's commands; Textual would sort them by their first letter."""

    async def discover(self) -> Hits:
        """Every command, as the application lists them."""
        for title, help_text, run, discover in self.app.get_system_commands(self.screen):
            if discover:
                yield DiscoveryHit(title, run, help=help_text)

    async def search(self, query: str) -> Hits:
        """Commands by the beginnings of their words or of others for the same; else by letters."""
        matcher = self.matcher(query)
        for title, help_text, run, _ in self.app.get_system_commands(self.screen):
            score = by_words(query, title, _ALSO.get(title.casefold(), ""))
            if score:
                shown = marked(query, title, matcher.match_style)
                yield Hit(BY_WORDS + score, shown, run, text=title, help=help_text)
            elif letters := matcher.match(title):
                shown = matcher.highlight(title)
                yield Hit(by_letters(letters), shown, run, text=title, help=help_text)


#: Other words for a command, by what it does.
_ALSO = {key.does.casefold(): f"{key.id} {key.also}" for key in KEYS}


def by_words(query: str, title: str, also: str = "") -> float:
    """How well words fit, from 0 (not at all) to 1: each must begin one of the title or beside it.

    >>> by_words("fold step", "All steps over one another", "folded overlay") > 0
    True
    >>> by_words("theme", "Set a mark at the edge of a slice")
    0.0
    """
    typed = query.casefold().split()
    own, other = _words(title), _words(also)
    if not typed or not all(_begins(word, own | other) for word in typed):
        return 0.0
    in_title = sum(_begins(word, own) for word in typed) / len(typed)
    exact = sum(word in own | other for word in typed) / len(typed)
    return (1 + in_title + exact) / 3


def by_letters(score: float) -> float:
    """The score of Textual's fuzzy matcher, which has no limit, as less than 1."""
    return score / (1 + score)


def marked(query: str, title: str, style: Style) -> Content:
    """A title with the words that were typed lit."""
    content = Content(title)
    for word in query.split():
        found = re.search(rf"(?<![^\W_]){re.escape(word)}", title, re.IGNORECASE)
        if found is not None:
            content = content.stylize(style, *found.span())
    return content


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold()))


def _begins(word: str, words: set[str]) -> bool:
    return any(one.startswith(word) for one in words)
