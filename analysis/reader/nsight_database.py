"""An SQLite export opened so that nothing about it changes, and read so that damage is survived.

The file may be anybody's: only ordinary tables are read, never views, virtual tables or code
that a schema brings along; values of a wrong type count as missing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from whichlayer.analysis.errors import TraceError
from whichlayer.analysis.text import clean

#: Stands for an integer that is not recorded; no export holds it.
MISSING = -(1 << 63)

#: Rows taken at a time.
_CHUNK = 20_000

#: Longest value that is read; a longer one is damage.
_LONGEST = 1 << 26

#: Longest text that is kept of a value.
_LONGEST_TEXT = 1 << 16

#: Values asked for in one statement.
_ASKED = 500

Row = tuple[Any, ...]


class Database:
    """An SQLite file, read only: no lock is taken and no file is made beside it.

    Attributes:
        columns: the names of the columns of every ordinary table.
        damaged: per table that could not be read to its end, why.
        cut: the file is shorter than it says.
    """

    def __init__(self, path: str) -> None:
        """Opens the file.

        Raises:
            TraceError: it is no database that could be read.
        """
        self.columns: dict[str, tuple[str, ...]] = {}
        self.damaged: dict[str, str] = {}
        self.cut = False
        self._keyed: set[str] = set()
        self._strings: dict[int, str] = {}
        try:
            self._connection = sqlite3.connect(_address(path), uri=True, isolation_level=None)
        except sqlite3.Error as error:
            raise TraceError(f"the database cannot be opened ({clean(str(error))})") from error
        try:
            self._harden()
            self._read_schema()
        except sqlite3.Error as error:
            try:
                self._read_cut_file()
            except sqlite3.Error:
                self._connection.close()
                raise TraceError(f"the database is damaged ({clean(str(error))})") from error

    def _harden(self) -> None:
        connection = self._connection
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        for setting in ("trusted_schema = 0", "query_only = 1", "cell_size_check = 1"):
            connection.execute(f"PRAGMA {setting}")

    def _read_cut_file(self) -> None:
        """Reads the schema of a file that is shorter than it says.

        SQLite opens such a file only to connections that may repair it; this one cannot write.
        """
        self._connection.execute("PRAGMA writable_schema = 1")
        self._read_schema()
        self.cut = True

    def _read_schema(self) -> None:
        found = self._connection.execute(
            "SELECT name, substr(sql, 1, 65536) FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for name, text in found:
            words = text.upper().split() if isinstance(text, str) else []
            if not isinstance(name, str) or words[:2] != ["CREATE", "TABLE"]:
                continue
            listed = self._connection.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
            self.columns[name] = tuple(str(one[1]) for one in listed)
            if self._has_keys(name):
                self._keyed.add(name)

    def _has_keys(self, table: str) -> bool:
        if "_rowid_" in (name.lower() for name in self.columns[table]):
            return False
        try:
            self._connection.execute(f"SELECT _rowid_ FROM {_quoted(table)} LIMIT 0")
        except sqlite3.OperationalError:  # a table made WITHOUT ROWID
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows_at_most(self, table: str) -> int:
        """About how many rows a table has, at little cost; 0 where that cannot be told."""
        if table not in self._keyed:
            return 0
        try:
            found = self._connection.execute(f"SELECT max(_rowid_) FROM {_quoted(table)}")
            highest = found.fetchone()[0]
        except sqlite3.Error:
            return 0
        return max(0, highest) if isinstance(highest, int) else 0

    def chunks(
        self,
        table: str,
        numbers: Sequence[str],
        texts: Sequence[str] = (),
        only: tuple[str, int] | None = None,
    ) -> Iterator[list[Row]]:
        """The rows of a table, a few thousand at a time.

        A row is its key (-1 where rows have none), then an integer per name in ``numbers``
        (``MISSING`` where the column or an integer in it is absent), then a text or None per
        name in ``texts``. Where the table is damaged, what can be read before and behind the
        damage comes, and ``damaged`` says why the rest does not. ``only`` asks for the rows
        whose column of that name has that value.
        """
        if table not in self.columns or (only and only[0] not in self.columns[table]):
            return
        keyed = table in self._keyed
        key = "_rowid_" if keyed else "-1"
        fields = [self._number(table, name) for name in numbers]
        fields += [self._text(table, name) for name in texts]
        query = f"SELECT {', '.join([key, *fields])} FROM {_quoted(table)}"
        if only:
            query += f" WHERE {_quoted(only[0])} = {only[1]}"
        if not keyed:
            yield from self._until_damage(table, query)
            return
        last = MISSING
        for chunk in self._until_damage(table, f"{query} ORDER BY _rowid_"):
            kept = _rising(chunk, last)
            if len(kept) < len(chunk):
                self.damaged[table] = "its rows are out of order"
            if not kept:
                return  # pages that refer to each other in a circle would go on for ever
            last = kept[-1][0]
            yield kept
        if table in self.damaged:
            yield from self._behind_damage(table, f"{query} ORDER BY _rowid_ DESC", last)

    def _until_damage(self, table: str, query: str) -> Iterator[list[Row]]:
        rows: list[Row] = []
        try:
            for row in self._connection.execute(query):
                rows.append(row)
                if len(rows) == _CHUNK:
                    yield rows
                    rows = []
        except sqlite3.Error as error:
            self.damaged[table] = clean(str(error))
        if rows:
            yield rows

    def _behind_damage(self, table: str, query: str, last: int) -> Iterator[list[Row]]:
        above: int | None = None
        for chunk in self._until_damage(table, query):
            kept: list[Row] = []
            for row in chunk:
                if row[0] <= last or (above is not None and row[0] >= above):
                    break
                above = row[0]
                kept.append(row)
            if kept:
                yield kept[::-1]
            if len(kept) < len(chunk):
                return

    def _number(self, table: str, name: str) -> str:
        if name not in self.columns[table]:
            return str(MISSING + 1) + " - 1"
        column = _quoted(name)
        return f"CASE typeof({column}) WHEN 'integer' THEN {column} ELSE {MISSING + 1} - 1 END"

    def _text(self, table: str, name: str) -> str:
        if name not in self.columns[table]:
            return "NULL"
        column = _quoted(name)
        return f"CASE typeof({column}) WHEN 'text' THEN substr({column}, 1, {_LONGEST_TEXT}) END"

    def strings(self, numbers: set[int]) -> dict[int, str]:
        """The texts of the table ``StringIds`` by number; those that it lacks are left out."""
        wanted = [number for number in numbers if number not in self._strings]
        if {"id", "value"} <= set(self.columns.get("StringIds", ())):
            for first in range(0, len(wanted), _ASKED):
                self._look_up(wanted[first : first + _ASKED])
        return {number: self._strings[number] for number in numbers if number in self._strings}

    def _look_up(self, wanted: list[int]) -> None:
        marks = ", ".join("?" * len(wanted))
        query = (
            f"SELECT id, {self._text('StringIds', 'value')} FROM StringIds WHERE id IN ({marks})"
        )
        try:
            for number, text in self._connection.execute(query, wanted):
                if isinstance(text, str):
                    self._strings[number] = text
        except sqlite3.Error as error:
            self.damaged["StringIds"] = clean(str(error))

    def record(self, table: str, key: int) -> dict[str, Any]:
        """One row by its key, by column; columns without a value are left out.

        Raises:
            TraceError: the row cannot be read.
        """
        if table not in self._keyed:
            return {}
        names = self.columns[table]
        fields = [
            f"CASE typeof({one}) WHEN 'blob' THEN length({one}) || ' bytes' WHEN 'text' "
            f"THEN substr({one}, 1, {_LONGEST_TEXT}) ELSE {one} END"
            for one in map(_quoted, names)
        ]
        query = f"SELECT {', '.join(fields)} FROM {_quoted(table)} WHERE _rowid_ = ?"
        try:
            found = self._connection.execute(query, (key,)).fetchone()
        except sqlite3.Error as error:
            raise TraceError(f"the database is damaged ({clean(str(error))})") from error
        row = () if found is None else found
        return {name: value for name, value in zip(names, row, strict=False) if value is not None}


def _rising(chunk: list[Row], last: int) -> list[Row]:
    """The rows whose keys rise, beyond ``last``; others are what damage left."""
    if chunk[0][0] > last and all(a[0] < b[0] for a, b in pairwise(chunk)):
        return chunk
    kept: list[Row] = []
    for row in chunk:
        if row[0] > last:
            last = row[0]
            kept.append(row)
    return kept


def _address(path: str) -> str:
    return f"{Path(os.path.abspath(path)).as_uri()}?mode=ro&immutable=1"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
