"""Finds what a question in free words is about, among all that can be explained."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import log

from whichlayer.analysis.layers import Layer
from whichlayer.analysis.report.glossary import TERMS
from whichlayer.analysis.report.rule_list import every_rule

_WORD = re.compile(r"[^\W\d_]{2,}(?:/[^\W\d_]+)?|[%✗·–≤]")

#: Words that tell no entry from another.
_PLAIN = frozenset(
    [
        "the",
        "an",
        "is",
        "are",
        "was",
        "be",
        "been",
        "does",
        "do",
        "did",
        "what",
        "why",
        "how",
        "when",
        "where",
        "which",
        "who",
        "this",
        "that",
        "these",
        "those",
        "it",
        "its",
        "of",
        "in",
        "on",
        "at",
        "to",
        "for",
        "from",
        "and",
        "or",
        "not",
        "no",
        "me",
        "my",
        "we",
        "you",
        "there",
        "here",
        "between",
        "with",
        "by",
        "as",
        "if",
        "so",
        "can",
        "could",
        "should",
        "would",
        "will",
        "mean",
        "means",
        "meaning",
        "much",
        "many",
        "long",
        "have",
        "has",
        "had",
        "all",
        "any",
        "ms",
        "ns",
        "us",
        "tell",
        "about",
        "please",
        "show",
        "explain",
    ]
)

#: A word of an entry's name weighs as much as so many in its text.
_NAME_WEIGHT = 4.0
#: The best entry is given alone where it scores so much more than the next one.
_CLEARLY = 1.3
#: So many entries are named where none is clearly meant.
_MOST_NEAR = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question may be about.

    Attributes:
        word: what to explain; empty where nothing fits clearly.
        near: the entries that fit, best first, ``word`` left out.
    """

    word: str
    near: tuple[str, ...]


def answer(question: str) -> Answer:
    """The entry that a question is about, and those near it.

    >>> answer("what is this 2 ms between launch and kernel?").word
    'launch delay'
    """
    asked = _words(question)
    if not asked:
        return Answer("", ())
    entries = _entries()
    weight = {word: _rarity(word) for word in asked}
    scores = {
        entry: sum(
            weight[word] * (_NAME_WEIGHT if word in names else 1.0 if word in text else 0.0)
            for word in asked
        )
        # Of two names that hold the same words, the one that is said in full is meant.
        * (1.0 + (len(names & asked) / (1 + len(names))))
        for entry, (names, text) in entries.items()
    }
    ranked = sorted((e for e in scores if scores[e] > 0), key=lambda e: (-scores[e], e))
    if not ranked:
        return Answer("", ())
    best, near = ranked[0], tuple(ranked[1 : _MOST_NEAR + 1])
    in_name = bool(entries[best][0] & asked)
    clear = in_name and (not near or scores[best] >= _CLEARLY * scores[near[0]])
    return Answer(best, near) if clear else Answer("", tuple(ranked[:_MOST_NEAR]))


@cache
def _entries() -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """By what to explain: the words of its names, and those of its text."""
    found = {}
    for term in TERMS:
        names = frozenset().union(*(_words(word) for word in (term.word, *term.also)))
        found[term.word] = (names, _words(term.means))
    for rule_id, (rule, _) in every_rule().items():
        found[rule_id] = (_words(rule_id), _words(rule.title))
    for layer in Layer:
        text = layer.text
        found[layer.id] = (
            _words(f"{layer.id} {text.name}"),
            _words(f"{text.owns} {text.fixed_in}"),
        )
    return found


@cache
def _rarity(word: str) -> float:
    """What a word tells: much if few entries have it."""
    entries = _entries()
    having = sum(word in names or word in text for names, text in entries.values())
    return log(1 + len(entries) / having) if having else 0.0


def _words(text: str) -> frozenset[str]:
    """The telling words of a text, in one form for singular and plural."""
    words = (word.casefold() for word in _WORD.findall(text.replace("-", " ")))
    return frozenset(_stem(word) for word in words if word not in _PLAIN)


def _stem(word: str) -> str:
    """A word without its ending.

    >>> [_stem(w) for w in ("launches", "waiting", "queues", "idle", "gaps")]
    ['launch', 'wait', 'queue', 'idle', 'gap']
    """
    for ending, least in (("ches", 6), ("ing", 6), ("ed", 5), ("s", 3)):
        if len(word) >= least and word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)] + ("ch" if ending == "ches" else "")
    return word
