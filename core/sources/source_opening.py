"""From whatever names the data to the source that reads it, and what is known of it before a record is read."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import numpy as np
import pandas as pd
import pyarrow as pa

from ..domain.column import arrow_table
from ..errors import RequestError
from ..formatting.numbers import count, size
from .copies import KINDS as FOREIGN
from .copies import Copies, Copying, Foreign, JsonLines, members, tables_in_zip
from .databases import database_table, is_database, tables_of
from .delimited import AS_FOUND, DelimitedSource, TextOptions
from .duck import literals
from .frames_and_arrays import ArrowSource, FrameSource, array_source, arrow_file, npy_file, npz_file
from .parquet import ParquetSource
from .queried import QueriedSource
from .source import MAX_NAMES_SHOWN, InMemory, Location, Paths, Source, Upload

MAX_FILES = 10_000
FORMATS = (
    "CSV or TSV (also .gz or .zip), Excel, OpenDocument, JSON lines, SPSS, Stata, SAS, Parquet, Arrow or Feather, .npy "
    "or .npz"
)
TEXTS, LINES = (".csv", ".txt", ".tsv"), (".jsonl", ".ndjson", ".json")
SUFFIXES = {
    **{f"{ending}{packed}": "text" for ending in TEXTS for packed in ("", ".gz")},
    **{f"{ending}{packed}": "lines" for ending in LINES for packed in ("", ".gz")},
    **FOREIGN,
    ".zip": "zip",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".npz": "npz",
}
# Endings of files that may arrive over the network, as a field for them lists them.
FILE_TYPES = list(dict.fromkeys(suffix.rpartition(".")[2] for suffix in SUFFIXES))


class FileReading(TypedDict, total=False):
    """How data are read that do not say it themselves, as whoever opens them may say it."""

    # For the columns of an array, which has none of its own, or in place of those of a text table or spreadsheet; of
    # JSON lines those that are columns, where not all records have the same ones.
    names: Sequence[str] | None
    # As of `TextOptions`, of text tables and spreadsheets alone; ``header=False`` says that there are no names.
    encoding: str
    sep: str
    header: bool | int | None
    sheet: str


@contextmanager
def _looked_up() -> Iterator[None]:
    """Turn what the system says of a name into a sentence: one too long for it, or in a folder that is closed to us."""
    try:
        yield
    except OSError as problem:
        raise RequestError(f"What the data are called cannot be looked up: {problem.strerror}.") from None


def open_source(
    data: object,
    names: Sequence[str] | None = None,
    *,
    encoding: str = "",
    sep: str = "",
    header: bool | int | None = None,
    sheet: str = "",
) -> Source:
    """Open data for reading; nothing but names and types of columns is looked at yet.

    `data`: A path or pattern of files in one of `FORMATS`, ``"file.xlsx::sheet"``, ``"file.duckdb::table"``,
    ``"file.sqlite::table"``, the address of a Parquet file in an object store, an `Upload`, a pandas frame, anything
    that speaks Arrow, a NumPy array, or a mapping from names to columns. `names`, `encoding`, `sep`, `header`, `sheet`:
    As of `FileReading`.

    RequestError when there is nothing to read, it is not what its name says, or it says itself how it is read.
    """
    said = (encoding, sep, header, tuple(names or ()), sheet)
    options = AS_FOUND if said == ("", "", None, (), "") else TextOptions(*said)
    source = _opened(data, options)
    if options == AS_FOUND or (isinstance(source, DelimitedSource) and source is not data):
        return source
    if options == TextOptions(names=options.names) == TextOptions(names=tuple(one.name for one in source.columns)):
        return source
    raise RequestError(
        f"How {source.label} is read cannot be said, as it says that itself: encoding, separator, header and sheet are "
        "said of text tables and spreadsheets, and names of these and of arrays."
    )


def _opened(data: object, options: TextOptions) -> Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, np.ndarray):
        return array_source(data, "the array", options.names or None)
    if isinstance(data, pd.DataFrame):
        return FrameSource(data)
    if isinstance(data, Mapping):
        return ArrowSource.of_table(arrow_table(data, list(data)), "the table")
    if isinstance(data, pa.RecordBatch):
        return ArrowSource.of_table(pa.Table.from_batches([data]), "the table")
    if hasattr(data, "__arrow_c_stream__"):
        return ArrowSource.of_table(pa.table(data), "the table")
    if isinstance(data, Upload):
        return _open_files(InMemory(f"the file {data.name!r}", data.content), _format(data.name), data.name, options)
    if isinstance(data, (str, Path)):
        return _open_named(str(data), options)
    raise RequestError(f"Data must be a path, a table or an array, and {type(data).__name__} is none of them.")


@_looked_up()
def named_files(name: str) -> tuple[str, ...]:
    """Paths of the files that a path, a pattern or a database table names; none for an address in an object store.

    RequestError when a path or pattern names none, or files that cannot be read together.
    """
    if _is_address(name):
        return ()
    if _is_table(name):
        return (str(_path(name.rpartition("::")[0]).absolute()),)
    return _files(name).paths


def _path(name: str) -> Path:
    """The path of a name; `~somebody` whom this computer does not know is a name like any other."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def _is_address(name: str) -> bool:
    return re.match(r"[a-z][a-z0-9+.-]+://", name, re.IGNORECASE) is not None


def _is_table(name: str) -> bool:
    return "::" in name and not Path(name).exists()


@_looked_up()
def _open_named(name: str, options: TextOptions) -> Source:
    if "\0" in name or not name:
        raise RequestError("The name of the data must be a path, a pattern or an address.")
    if _is_address(name):
        return _object_store(name)
    if _is_table(name):
        file, _, table = name.rpartition("::")
        if SUFFIXES.get(Path(file).suffix.lower()) == "sheet":
            return _open_files(_files(file), "sheet", file, replace(options, sheet=table))
        return database_table(_path(file), table)
    if is_database(path := _path(name)):
        known = ", ".join(f"{name}::{table}" for table in tables_of(path)[:MAX_NAMES_SHOWN])
        raise RequestError(f"{name!r} is a database; name one of its tables: {known}.")
    location = _files(name)
    return _open_files(location, _format(location.paths[0]), location.paths[0], options)


def _files(name: str) -> Paths:
    """The files that a path or a pattern names."""
    path = _path(name)
    if path.is_dir():
        raise RequestError(f"{name!r} is a folder; name its files with a pattern such as {str(path / '*.parquet')!r}.")
    if path.exists():
        found = [str(path)]
    else:
        # Path.glob refuses absolute patterns.
        found = sorted(file for file in glob.glob(str(path), recursive=True) if Path(file).is_file())  # noqa: PTH207
    if not found:
        pattern = "of the pattern " if glob.has_magic(name) else ""
        raise RequestError(f"There is no file {pattern}{name!r}.")
    if len(found) > MAX_FILES:
        raise RequestError(f"The pattern {name!r} names {len(found):,} files, and at most {MAX_FILES:,} are read.")
    if any(re.search(r"[*?\[]", file) for file in found):
        raise RequestError("The name of a file holds one of the characters * ? [ that make a pattern; rename the file.")
    if len({_format(file) for file in found}) > 1:
        raise RequestError(f"The pattern {name!r} names files of several formats; they must have the same.")
    _check_different(found)
    label = f"the file {path.name!r}" if len(found) == 1 else f"the {len(found):,} files of {path.name!r}"
    return Paths(label, tuple(str(Path(file).absolute()) for file in found))


def _check_different(names: Sequence[str]) -> None:
    """Refuse links to a file that is there by another name too: its records would count twice, and be hidden once."""
    names_of: dict[tuple[int, int], str] = {}
    for name in names:
        facts = Path(name).stat()
        if (other := names_of.setdefault((facts.st_dev, facts.st_ino), name)) is not name:
            raise RequestError(
                f"{Path(other).name!r} and {Path(name).name!r} are one file, whose records would count twice; name it "
                "once."
            )


def _format(name: str) -> str:
    lower = name.lower()
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if lower.endswith(suffix):
            return SUFFIXES[suffix]
    raise RequestError(f"The format of {Path(name).name!r} is not known by its name; what can be read is {FORMATS}.")


def _open_files(location: Location, kind: str, name: str, options: TextOptions) -> Source:
    if kind == "text":
        return DelimitedSource(location, name, options)
    if kind == "zip":
        return _open_zip(location, options)
    if kind == "lines":
        lines = JsonLines(name.lower().endswith(".gz"), options.names)
        source = _open_copied(location, lines, replace(options, header=None, names=()))
        if not lines.alike:
            source.named_by_records = True
            source.remarks += ("Its records have different names: a column that is used is public, whoever has it.",)
        return source
    if kind in FOREIGN.values():
        first = 1 if options.header is None else int(options.header)
        read = Foreign(location.label, kind, options.sheet, first)
        source = _open_copied(location, read, replace(options, header=options.header and 1))  # rows before it are gone
        if len(read.sheets) > 1 and not options.sheet:
            others = ", ".join(read.sheets[1:MAX_NAMES_SHOWN])
            source.remarks += (f"Read is the first sheet, {read.sheets[0]}; there are also: {others}.",)
        if read.wider:
            source.remarks += (
                "What stands beside the last name is left out: where titles stand above the names, say in which line "
                "these are (header).",
            )
        return source
    if kind == "parquet":
        return ParquetSource(location)
    if kind == "arrow":
        return arrow_file(location)
    if isinstance(location, Paths) and len(location.paths) > 1:
        raise RequestError("Only one .npy or .npz file can be read at a time.")
    return (npy_file if kind == "npy" else npz_file)(location, options.names or None)


def _open_copied(location: Location, copying: Copying, options: TextOptions) -> DelimitedSource:
    """What is written as CSV in UTF-8 first."""
    source = DelimitedSource(Copies(location, copying), "copy.csv", replace(options, encoding="utf-8", separator=","))
    source.remarks = source.remarks[1:]  # that it is UTF-8 is the copy's affair
    return source


def _open_zip(location: Location, options: TextOptions) -> Source:
    """The tables in archives, which must be of one kind."""
    for kind, ends in (("text", TEXTS), ("lines", LINES), *((kind, (end,)) for end, kind in FOREIGN.items())):
        if names := tables_in_zip(location, ends):
            return _open_files(Copies(location, members(ends)), kind, names[0], options)
    raise RequestError(f"There is no table in {location.label}: what is read of a ZIP archive is {FORMATS}.")


def _object_store(address: str) -> Source:
    """A Parquet file behind an address; DuckDB's extension and its stored secrets do the rest."""
    if not re.search(r"\.(parquet|pq)(\?.*)?$", address, re.IGNORECASE):
        raise RequestError("Only Parquet files are read from an object store; the address must end in .parquet.")
    label = f"the address {address.split('?')[0]!r}"  # what follows may be a signature
    return QueriedSource(
        Paths(label, (address,)), lambda paths: f"read_parquet({literals(paths)})", lambda paths: ["LOAD httpfs"]
    )


@dataclass(frozen=True)
class Found:
    """Private, but for the number of columns."""

    columns: int
    # How many rows there are, where the data says so itself; None where they would have to be counted.
    rows: int | None
    # How many files they lie in, and their bytes together; None for what is no file of this computer.
    files: int | None = None
    size: int | None = None
    database: bool = False  # Whether the file holds other tables, too.

    @classmethod
    def of(cls, source: Source, paths: Sequence[str] = (), database: bool = False) -> Found:
        """Look at what files say of themselves, and at nothing in them."""
        try:
            rows = source.rows_total()
            size = sum(Path(path).stat().st_size for path in paths)
        except (RequestError, OSError):  # gone, or not to be read: reading will say so
            return cls(len(source.columns), None)
        if not paths:
            return cls(len(source.columns), rows)
        return cls(len(source.columns), rows, len(paths), size, database)

    @property
    def where(self) -> str:
        """What it lies in, in words; "" for what is no file of this computer."""
        if self.files is None or self.size is None:
            return ""
        if self.database:
            return f"in a database of {size(self.size)}"
        return f"{count(self.files, 'file')}, {size(self.size)}"

    def facts(self, title: str) -> list[tuple[str, str]]:
        """What to show, each with what it means."""
        rows = (
            (count(self.rows, "row"), "The data says so itself. The number stays private.")
            if self.rows is not None
            else ("Rows are not counted", "Nothing is read before you release something.")
        )
        columns = (count(self.columns, "column"), "Names and kinds are below. No value is shown.")
        return [(title, self.where), columns, rows]
