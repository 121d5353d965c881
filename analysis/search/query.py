"""What is typed to search or to filter, and what it asks for.

Words are all asked for at once: ``gemm bf16 dur>100us lane:s7``. A word without a key is
looked for in names, short and full. ``/…/`` is a regular expression, quotes keep blanks,
a minus in front asks for what does not match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Final

from whichlayer.analysis.trace.kinds import SliceKind

INT64_MAX: Final = 2**63 - 1

#: More conditions than anyone types.
_MOST_TERMS: Final = 64


class QueryError(Exception):
    """What was typed cannot be asked; the message is one short line for people."""


class Field(Enum):
    """What a condition looks at; the value is the key that is typed."""

    NAME = "name"
    LANE = "lane"
    FAMILY = "family"
    SHAPE = "shape"
    ARGUMENT = "arg"
    DURATION = "dur"


#: Keys that ask for a kind of slice and look at its name.
KINDS: Final[Mapping[str, tuple[SliceKind, ...]]] = {
    "kernel": (SliceKind.KERNEL,),
    "copy": (SliceKind.MEMCPY, SliceKind.MEMSET),
    "op": (SliceKind.CPU_OP,),
    "note": (SliceKind.ANNOTATION, SliceKind.GPU_ANNOTATION),
    "python": (SliceKind.PYTHON,),
    "call": (SliceKind.RUNTIME,),
}

_FIELDS: Final = {field.value: field for field in Field if field is not Field.DURATION}
_TOKEN: Final = re.compile(
    r"""(?P<minus>-?)
    (?:(?P<key>[a-z]+)(?P<by>[:~=])(?!:))?
    (?:"(?P<quoted>[^"]*)(?:"|$) | (?P<regex>/.*) | (?P<word>\S*))""",
    re.VERBOSE | re.DOTALL,
)
_REGEX_END: Final = re.compile(r"(?<!\\)/(?=\s|$)")
_DURATION: Final = re.compile(r"(?P<minus>-?)dur(?P<by><=|>=|<|>|[:=~])(?P<time>\S*)")
_TIME: Final = re.compile(r"([0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})(ns|us|µs|μs|ms|s|)")
_UNIT_NS: Final = {
    "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "": 1_000, "ms": 10**6, "s": 10**9,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """One condition.

    Attributes:
        field: what it looks at.
        text: what is looked for, empty where anything will do.
        is_regex: the text is a regular expression.
        kinds: the slice must be one of these; empty for any.
        negated: asks for what does not meet it.
        low_ns, high_ns: of a duration, both ends in.
    """

    field: Field
    text: str = ""
    is_regex: bool = False
    kinds: tuple[SliceKind, ...] = ()
    negated: bool = False
    low_ns: int = 0
    high_ns: int = INT64_MAX

    @property
    def ignores_case(self) -> bool:
        """Smart case: a capital letter asks for capitals, but for the escapes of a regex."""
        text = re.sub(r"\\.", "", self.text) if self.is_regex else self.text
        return text == text.lower()


@dataclass(frozen=True, slots=True)
class Query:
    """Conditions that all have to be met.

    Attributes:
        text: as typed.
        terms: the conditions; none where nothing was typed.
    """

    text: str
    terms: tuple[Term, ...]

    def of(self, *fields: Field) -> tuple[Term, ...]:
        """The conditions on some fields."""
        return tuple(term for term in self.terms if term.field in fields)

    @property
    def ignoring_case(self) -> Query | None:
        """The same without capitals in what is asked for; None where it asks for none.

        What must not be there and regular expressions stay as they are: they would ask for
        something else.
        """
        terms = tuple(
            term
            if term.ignores_case or term.is_regex or term.negated
            else replace(term, text=term.text.lower())
            for term in self.terms
        )
        return None if terms == self.terms else Query(self.text, terms)


def parse_query(text: str) -> Query:
    """The conditions of what was typed.

    Raises:
        QueryError: a duration is none, or there are too many conditions.
    """
    terms = tuple(_terms(text))
    if len(terms) > _MOST_TERMS:
        raise QueryError(f"more than {_MOST_TERMS} conditions")
    return Query(text, terms)


def quoted(name: str) -> str:
    r"""A query for exactly this text in names.

    >>> quoted("aten::mm"), quoted("void f(int)"), quoted('a "b"')
    ('aten::mm', '"void f(int)"', '/a\\ "b"/')
    """
    if '"' in name:
        return f"/{re.escape(name)}/"
    plain = re.fullmatch(r'[^-\s"/]\S*', name) and list(_terms(name)) == [Term(Field.NAME, name)]
    return name if plain else f'"{name}"'


def toggled_regex(text: str) -> str:
    """What was typed as a regular expression, or as plain text where it is one.

    >>> toggled_regex("a.b"), toggled_regex("/a.b/"), toggled_regex("/a.b")
    ('/a.b/', 'a.b', 'a.b')
    """
    if text.startswith("/"):
        body = text[1:]
        return body.removesuffix("/")
    return f"/{text}/"


def parse_ns(text: str) -> int:
    """A time in nanoseconds; a plain number is microseconds, as on the command line.

    >>> parse_ns("12.5ms"), parse_ns("3"), parse_ns("7ns")
    (12500000, 3000, 7)

    Raises:
        QueryError: it is no time.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise QueryError(f"{text!r} is not a time: write 100us, 1.5ms or 2s")
    return min(int(Decimal(match[1]) * _UNIT_NS[match[2]]), INT64_MAX)


def _terms(text: str) -> Iterator[Term]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        term, at = _term(text, at)
        if term is not None:
            yield term


def _term(text: str, at: int) -> tuple[Term | None, int]:
    """The condition that begins at a place, None where it is nothing yet, and where it ends."""
    duration = _DURATION.match(text, at)
    if duration is not None:
        return _duration(duration), duration.end()
    match = _TOKEN.match(text, at)
    assert match is not None  # the pattern matches nothing at all too
    key, negated = match["key"], bool(match["minus"])
    if key is not None and key not in _FIELDS and key not in KINDS:
        # No key of ours: part of a name, such as "file:line".
        word = re.compile(r"\S+").match(text, match.start("key"))
        assert word is not None
        return Term(Field.NAME, word[0], negated=negated), word.end()
    kinds = KINDS.get(key or "", ())
    field = _FIELDS.get(key or "", Field.NAME)
    if match["regex"] is not None:
        close = _REGEX_END.search(text, match.start("regex") + 1)
        body = text[match.start("regex") + 1 : close.start() if close else len(text)]
        end = close.end() if close else len(text)
        term = Term(field, body, bool(body), kinds, negated)
    else:
        body = match["word"] if match["quoted"] is None else match["quoted"]
        end = max(match.end(), at + 1)
        if not key and body == "" and match["quoted"] is None:
            return None, end
        term = Term(field, body, False, kinds, negated)
    return (term if body or kinds else None), end


def _duration(match: re.Match[str]) -> Term | None:
    if not match["time"]:
        return None  # still being typed
    time, by = parse_ns(match["time"]), match["by"]
    low, high = 0, INT64_MAX
    if by in "<=" and by == "<":
        high = time - 1
    elif by == "<=":
        high = time
    elif by == ">":
        low = time + 1
    else:
        low = time
    return Term(Field.DURATION, negated=bool(match["minus"]), low_ns=low, high_ns=high)
