"""Text tables: CSV and its relatives, whose every value is read as text, as types that are guessed fail later.

A guess from the first rows that row 200,000 contradicts would stop a long reading in the middle. Worse, a guess is made
of all records together: one person's value would change how everyone else's are read, which no noise is meant to hide.
So every field is text, and how one is read depends on itself and on the domain alone: a column that is declared as
numbers is converted value by value, and what is no number is refused by row, never shown. Where the domain says how
numbers or dates are written, it gets the texts as they are, and what cannot be read is a missing value. The guess only
tells the owner what kind of column it is.

Whether the first values can be read as they are declared at all is looked at for the owner's eyes alone. Dates that are
declared as numbers, or are written in another way than was said, would all be missing values: a release would be paid
for that holds nobody. Like the kind of a column, which is guessed from the same rows, what is found here is told to
whoever has the records, before anything is paid, and is in no release.
"""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..domain import Categorical, Column, Coordinate, Dates, Domain, Items, Numeric
from ..domain.column import to_numpy
from ..domain.written import are_words
from ..errors import RequestError
from .duck import Fault, identifier, kind_of_sql, literal, literals, plain_sentences
from .people import rounded_text
from .queried import QueriedSource
from .source import Location, Part

# Rows that are looked at, and how many of them must have a value, so that a few odd ones refuse nothing.
FIRST, FEWEST = 1_000, 20


LookedAt = Numeric | Coordinate | Dates


def is_looked_at(column: Column) -> TypeGuard[LookedAt]:
    """Whether a column is read from texts that may not be what they are declared as."""
    return isinstance(column, (Numeric, Coordinate, Dates)) and column.as_written


def check_first(column: LookedAt, texts: pa.Array, no_value: tuple[str, ...]) -> None:
    """Refuse a column of numbers or dates when none of its first values is one.

    Parameters
    ----------
    texts : pa.Array
        Its first values, as they are written.
    no_value : tuple[str, ...]
        Texts that stand for no value in any column.

    Raises
    ------
    RequestError
        One sentence that says what can be done, and repeats no value.
    """
    words = column.missing if isinstance(column, Dates) else getattr(column.reading, "missing", ())
    present = ~to_numpy(pc.fill_null(are_words(texts, (*words, *no_value)), True))
    many = int(present.sum())
    if many < FEWEST or not np.isnan(column.numbers(texts.filter(pa.array(present)))).all():
        return
    what, advice = "number", "declare it as what it is, such as a date or categories, or say which words mean missing"
    if isinstance(column, Dates):
        what, advice = "date", "say how dates are written in it, such as %d.%m.%Y, or declare it as what it is"
    raise RequestError(
        f"None of the first {many:,} values of the column {column.name!r} can be read as a {what}: {advice}."
    )


def text_columns(rows: list[tuple], names: list[str]) -> Mapping[str, pa.Array]:
    """The first rows of a table as texts, by the name of the column."""
    return {name: pa.array([row[place] for row in rows], pa.large_string()) for place, name in enumerate(names)}


HEAD_BYTES = 1 << 20
MAX_FIELDS = 20_000  # Columns of a text table: what finds out their kinds takes memory for each, 0.2 GB for these.
DELIMITERS = (",", "\t", ";", "|")

# How people write, in a column of numbers, that there is none (besides leaving the field empty).
NO_NUMBER = ("na", "n/a", "#n/a", "null", "none", "nan", "-nan", "<na>", "-", "?", ".")


class DelimitedSource(QueriedSource):
    """Records of text files with one header line each, the same in all of them."""

    def __init__(self, location: Location, name: str) -> None:
        zipped, tabs = name.lower().endswith(".gz"), re.search(r"\.tsv(\.gz)?$", name.lower())
        with location.opened() as paths, plain_sentences(location.label):
            heads = [_head(path, location.label, zipped) for path in paths]
        encodings = {encoding for encoding, _ in heads}
        lines = {_first_line(text) for _, text in heads}
        if len(lines) > 1 or len(encodings) > 1:
            raise RequestError(f"All of {location.label} must have the same first line and encoding.")
        (line,), (encoding,) = lines, encodings
        delimiter = "\t" if tabs else max(DELIMITERS, key=lambda mark: _count(line, mark))
        compression = "gzip" if zipped else "none"
        self.options = (
            f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', comment = '', skip = 0, "
            f"encoding = {literal(encoding)}, compression = {literal(compression)}"
        )
        self.fields = _count(line, delimiter) + 1
        if self.fields > MAX_FIELDS:
            raise RequestError(
                f"The first line of {location.label} has more than {MAX_FIELDS:,} fields, which are too many to read: "
                "leave out the columns that are not needed."
            )
        self.header = True
        self.guessed: dict[str, str] = {}
        self.empty = False
        super().__init__(location, self._text_table)

    def _text_table(self, paths: Sequence[str]) -> str:
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.guessed)
        fixed = f"header = {self.header}, auto_detect = false, columns = {{{columns}}}"
        return f"read_csv({literals(paths)}, {self.options}, {fixed})"

    def _describe(self, paths: Sequence[str]) -> dict[str, str]:
        sniff = f"SELECT HasHeader, Columns FROM sniff_csv({literal(paths[0])}, {self.options})"
        with self.scan(paths).connection() as session:
            try:
                with plain_sentences(self.label):
                    ((self.header, columns),) = session.execute(sniff).fetchall()
            except RequestError:
                # Reading on with what the first line says makes DuckDB tell which line breaks the table.
                self.guessed = {f"field {place}": "VARCHAR" for place in range(self.fields)}
                with plain_sentences(self.label):
                    session.execute(f"SELECT count(*) FROM {self._text_table(paths)}").fetchall()
                raise
            self.guessed = {column["name"]: column["type"] for column in columns}
            with plain_sentences(self.label):
                self.empty = not session.execute(f"SELECT 1 FROM {self._text_table(paths)} LIMIT 1").fetchall()
        return dict.fromkeys(self.guessed, "VARCHAR")

    def _kind(self, name: str, sql_type: str) -> str:
        return kind_of_sql(self.guessed[name])

    def _parts(self, domain: Domain) -> tuple[Part, ...]:
        return self._file_parts(domain)

    def check_columns(self, domain: Domain) -> None:
        """Refuse also columns of numbers or dates of which none of the first values is one.

        A first line with the names that are asked for, and nobody below it, is a table like any other: to refuse it
        would tell that there is nobody, for which nobody had paid. A single line of something else is no table.
        """
        if self.empty and not set(domain.fields) <= set(self.guessed):
            raise RequestError(f"There is a single line in {self.label}, and it does not name the columns asked for.")
        super().check_columns(domain)
        looked_at = [column for column in domain.columns if is_looked_at(column)]
        if not looked_at:
            return
        names = list(dict.fromkeys(column.field for column in looked_at))
        with self.location.opened() as paths:
            listed = ", ".join(map(identifier, names))
            first = text_columns(
                self.scan(paths).fetch(f"SELECT {listed} FROM {self._text_table(paths)} LIMIT {FIRST}"), names
            )
        for column in looked_at:
            check_first(column, first[column.field], NO_NUMBER)

    def value_sql(self, column: Column) -> str:
        name = identifier(column.field)
        if not column.as_written:
            truth = f"CASE lower({name}) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END"
            return f"coalesce(TRY_CAST({name} AS DOUBLE), {truth})"
        if isinstance(column, Items) and column.gathered:
            return f"nullif(trim({name}), '')"  # as ids are read
        if type(column) is Categorical and set(column.categories) <= {"true", "false"} and not column.written:
            return f"coalesce(CAST(TRY_CAST({name} AS BOOLEAN) AS VARCHAR), {name})"  # True, FALSE, yes, t, 1 …
        return name

    def faults(self, column: Column) -> list[Fault]:
        if isinstance(column, Items) and column.gathered:
            return [rounded_text(column.name)]
        if column.as_written:
            return []
        name, value = identifier(column.name), self.value_sql(column)
        # A pattern and no IN (…): DuckDB plans a long list as a join, which gives up the order of the rows.
        marked = f"regexp_full_match(lower(trim({name})), {literal('|'.join(map(re.escape, ('', *NO_NUMBER))))})"
        problem = "is not a number; numbers need a decimal point and no thousands separators"
        return [Fault(f"{name} IS NOT NULL AND {value} IS NULL AND NOT {marked}", column.name, problem)]


def _head(path: str, label: str, zipped: bool) -> tuple[str, str]:
    """Encoding as DuckDB calls it, and the beginning of the text."""
    with gzip.open(path) if zipped else Path(path).open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.strip():
        raise RequestError(f"There is nothing in {label}.")
    if head.startswith(codecs.BOM_UTF16_LE) and b"\0" in head[:4]:
        return "utf-16", head[: len(head) // 2 * 2].decode("utf-16", errors="replace")
    if b"\0" in head or head.startswith(codecs.BOM_UTF16_BE):
        raise RequestError(f"What is in {label} is not a text table in UTF-8; save it as CSV with the encoding UTF-8.")
    try:
        return "utf-8", codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError as error:
        line = head.count(b"\n", 0, error.start) + 1
        raise RequestError(
            f"Line {line:,} of {label} is not UTF-8 text: save the file with the encoding UTF-8."
        ) from None


def _first_line(text: str) -> str:
    return re.split(r"\r\n|\r|\n", text.lstrip("\r\n"), maxsplit=1)[0]


def _count(line: str, mark: str) -> int:
    """How often a mark occurs outside of quotes."""
    return re.sub(r'"[^"]*"', "", line).count(mark)
