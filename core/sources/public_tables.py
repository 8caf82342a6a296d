"""Public tables: places to ask about, files that look like the private one, and the bundled sample data.

This is the one place of the library that reads ranges off data without noise. It must never see private data: whatever
it returns, or what is chosen by it, goes into a release as it is.

The bundled samples are small, public or made up, and safe to show as they are: the only data whose exact density is
ever drawn beside a private one.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..domain import Categorical, Column, Dates, Domain, Numeric, TextLength
from ..domain.columns import column_from_dict
from ..errors import RequestError
from ..formatting.numbers import listed
from ..geometry.kernels import Kernel, kernel_from_dict
from ..privacy.budget import EACH_RECORD, PrivacyUnit
from ..runtime.environment import APP
from . import Source

MOST_CATEGORIES = 1_000
MOST_RECORDS = 10_000  # Records to forecast with: no trial takes more of them.
WIDEST = 1e100  # Bounds that leave every number where it is while the public file is read.


def public_facts(source: Source, names: Sequence[str]) -> dict[str, Column]:
    """What a public file says about the columns that it shares with the private one.

    `names`: Columns of the private data that need bounds or categories. Returns a numeric column with the least and
    greatest number found, or a categorical one with every text found, by name; columns that are absent, constant or of
    another kind are left out. RequestError when no column is shared, or the file cannot be read.
    """
    kinds = {column.name: column.kind for column in source.columns if column.name in names}
    shared = [name for name in names if kinds.get(name) in ("number", "text")]
    if not shared:
        raise RequestError("The public file shares no column of numbers or texts with your data; names must be equal.")
    facts: dict[str, Column] = {}
    for name in shared:
        fact = _range(source, name) if kinds[name] == "number" else _categories(source, name)
        if fact is not None:
            facts[name] = fact
    return facts


def public_table(source: Source, domain: Domain) -> pa.Table:
    """A domain's columns of a public file, in an order that says nothing and is always the same: files may be sorted.

    `source`: The public file; further columns are not read. `domain`: Of the private records. Returns at most
    `MOST_RECORDS` records, drawn from all. RequestError when a column is absent or of another kind, or there are no
    records.
    """
    present = {column.name for column in source.columns}
    absent = [name for name in domain.fields if name not in present]
    if absent:
        raise RequestError(
            f"The public sample has no column {listed([repr(name) for name in absent], 3)}, and it needs all columns "
            f"by which people will ask: {listed([repr(name) for name in domain.fields])}."
        )
    alone = replace(domain, unit=PrivacyUnit(), missing="drop")  # nobody needs to be told apart here
    batches = [batch.replace_schema_metadata(None) for batch in source.batches(alone)]
    if not sum(batch.num_rows for batch in batches):
        raise RequestError("The public sample has no records.")
    table = pa.Table.from_batches(batches)
    return table.take(np.random.default_rng(0).permutation(table.num_rows)[:MOST_RECORDS])


def _range(source: Source, name: str) -> Numeric | None:
    ends: list[float] = []
    for array in _arrays(source, Numeric(name, -WIDEST, WIDEST)):
        finite = array.filter(pc.is_finite(array)) if pa.types.is_floating(array.type) else array.drop_null()
        if len(finite):
            found = pc.min_max(finite)
            ends += [float(found["min"].as_py()), float(found["max"].as_py())]
    return Numeric(name, min(ends), max(ends)) if ends and min(ends) < max(ends) else None


def _categories(source: Source, name: str) -> Categorical | None:
    found: dict[str, None] = {}
    for array in _arrays(source, Categorical(name, ("a", "b"))):
        found |= dict.fromkeys(value for value in pc.unique(array).to_pylist() if value)
        if len(found) > MOST_CATEGORIES:
            raise RequestError(
                f"The column {name!r} of the public file has more than {MOST_CATEGORIES:,} different texts, too many "
                "to be categories."
            )
    return Categorical(name, tuple(sorted(found))) if len(found) >= 2 else None


def _arrays(source: Source, column: Column):
    for batch in source.batches(Domain((column,))):
        yield batch.column(column.name)


MOST_QUERIES = 1_000_000


def read_queries(source: Source, domain: Domain, most: int = MOST_QUERIES) -> pa.Table:
    """All columns of a source, those of the domain first; at most so many rows, as they are held in memory.

    Further columns pass through as if they held categories, which are read as they stand. No row is dropped or moved
    to a bound: a query may lie anywhere. Where the domain's sets are gathered, so are those of the source, one row for
    each id, unless its column holds whole lists.

    RequestError when the source cannot be read, misses a column, or holds no rows or too many.
    """
    try:
        return _queries_of(source, domain, domain.asked_columns, most)
    except RequestError:
        written = [one for one in domain.read.columns if isinstance(one, Numeric) and one.reading is not None]
        if not written or _is_gathered(source, domain):
            raise
    # As the records were written, "1.200,50" with them; numbers of questions have a point where both could be read.
    table = _queries_of(source, domain, domain.read.columns, most)
    for one in written:
        place = table.column_names.index(one.name)
        table = table.set_column(place, one.name, pa.array(one.numbers(table.column(one.name).combine_chunks())))
    return table


def _queries_of(source: Source, domain: Domain, columns: Sequence[Column], most: int) -> pa.Table:
    """The same, where the columns are written so."""
    gathers = _is_gathered(source, domain)
    batches, rows = [], 0
    for batch in source.sets(replace(domain, missing="refuse")) if gathers else _as_it_stands(source, domain, columns):
        batches.append(batch.replace_schema_metadata(None))
        rows += batch.num_rows
        if rows > most:
            raise RequestError(f"There are more than {most:,} rows in {source.label}, which is the most at once.")
    if not rows:
        raise RequestError(f"There are no rows in {source.label}.")
    table = pa.Table.from_batches(batches)
    for column in _parts_of_others(source, domain):
        found = table.column(column.field).combine_chunks()
        if isinstance(column, Categorical):
            values = pa.array([*column.categories, None]).take(
                pa.array(column.coded(found)[0] % (len(column.categories) + 1))
            )
        elif isinstance(column, Dates | TextLength):
            values = pa.array(column.present(column.numbers(found)))
        else:
            raise RequestError(f"The column {column.name!r} must be asked about by its own name.")
        table = table.append_column(column.name, values)
    return table


def _parts_of_others(source: Source, domain: Domain) -> list[Column]:
    """The columns that a source has under the name of another one alone."""
    there = {one.name for one in source.columns} if getattr(source, "names", ()) is not None else set()
    return [
        one for one in domain.read.columns if one.field != one.name and one.name not in there and one.field in there
    ]


def told_apart(queries: pa.Table, domain: Domain) -> pa.Table:
    """What answers stand beside: the queries less the lists of a set, whose other columns, or numbers, name them."""
    (name, *others) = domain.names
    if others or not domain.holds_sets or not pa.types.is_nested(queries.schema.field(name).type):
        return queries
    rest = queries.drop_columns(name)
    return rest if rest.num_columns else pa.table({"query": np.arange(1, len(queries) + 1)})


def _as_it_stands(source: Source, domain: Domain, asked: Sequence[Column]) -> Iterator[pa.RecordBatch]:
    derived = {one.name for one in _parts_of_others(source, domain)}
    columns, unit = tuple(one for one in asked if one.name not in derived), PrivacyUnit()
    # An array without names has its columns taken in order, and none besides.
    if getattr(source, "names", ()) is not None:
        names = [column.name for column in columns]
        source.check_names(names)
        further = [column.name for column in source.columns if column.name not in names]
        if domain.holds_sets:
            columns = tuple(Categorical(name, ("a", "b")) for name in domain.names)
        columns += tuple(Categorical(name, ("a", "b")) for name in further)
    return source.batches(replace(domain, columns=columns, unit=unit))


def _is_gathered(source: Source, domain: Domain) -> bool:
    """Whether the source has one item a row, as the data had; whole lists are asked about as they are."""
    (name, *_) = domain.names
    return domain.gathers and not any(info.name == name and info.lists for info in source.columns)


def beside(places: pa.Table, answers: Mapping[str, np.ndarray]) -> pa.Table:
    """Places with their answers, arrays (n,), in further columns; one whose name is taken is called ``answer_NAME``."""
    table = places
    for name, values in answers.items():
        table = table.append_column(f"answer_{name}" if name in places.column_names else name, pa.array(values))
    return table


FOLDER = APP / "sample_data"
RELEASES = FOLDER / "releases"  # Released files, named like their samples; of those samples that have a column to draw.
# Answers of these files that take long, worked out before; named by the first 16 digits of a file's SHA-256.
ANSWERS = FOLDER / "answers"

NUMBER = {"kind": "numeric", "unit": ""}  # What a column is that the catalogue says nothing else of.


@dataclass(frozen=True)
class Sample:
    """One bundled data set with what is publicly known about it."""

    name: str  # Short name, of letters only.
    title: str
    story: str
    path: Path
    # Columns with bounds and categories, and who one person is; the column of classes is not among them.
    domain: Domain
    kernel: Kernel  # suits the domain
    label: Categorical | None  # The column of classes, if there is one.
    show: tuple[str, ...]  # The one or two columns to look at first.
    # Round public guesses to forecast with: the number of records that a release keeps, and the average closeness of
    # two of them under the kernel.
    records_guess: int
    density_guess: float
    # For columns of vectors, what no vector is longer than, by the column's name.
    longest: Mapping[str, float] = field(default_factory=dict)
    source: str = ""  # Where real records are from, and under which licence; empty where they are made up.
    release: str = "race"  # Name of the mechanism that its released file was made with.

    @property
    def told(self) -> str:
        """The story with where the records are from."""
        return f"{self.story} {self.source or 'Made up'}."


@cache
def samples() -> tuple[Sample, ...]:
    """All samples, in the order of the catalogue; none where the library was installed without them."""
    catalogue = FOLDER / "catalogue.toml"
    if not catalogue.is_file():
        return ()
    return tuple(map(_sample, tomllib.loads(catalogue.read_text(encoding="utf-8"))["sample"]))


def sample(name: str) -> Sample:
    """The sample of a name; RequestError where there is none."""
    for one in samples():
        if one.name == name:
            return one
    known = ", ".join(one.name for one in samples()) or "none, as the sample data is not installed"
    raise RequestError(f"There is no sample {name!r}; there are: {known}.")


def bundled_releases() -> tuple[tuple[Sample, Path], ...]:
    """Samples with the released file that comes with each, where there is one; in the order of the catalogue."""
    files = ((one, RELEASES / f"{one.name}.npz") for one in samples())
    return tuple((one, path) for one, path in files if path.is_file())


def bundled_groups() -> tuple[tuple[Sample, Path], ...]:
    """Samples with a column of classes and the released file that tells these apart, where there is one."""
    files = ((one, RELEASES / f"{one.name}-groups.npz") for one in samples() if one.label is not None)
    return tuple((one, path) for one, path in files if path.is_file())


def bundled_distances() -> tuple[tuple[Sample, Path], ...]:
    """Samples with the released file of average distances that comes with each, where there is one."""
    files = ((one, RELEASES / f"{one.name}-distance.npz") for one in samples())
    return tuple((one, path) for one, path in files if path.is_file())


def _sample(entry: dict) -> Sample:
    person = entry.get("person")
    label = entry.get("label")
    domain = Domain(
        tuple(map(_column, entry["columns"])),
        unit=EACH_RECORD if person is None else PrivacyUnit(**person),
        scale=entry.get("scale", "none"),
        category_distance=entry.get("category_distance", 1.0),
        record=entry["record"],
        outside=entry.get("outside", "clamp"),
    )
    return Sample(
        entry["name"],
        entry["title"],
        entry["story"],
        FOLDER / entry["file"],
        domain,
        kernel_from_dict(entry["kernel"]),
        None if label is None else _column(label),
        tuple(entry["show"]),
        entry["records_guess"],
        entry["density_guess"],
        {column["name"]: column["longest"] for column in entry["columns"] if "longest" in column},
        entry.get("source", ""),
        entry.get("release", "race"),
    )


def _column(entry: dict):
    if "longest" in entry:
        entry = {key: value for key, value in entry.items() if key != "longest"} | {
            "kind": "vector",
            "low": -entry["longest"],
            "high": entry["longest"],
            "unit": "",
        }
    kind = {} if "kind" in entry else {"kind": "categorical"} if "categories" in entry else NUMBER
    return column_from_dict(kind | entry)
