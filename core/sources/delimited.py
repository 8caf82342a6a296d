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

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..domain import Categorical, Column, Coordinate, Dates, Domain, Items, Numeric
from ..domain.column import to_numpy
from ..domain.formats import FORMATS, fitting, guessed
from ..domain.written import are_words
from ..errors import RequestError
from ..runtime.parameters import check_integer
from .copies import (
    EITHER,
    PIECE,
    UTF16,
    Copies,
    checked_encoding,
    in_utf8,
    is_central,
    is_utf8,
    is_wide,
    pieces_of,
    recoding,
)
from .duck import Fault, QuotedLines, identifier, literal, literals, plain_sentences
from .people import Pairs, rounded_text
from .queried import QueriedSource
from .source import Location, Part

# Rows that are looked at, and how many of them must have a value, so that a few odd ones refuse nothing.
FIRST, FEWEST = 1_000, 20


LookedAt = Numeric | Coordinate | Dates


def is_looked_at(column: Column) -> TypeGuard[LookedAt]:
    """Whether a column is read from texts that may not be what they are declared as."""
    return isinstance(column, (Numeric, Coordinate, Dates)) and column.as_written


def check_first(columns: Sequence[LookedAt], first: pa.Table, no_value: tuple[str, ...]) -> None:
    """Refuse columns of numbers or dates of which none of the first values is one: all of them at once.

    `first`: The first values of each, as they are written. `no_value`: Texts that stand for no value in any column.
    RequestError: A sentence for each column that says what can be done, and repeats no value.
    """
    texts = {column.name: pc.cast(first.column(column.field).combine_chunks(), pa.large_string()) for column in columns}
    if refused := [words for column in columns if (words := _refusal(column, texts[column.name], no_value))]:
        raise RequestError(" ".join(refused))


def _refusal(column: LookedAt, texts: pa.Array, no_value: tuple[str, ...]) -> str:
    """Why a column cannot be read as it is declared; "" where it may be."""
    words = column.missing if isinstance(column, Dates) else getattr(column.reading, "missing", ())
    present = ~to_numpy(pc.fill_null(are_words(texts, (*words, *no_value)), True))
    many = int(present.sum())
    if many < FEWEST or not np.isnan(column.numbers(texts.filter(pa.array(present)))).all():
        return ""
    what, advice = "number", "declare it as what it is, such as a date or categories, or say which words mean missing"
    if isinstance(column, Dates):
        what, advice = (
            "date",
            "say how dates are written in it, such as day_first or %d.%m.%Y, or declare it as what it is",
        )
    return f"None of the first {many:,} values of the column {column.name!r} can be read as a {what}: {advice}."


HEAD_BYTES = 1 << 20
NONE = pa.array([], pa.large_string())
MAX_FIELDS = 20_000  # Columns of a text table.
LOOKED_AT = 400_000  # Values whose formats are guessed for the owner.
DELIMITERS = (",", "\t", ";", "|")
NAMED_MARKS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " ", "colon": ":"}

# How people write, in a column of numbers, that there is none (besides leaving the field empty).
NO_NUMBER = ("na", "n/a", "#n/a", "null", "none", "nan", "-nan", "<na>", "-", "?", ".")


@dataclass(frozen=True)
class TextOptions:
    """How a text table or a spreadsheet is read where its owner says more than its name and header do."""

    # Such as "windows-1252"; "" for UTF-16 where a mark says so, Windows-1250 where the names do, else `copies.EITHER`.
    encoding: str = ""
    # What stands between fields, or its name ("tab", "semicolon"); "" for what the header line has most of.
    separator: str = ""
    # The line of the names, from 1, or 0 where there is none; None for the first one, if it has names.
    header: int | None = None
    names: tuple[str, ...] = ()  # Names for all columns, in place of those in the file; () for these.
    sheet: str = ""  # Of a spreadsheet: "" for its first, "*" for all of them.

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoding", checked_encoding(self.encoding))
        mark = NAMED_MARKS.get(self.separator, self.separator)
        if len(mark) > 1 or (mark and (mark.isalnum() or mark in "\"'\r\n\0")):
            raise RequestError(
                f"What separates fields must be one character that no value begins with, or {', '.join(NAMED_MARKS)}."
            )
        object.__setattr__(self, "separator", mark)
        header = int(self.header) if isinstance(self.header, bool) else self.header
        if header is not None:
            header = check_integer(header, "The line of the names (header)", 0, 1_000)
        object.__setattr__(self, "header", header)
        object.__setattr__(self, "names", tuple(self.names))


AS_FOUND = TextOptions()  # By its name and header alone.


class DelimitedSource(QueriedSource):
    """Records of text files with one header line each, the same in all of them.

    What separates fields, and what quotes them, is taken from the header line alone, which is public: of the records
    one could change how all others are read.
    """

    named_by_records = False  # Whether the names are those that records have, each its own.

    def __init__(self, location: Location, name: str, options: TextOptions = AS_FOUND) -> None:
        self.asked, self.location = options, location
        self.zipped = name.lower().endswith(".gz")
        with location.opened() as paths, plain_sentences(location.label):
            heads = [_head(path, location.label, self.zipped) for path in paths]
        encoding = self.asked.encoding or ("utf-16" if any(head.startswith(UTF16) for head in heads) else "")
        wide = encoding == "" and all(is_wide(head) for head in heads)
        central = encoding == "" and not wide and all(is_central(head, self.asked.header) for head in heads)
        self.encoding = "utf-16-le" if wide else "windows-1250" if central else encoding
        self.checked = False
        self.goes_on = False  # Whether fields go on in the next line.
        if self.encoding not in ("", "utf-8"):
            self._copy()
        texts = [b"".join(in_utf8([head], self.encoding)).decode() for head in heads]
        self._read_headers(texts, "\t" if re.search(r"\.tsv(\.gz)?$", name.lower()) else "")
        rows = [self._first_rows(text, len(head) == HEAD_BYTES) for text, head in zip(texts, heads, strict=True)]
        self.empty = not any(rows)
        columns = [pa.array(values, pa.large_string()) for values in zip(*rows[0], strict=True)]
        columns = columns or [NONE] * len(self.names)
        self.guessed = dict(zip(self.names, guessed(columns, self.delimiter == ";"), strict=True))
        self.found_out = False  # Whether formats were, under a promise: refusals by values would tell more than that.
        super().__init__(self.location, self._text_table)
        self.columns = tuple(replace(column, format=self.guessed[column.name][1]) for column in self.columns)

    def _copy(self) -> None:
        self.location = Copies(self.location, recoding(self.encoding, self.zipped))
        self.zipped = False

    def _read_headers(self, texts: Sequence[str], mark: str) -> None:
        """Take names, separator and quotes from the lines of names; RequestError where they are not alike."""
        label, said = self.location.label, self.asked.header
        lines = [text.lstrip("\r\n") for text in texts]
        stated = re.match(r'"?sep=(.)"?\r?\n', lines[0])  # a line for Excel
        self.header = said if said is not None else 2 if stated else 1
        mark = self.asked.separator or (stated.group(1) if stated else mark)
        headers = {_line(text, max(self.header, 1)) for text in lines} if self.header else {_line(lines[0], 1)}
        if len(headers) > 1:
            raise RequestError(f"All of {label} must have the same first line.")
        (line,) = headers
        if "\0" in line:  # of records one alone would say so of all
            raise RequestError(f"What is in {label} is no text table: save it as CSV with the encoding UTF-8.")
        single = self.header and re.fullmatch(r"'[^']*'(.'[^']*')*", line) and '"' not in line
        self.quote = "'" if single else '"'
        self.delimiter = mark or max(DELIMITERS, key=lambda one: _count(line, one, self.quote))
        unsaid = not mark and sum(_count(line, one, self.quote) > 0 for one in DELIMITERS) > 1
        guessed = self.encoding.startswith("utf-16") and not self.asked.encoding
        if not self.header and (unsaid or guessed):
            way = "what separates the fields" if unsaid else "that the text is in UTF-16"
            raise RequestError(
                f"Without names nothing public says {way} of {label}: say it, as by sep=semicolon or encoding=utf-16."
            )
        try:
            fields = next(csv.reader([line], delimiter=self.delimiter, quotechar=self.quote), [])
            if _goes_on(line):
                raise csv.Error
        except csv.Error:
            raise RequestError(f"The first line of {label} has a quote that does not end where a name does.") from None
        if len(fields) > MAX_FIELDS:
            raise RequestError(
                f"The first line of {label} has more than {MAX_FIELDS:,} fields, which are too many to read: "
                "leave out the columns that are not needed."
            )
        if said is None and _seem_values(fields):
            raise RequestError(
                f"The first line of {label} has values where names of columns are expected: say that there are none "
                "(header 0), or in which line they stand, such as 3, or 1 if these are the names."
            )
        names = self.asked.names or (tuple(fields) if self.header else ("",) * len(fields))
        if len(names) != len(fields):
            raise RequestError(
                f"There are {len(fields):,} columns in {label}, and {len(names):,} names are given: give one for each."
            )
        self.names = distinct_names(names)
        self.remarks = tuple(self._remarked(names))
        if len(self.names) == 1 and self.names[0] == "":
            raise RequestError(f"There is nothing in {label}.")

    def _remarked(self, names: Sequence[str]) -> Iterator[str]:
        marks = {mark: word for word, mark in NAMED_MARKS.items()}
        between = f"{marks.get(self.delimiter, repr(self.delimiter))}s" if len(self.names) > 1 else ""
        yield f"Text in {(self.encoding or EITHER).replace('utf', 'UTF')}" + (
            f", fields separated by {between}." if between else "."
        )
        changed = [(was, name) for was, name in zip(names, self.names, strict=True) if was.strip() != name]
        if changed and self.header:
            shown = ", ".join(f"{name!r}" for _, name in changed[:5]) + (", …" if len(changed) > 5 else "")
            yield f"Columns without a name, or with one that is there twice, are called {shown}, unless you name them."
            if sum(not name.strip() for name in names) > len(names) / 2:
                yield "Most have no name: where titles stand above the names, say in which line these are (header)."

    def fingerprint(self) -> dict | None:
        """That of the files and of how they are read, whether a copy was made meanwhile or not."""
        files = self.location.fingerprint()
        said = [self.encoding, self.delimiter, self.quote, self.header, list(self.names)]
        return None if files is None else files | {"text": said}

    def _text_table(self, paths: Sequence[str]) -> str:
        columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in self.names)
        quote, packed = literal(self.quote), literal("gzip" if self.zipped else "none")
        return (
            f"read_csv({literals(paths)}, delim = {literal(self.delimiter)}, quote = {quote}, escape = {quote}, "
            f"comment = '', skip = {max(self.header - 1, 0)}, header = {self.header > 0}, encoding = 'utf-8', "
            f"compression = {packed}, auto_detect = false, parallel = {not self.goes_on}, columns = {{{columns}}})"
        )

    def _first_rows(self, text: str, cut: bool) -> list[list[str]]:
        """The first records as they look before anything reads them well, for a guess alone."""
        lines = text.lstrip("\r\n").splitlines(keepends=True)[max(self.header - 1, 0) :]
        found = csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote)
        most = min(FIRST, max(FEWEST, LOOKED_AT // len(self.names))) + (self.header > 0)
        try:
            rows = list(islice(found, most + 1))
        except csv.Error:  # a field without an end, of which reading will tell
            return []
        last = -1 if cut or len(rows) > most else len(rows)
        return [row for row in rows[self.header > 0 : last] if len(row) == len(self.names)]

    def _describe(self, paths: Sequence[str]) -> dict[str, str]:
        return dict.fromkeys(self.names, "VARCHAR")

    def _kind(self, name: str, sql_type: str) -> str:
        return self.guessed[name][0]

    def _check_text(self) -> None:
        """Read a copy from now on where a byte is none of UTF-8, else the copy would be the file; and by one thread
        where fields go on in the next line, as several take that for records. Of a field without an end all is left out
        by one, and refused by several."""
        if not self.checked:
            self.checked = True
            if not self._looked_through():
                self._copy()
                self._looked_through()

    def _looked_through(self) -> bool:
        """Whether all is UTF-8; whether fields go on is known then."""
        lines = QuotedLines(self.quote)
        with self.location.opened() as paths, plain_sentences(self.label):
            valid = all(is_utf8(lines.watching(pieces_of(path, self.zipped))) for path in paths)
        self.goes_on = lines.found and not lines.unended
        return valid

    def _batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        self._check_text()
        yield from super()._batches(domain, rows)

    def pairs(self, domain: Domain) -> Pairs:
        self._check_text()
        return super().pairs(domain)

    def _parts(self, domain: Domain) -> tuple[Part, ...]:
        self._check_text()
        return self._file_parts(domain)

    def check_columns(self, domain: Domain) -> None:
        """Refuse also columns of numbers or dates of which none of the first values is one.

        A first line with the names that are asked for, and nobody below it, is a table like any other: to refuse it
        would tell that there is nobody, for which nobody had paid. A single line of something else is no table.
        """
        domain = domain.read
        if self.empty and not set(domain.fields) <= set(self.names):
            raise RequestError(f"There is a single line in {self.label}, and it does not name the columns asked for.")
        super().check_columns(domain)
        looked_at = [column for column in domain.columns if is_looked_at(column)]
        if not looked_at or self.found_out:
            return
        names = ", ".join(dict.fromkeys(identifier(column.field) for column in looked_at))
        self._check_text()
        with self.location.opened() as paths, self.scan(paths).connection() as session, plain_sentences(self.label):
            first = session.sql(f"SELECT {names} FROM {self._text_table(paths)} LIMIT {FIRST}").to_arrow_table()
        check_first(looked_at, first, NO_NUMBER)

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


MOST_LINES = 9  # That a name may go on for: a quote without an end would make names of records.


def _head(path: str, label: str, zipped: bool) -> bytes:
    """The beginning of a file."""
    head = b"".join(islice(pieces_of(path, zipped), HEAD_BYTES // PIECE))
    if not head.strip():
        raise RequestError(f"There is nothing in {label}.")
    return head[: len(head) // 2 * 2] if head.startswith(UTF16) else head


def _line(text: str, number: int) -> str:
    """One line of a text, with the ones that a quoted field goes on in."""
    lines = re.split(r"\r\n|\r|\n", text)
    line = "".join(lines[number - 1 : number])
    for more in lines[number : number + MOST_LINES]:
        if not _goes_on(line):
            break
        line += "\n" + more
    return line


def _goes_on(line: str) -> bool:
    """Whether a field that begins with a quote has no end yet."""
    return bool(re.search(r'(^|[,\t;|])"[^"]*$', re.sub(r'(^|[,\t;|])"([^"]|"")*"', r"\1", line)))


def _count(line: str, mark: str, quote: str) -> int:
    """How often a mark occurs outside of quotes."""
    return re.sub(f"{quote}[^{quote}]*{quote}", "", line).count(mark)


def _seem_values(fields: Sequence[str]) -> bool:
    """Whether the first line seems to be a record, whose values would become public as names of columns.

    It does where one field has decimals, a day or an address, and where fewer than half of what stands there may be
    names; numbers of years may.
    """
    written = [one for field in fields if (one := field.strip())]
    names = sum(_may_be_name(one) or bool(re.fullmatch(r"1[89]\d\d|20\d\d", one)) for one in written)
    return not any(map(_may_be_name, written)) or 2 * names < len(written) or any(map(VALUE.fullmatch, written))


VALUE = re.compile(r"[-+]?\d*[.,]\d+|\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?|[^@\s]+@[^@\s]+\.\w+")
"""What is hardly ever the name of a column: a number with decimals, a date with its day, an address."""


def _may_be_name(field: str) -> bool:
    """Whether a field of the first line may be a column's name: it is no number, no date, and not nothing."""
    (fits,) = fitting(pa.array([field.strip()]))
    kinds = {one.kind for place, one in enumerate(FORMATS) if fits >> place & 1}
    return bool(kinds & {"category", "text"}) or (kinds == {"yes_no"} and not field.strip().isdigit())


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names that differ in more than case, each with a number behind it where it was there before, and none empty."""
    found: dict[str, str] = {}
    for place, name in enumerate(names):
        plain, number = name.strip() or (f"column{place}" if len(names) > 1 else ""), 0
        one = plain
        while one.lower() in found:
            number += 1
            one = f"{plain}_{number}"
        found[one.lower()] = one
    return tuple(found.values())
