"""DuckDB as a streaming reader: locked down, bounded in memory, and silent about values when it fails."""

from __future__ import annotations  # its types name duckdb, which may be missing

import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..errors import RequestError
from ..runtime.environment import check_extra
from ..runtime.faults import lacks_memory
from ..runtime.transient import private_folder, unlinked

try:
    import duckdb
except ModuleNotFoundError:  # only who reads text and databases, or sorts records by person, needs it
    FAILURES: tuple[type[Exception], ...] = ()
else:
    FAILURES = (duckdb.Error,)

# Tried in turn: tables of a few columns stream in the first, very wide ones need the row groups that they came in.
MEMORY_LIMITS = ("400MB", "1600MB", "6400MB")

MOST_SPILLED = 64 << 30  # Bytes that one reading may spill: of pairs of whole numbers some five billion rows.

# How the names of files end into which DuckDB spills, which it keeps open; others hold one large value each.
SPILLED = ".tmp"

MAX_THREADS = 4  # Each thread holds a row group, and four read faster than any sketch is filled.


def identifier(name: str) -> str:
    """A name as SQL reads it back unchanged."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Sequence[str]) -> str:
    """Texts as an SQL list."""
    return "[" + ", ".join(map(literal, texts)) + "]"


@dataclass(frozen=True)
class Scan:
    """A table expression and what it takes to read it."""

    table: str  # an SQL expression
    label: str  # How messages name it.
    paths: Sequence[str] = ()  # The files that may be read, and no others.
    # Statements to run before the configuration is locked (attaching a database, loading an extension).
    setup: Sequence[str] = ()
    # Gives, afresh for every reading, the Arrow tables or readers that the expression names.
    make_tables: Callable[[], Mapping[str, object]] = dict
    refused: list[RequestError] = field(default_factory=list, compare=False)  # What those readers refused, and why.

    def reading(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; a refusal among them is kept, as DuckDB makes a complaint of its own of it."""
        try:
            yield from batches
        except RequestError as problem:
            self.refused.append(problem)
            raise

    @contextmanager
    def connection(
        self, memory: str = MEMORY_LIMITS[-1], spill: Path | None = None
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        """An empty database in memory that may read the paths and nothing else.

        `spill`: The folder for what does not fit in memory; None keeps everything there.
        """
        check_extra("duckdb", "sql", f"Reading {self.label}")
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory,
            "temp_directory": "" if spill is None else str(spill),
            "threads": min(MAX_THREADS, os.cpu_count() or 1),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        session = duckdb.connect(":memory:", config=settings)
        try:
            if spill is not None:  # among the settings above DuckDB takes no notice of it
                room = min(MOST_SPILLED, shutil.disk_usage(spill).free // 2)
                session.execute(f"SET max_temp_directory_size = '{room}B'")
            session.execute("SET enable_external_file_cache = false")  # read once: a cache only fills memory
            session.execute("SET python_enable_replacements = false")  # no name in SQL means a Python variable
            session.execute("SET enable_progress_bar = false")  # standard output belongs to the caller
            with plain_sentences(self.label):
                for statement in self.setup:
                    session.execute(statement)
            if not any("://" in path for path in self.paths):
                session.execute(f"SET allowed_paths = {literals(self.paths)}")
                session.execute("SET enable_external_access = false")
            session.execute("SET lock_configuration = true")
            for name, table in self.make_tables().items():
                session.register(name, table)
            yield session
        finally:
            session.close()

    @contextmanager
    def spilling(self, memory: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """The same, where what does not fit in memory spills into a folder that only its owner may enter.

        It is removed at the end; where the process is killed, by the next one (`core.runtime.transient`). Its files
        have lost their names by then, so no row is left in it, but for values of more than 256 KiB each. What spills
        takes at most `MOST_SPILLED` bytes and half of what is free there, so that a sort never fills the disk of
        others.
        """
        with private_folder() as spill, unlinked(spill, SPILLED), self.connection(memory, spill) as session:
            yield session

    def fetch(self, sql: str) -> list[tuple]:
        """The few rows of a query about the table, not of it."""
        with self.connection() as session, plain_sentences(self.label):
            return session.execute(sql).fetchall()

    def stream(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """The result of a query in batches; with more memory when there was too little to get to the first one."""
        for memory in MEMORY_LIMITS:
            started = False
            try:
                with self.spilling(memory) as session, plain_sentences(self.label, self.refused):
                    for batch in session.sql(sql).to_arrow_reader(rows):
                        started = True
                        yield batch
                return
            except OutOfMemory:
                if started or memory == MEMORY_LIMITS[-1]:
                    raise


class OutOfMemory(RequestError):
    """DuckDB met its memory limit."""


@contextmanager
def plain_sentences(label: str, refused: Sequence[RequestError] = ()) -> Iterator[None]:
    """Turn what a reader complains about into one sentence that holds no value of the data, as theirs often do.

    `refused`: What was said of it already.
    """
    try:
        yield
    except RequestError:
        raise
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of whatever the handler of a signal raises
            raise KeyboardInterrupt from None
        raise
    except (*FAILURES, pa.ArrowException, OSError, ValueError, EOFError, zlib.error, MemoryError) as error:
        raise (refused[0] if refused else _sentence(label, error)) from None


def _sentence(label: str, error: Exception) -> RequestError:
    message = str(error)
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"Line {int(line.group(1)):,} of {label}" if line else f"A line of {label}"
    # Behind a stream of Arrow batches it is an OSError.
    out_of_memory = message.startswith("Out of Memory Error") or (
        FAILURES and isinstance(error, duckdb.OutOfMemoryException)
    )
    if lacks_memory(error):
        return RequestError(
            f"There is not enough memory on this computer to read {label}, unless it is damaged and says that it is "
            "larger than it is: close other programs, use fewer columns, or write it in smaller pieces."
        )
    if out_of_memory and "max_temp_directory_size" in message:
        return OutOfMemory(
            f"Sorting {label} needs more room in the folder for temporary files than half of what is free there, or "
            f"than {MOST_SPILLED >> 30} GiB: name another folder in TMPDIR, or sort the data beforehand."
        )
    if out_of_memory:
        return OutOfMemory(
            f"Reading {label} needs more than {MEMORY_LIMITS[-1]} of memory: use fewer columns, or write it in smaller "
            "row groups."
        )
    if "extension" in message.lower() and "httpfs" in message:
        return RequestError(
            f"Reading {label} needs DuckDB's extension httpfs, which is not installed; where there is a network, "
            "python -c \"import duckdb; duckdb.sql('INSTALL httpfs')\" installs it."
        )
    if "Could not set lock" in message:
        return RequestError(f"{_capital(label)} is in use by another program.")
    if FAILURES and isinstance(error, duckdb.PermissionException):
        return RequestError(f"{_capital(label)} refers to other files, which are not opened.")
    if isinstance(error, FileNotFoundError):
        return RequestError(f"{_capital(label)} is not there any more.")
    if "Expected Number of Columns" in message:
        return RequestError(f"{where} has another number of fields than the first line; every line needs the same.")
    if "not utf-8" in message or "Invalid unicode" in message:
        return RequestError(f"{where} is not UTF-8 text: save the file with the encoding UTF-8.")
    if "unterminated quote" in message:
        return RequestError(f"{where} has a quoted field that doesn't end.")
    if "invalid state" in message:
        return RequestError(
            f"What separates the lines or fields of {label} is not clear: it may mix the line ends of Windows and "
            'Unix, or quote with another mark than "; save it again as plain CSV.'
        )
    if "allow_pickle" in message or "Python objects" in message:
        return RequestError(
            f"{_capital(label)} holds Python objects, which are never loaded, as loading them could run a stranger's "
            "program; save plain numbers."
        )
    if "Maximum line size" in message:
        return RequestError(f"{where} is longer than two million characters, so it is hardly a line of a table.")
    return RequestError(
        f"{_capital(label)} cannot be read: damaged, cut short, or not in the format that the name says."
    )


class QuotedLines:
    """Whether a line of a text goes on in the next one, in quotes; where one is unsure, as of a stray quote, it may.

    `quote`: The mark, of one byte in every encoding that is read. `found`: Whether one does. `unended`: Whether a text
    ends within quotes.
    """

    def __init__(self, quote: str) -> None:
        self._quote, self._open, self.found, self.unended = ord(quote), False, False, False

    def watching(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The same pieces of one text, looked at on their way."""
        self._open = False
        for piece in pieces:
            letters = np.frombuffer(piece, np.uint8)
            quotes = np.flatnonzero(letters == self._quote)
            if not self.found and (self._open or len(quotes)):
                ends = np.flatnonzero((letters == ord("\n")) | (letters == ord("\r")))
                self.found = bool(np.any((np.searchsorted(quotes, ends) + self._open) & 1))
            self._open ^= len(quotes) % 2 == 1
            yield piece
        self.unended |= self._open


def _capital(label: str) -> str:
    return label[:1].upper() + label[1:]


def length_of_sql(kind: str) -> int | None:
    """How many entries every list of a DuckDB type has, by its name; None where they may differ, or it is no list."""
    length = re.search(r"\[(\d+)\]$", kind)
    return int(length.group(1)) if length else None


def kind_of_sql(kind: str) -> str:
    """Kind of the values of a DuckDB type, by its name."""
    if kind.endswith("]"):
        return "vector" if kind_of_sql(kind[: kind.rindex("[")]) == "number" else "other"
    head = kind.split("(")[0]
    if head.endswith("INT") or head.endswith("INTEGER") or head in ("FLOAT", "DOUBLE", "DECIMAL"):
        return "number"
    if head == "BOOLEAN":
        return "boolean"
    if head in ("VARCHAR", "ENUM", "UUID"):
        return "text"
    if head.startswith(("DATE", "TIME", "INTERVAL")):
        return "date"
    return "other"


@dataclass(frozen=True)
class Fault:
    """A condition in SQL under which a record is refused."""

    condition: str  # Holds of a record that is refused; where it is null, it does not hold.
    column: str
    problem: str  # How the message goes on after naming the place.
