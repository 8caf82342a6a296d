"""Records as points or as sets, and rows that do not fit their domain."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from ..errors import RequestError
from ..runtime.counter_tables import Floats, Integers
from ..runtime.parameters import check_choice
from .categorical import Categorical, Ordered
from .column import Mask, Scalar, arrow_table, either
from .columns import PlacedColumn
from .dates import Dates
from .encoders import Encoder, arrays_read
from .item_sets import Sets
from .numeric import Numeric, Vector
from .round_columns import Coordinate
from .texts_and_items import Items

# Key of a batch's schema metadata: the place of its first row in the source, so that a refusal can name the row.
FIRST_ROW = b"first_row"
# The same for batches of gathered sets: how many rows of the source were read for them since the batch before.
ROWS_READ = b"rows_read"


def first_row(batch: pa.RecordBatch | pa.Table) -> int | None:
    """The place of a batch's first row in its source; None where the batch does not say it."""
    found = (batch.schema.metadata or {}).get(FIRST_ROW)
    return None if found is None else int(found)


OFF_STEP = 1e-6  # Of a step, that rounding may leave between a number and a multiple of it.
Masks = dict[str, np.ndarray]  # Rows that are meant, by name of the column.


def refuse_record(missing: Masks, unknown: Masks, batch: pa.RecordBatch | pa.Table) -> None:
    """Refuse the first record that misses a value, or else one of an unknown category, where the domain says so."""
    for name, mask, problem in _problems(missing, unknown):
        first = first_row(batch)
        place = f"row {(first or 0) + _first(mask):,}" + (" of its batch" if first is None else "")
        why = "and the domain says that missing values are refused"
        raise RequestError(f"The value of the column {name!r} in {place} {problem}, {why}.")


def refuse_query(missing: Masks, unknown: Masks, dates: Sequence[str] = ()) -> None:
    """Refuse the first query that misses a value, or else one of an unknown category.

    Texts that are asked about in a column of ``dates`` and are none count as missing.
    """
    for name, mask, problem in _problems(missing, unknown):
        none = " or not a date, such as 2024-12-31" if name in dates else ""
        raise RequestError(f"The query of the column {name!r} in row {_first(mask):,} {problem}{none}.")


def _problems(missing: Masks, unknown: Masks) -> Iterator[tuple[str, np.ndarray, str]]:
    """Columns with rows that do not fit, and why; the value itself is never named."""
    for masks, problem in ((missing, "is missing"), (unknown, "is not on the public list of categories")):
        for name, mask in masks.items():
            yield name, mask, problem


def _first(mask: np.ndarray) -> int:
    return int(np.argmax(mask)) + 1


@dataclass(frozen=True)
class PointEncoding:
    """How records become points, and points records again; `Domain` says what its fields mean."""

    columns: tuple[PlacedColumn, ...]
    outside: str
    missing: str
    scale: str
    category_distance: float

    @cached_property
    def dimensions(self) -> int:
        """Number of coordinates."""
        return sum(column.width for column in self.columns)

    def amplitude(self, metric: str) -> float:
        """Height of a one-hot coordinate at which two different categories are ``category_distance`` apart."""
        check_choice(metric, "metric", ("l2", "l1"))
        return self.category_distance / (math.sqrt(2.0) if metric == "l2" else 2.0)

    def bounds(self, metric: str) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest coordinates in a metric."""
        low, high = self._natural_bounds(metric)
        shift, width = self._scaling
        return (low - shift) / width, (high - shift) / width

    @cached_property
    def spacings(self) -> np.ndarray:
        """What lies between two neighbouring values of each coordinate; 0 where any may occur."""
        spacings = np.zeros(self.dimensions)
        for column, place in self._places():
            if isinstance(column, Scalar):
                spacings[place] = column.spacing
        _, widths = self._scaling
        spacings /= widths
        return spacings

    @cached_property
    def is_scaled(self) -> bool:
        """Whether coordinates are not the numbers themselves: degrees are compared in kilometres."""
        return self.scale == "box" or any(isinstance(column, Coordinate) for column in self.columns)

    @cached_property
    def of_amounts(self) -> bool:
        """Whether coordinates are logarithms of some of the numbers."""
        return any(isinstance(column, Numeric) and column.scale != "" for column in self.columns)

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """The columns that are made of others."""
        return tuple(column for column in self.columns if isinstance(column, Encoder))

    @cached_property
    def numeric_only(self) -> bool:
        """Whether a record is nothing but numbers."""
        return not any(isinstance(column, Categorical) for column in self.columns)

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """Names of the columns of numbers and dates that have a category for those who miss a value."""
        numbers = (column for column in self.columns if isinstance(column, (Numeric, Dates)))
        return tuple(column.name for column in numbers if column.missing_category)

    def encode(self, batch: pa.RecordBatch, metric: str, gaps: bool = False) -> Floats:
        """Coordinates of the records that are kept; with ``gaps`` those too that miss a value of the `gaps`, NaN then.

        Every value there is lies inside `bounds` exactly: clamping comes last but for the scaling, and rounding is
        monotone, so low <= x <= high gives 0 <= (x - low) / (high - low) <= 1 in floating point too.
        """
        rows = self.rows(batch)
        if rows is not None:
            points: Floats = np.empty(rows.shape, order="F")
            np.add(rows, 0.0, out=points)  # a zero loses its sign, as below
            return points
        points, missing, unknown = self._read(batch, metric)
        for name in self.gaps if gaps else ():
            missing.pop(name, None)
        low, high = self._natural_bounds(metric)
        by_coordinate = points.T  # C order, one row a coordinate
        outside: Mask = None
        if self.outside == "clamp":
            np.clip(by_coordinate, low[:, None], high[:, None], out=by_coordinate)
        else:
            # A missing number is NaN, and neither above a bound nor below one.
            beyond = np.any((by_coordinate < low[:, None]) | (by_coordinate > high[:, None]), axis=0)
            outside = either(beyond, *unknown.values())
            unknown = {}
        # Of -0.0 and a bound 0.0 either may be taken, as the place in the batch has it; the sum is 0.0 for both.
        by_coordinate += 0.0
        if self.missing == "refuse":
            refuse_record(missing, unknown, batch)
        left_out = either(outside, *missing.values(), *unknown.values())
        if left_out is not None and left_out.any():
            by_coordinate = by_coordinate[:, ~left_out]
        return np.asfortranarray(self._scaled(by_coordinate.T))

    @np.errstate(over="ignore", invalid="ignore")  # a warning would tell of a record
    def faults(self, batch: pa.RecordBatch) -> Integers:
        """The place of the first column whose value does not fit its declaration, int64 (n,); that after all for none.

        A value fits that lies within the bounds, on a multiple of the step where there is one, or on the list; and one
        that is missing or not on the list where a category was declared for such, and not where it only counts as
        missing. What `encode` refuses is refused.
        """
        points, missing, unknown = self._read(batch, "l2")
        if self.missing == "refuse":
            refuse_record(missing, unknown if self.outside == "clamp" else {}, batch)
        faults = np.full(batch.num_rows, len(self.columns), np.int64)
        for number, (column, place) in reversed(list(enumerate(self._places()))):
            block = points[:, place]
            if not isinstance(column, Categorical):
                low, high = column.bounds(0.0)
                absent = column.name in self.gaps
                inside = np.all(((block >= low) & (block <= high)) | (absent & np.isnan(block)), axis=1)
                if isinstance(column, Numeric) and column.step and not column.scale:
                    steps = (block[:, 0] - column.low) / column.step
                    inside &= ~(np.abs(steps - np.rint(steps)) > OFF_STEP)
                faults[~inside] = number
            if isinstance(column, (Categorical, Ordered)) and column.missing_category and not column.unknown_category:
                faults[column.unlisted(_column_of(batch, column.field))] = number
            lost = either(None if column.name in self.gaps else missing.get(column.name), unknown.get(column.name))
            if lost is not None:
                faults[lost] = number
        return faults

    def rows(self, batch: pa.RecordBatch) -> np.ndarray | None:
        """What `encode` gives for one column of vectors, each record contiguous, when none is left out; else None."""
        column = self.columns[0]
        if len(self.columns) > 1 or type(column) is not Vector or self.scale != "none":
            return None
        if batch.schema.get_field_index(column.name) < 0:
            return None
        array = batch.column(column.name)
        return None if isinstance(array, pa.ChunkedArray) else column.rows(array, self.outside == "clamp")

    def encode_queries(self, queries: object, metric: str, first: int, order: Literal["C", "F"]) -> Floats:
        """Coordinates of queries; none is dropped or clamped, and a query may lie outside the bounds."""
        if isinstance(queries, (pd.DataFrame, pa.Table, pa.RecordBatch, Mapping)):
            table = arrow_table(queries, self._names_asked(queries), "The queries").combine_chunks()
            points, missing, unknown = self._read(table, metric, asked=True)
        else:
            points, missing, unknown = self._array_queries(queries), {}, {}
        dates = [column.name for column in self.columns if isinstance(column, Dates)]
        refuse_query(missing, unknown, dates)
        finite = np.isfinite(points).all(axis=1)
        if not finite.all():
            row = first + int(np.argmin(finite)) + 1
            raise RequestError(f"The query in row {row} is not made of finite numbers.")
        scaled: Floats = np.asarray(self._scaled(points), order=order)
        return scaled

    def decode(self, points: np.ndarray, inside: bool) -> pd.DataFrame:
        """Points (n, dimensions) in natural units; with ``inside`` single numbers are kept within their bounds."""
        shift, width = self._scaling
        natural = points * width + shift
        columns: dict[str, object] = {}
        for column, place in self._places():
            block = natural[:, place]
            if isinstance(column, Categorical):
                codes = column.nearest(block)
                columns[column.name] = pd.Categorical.from_codes(codes, categories=list(column.categories))
            elif isinstance(column, Scalar):
                places = np.clip(block[:, 0], *column.bounds(1.0)) if inside else block[:, 0]
                numbers = column.between(places) if isinstance(column, Numeric) else places
                columns[column.name] = column.present(np.clip(numbers, column.low, column.high) if inside else numbers)
            else:
                columns[column.name] = list(block)
        return pd.DataFrame(columns)

    def _read(self, table: pa.RecordBatch | pa.Table, metric: str, asked: bool = False) -> tuple[Floats, Masks, Masks]:
        """Coordinates before clamping and scaling, and by column name the rows that miss a value or are unknown.

        A record has the source's columns, and what is ``asked`` about has the domain's.
        """
        amplitude = self.amplitude(metric)
        points = np.empty((table.num_rows, self.dimensions), order="F")
        missing: Masks = {}
        unknown: Masks = {}
        for column, place in self._places():
            if isinstance(column, Encoder) and not (asked and column.name in table.schema.names):
                given = {one.name: _column_of(table, one.name) for one in column.reads}
                misses, strays = column.encode_into(points[:, place], given, amplitude, asked), None
            else:
                read = column.ask_into if asked else column.read_into
                array = _column_of(table, column.name if asked else column.field)
                misses, strays = read(points[:, place], array, amplitude)
            if misses is not None:
                missing[column.name] = misses
            if strays is not None:
                unknown[column.name] = strays
        return points, missing, unknown

    def _names_asked(self, queries: object) -> list[str]:
        """The columns of a table of queries that are looked at: encoded ones, or where absent what they read."""
        arrow = isinstance(queries, (pa.Table, pa.RecordBatch))
        present = queries.schema.names if arrow else list(queries)  # type: ignore[attr-defined,call-overload]
        names: dict[str, None] = {}
        for column in self.columns:
            encodes = isinstance(column, Encoder) and column.name not in present
            names |= dict.fromkeys(one.name for one in (column.reads if encodes else (column,)))  # type: ignore[union-attr]
        return list(names)

    def _array_queries(self, queries: object) -> np.ndarray:
        if not self.numeric_only:
            raise RequestError("A domain with categories needs queries with named columns, not a plain array.")
        try:
            points = np.asarray(queries, dtype=np.float64)
        except (TypeError, ValueError):
            raise RequestError("The queries must be numbers.") from None
        if points.ndim == 1 and self.dimensions == 1:
            points = points[:, None]
        if self.encoders and points.ndim == 2:
            points = self._encoded_queries(points)
        if points.ndim != 2 or points.shape[1] != self.dimensions:
            raise RequestError(f"The queries must be an array with {self.dimensions:,} columns, one row a query.")
        if self.of_amounts:
            points = points.copy()
            for column, place in self._places():
                if isinstance(column, Numeric):
                    points[:, place] = column.placed(points[:, place])
        return points

    def _encoded_queries(self, points: np.ndarray) -> np.ndarray:
        """An array of queries with what encoders read in place of the encoded columns; the array itself after encoding.

        Columns that several encoders read stand there once for each.
        """
        reads = [column.reads if isinstance(column, Encoder) else (column,) for column in self.columns]
        widths = [sum(one.width for one in several) for several in reads]
        if points.shape[1] != sum(widths):
            return points
        if sum(widths) == self.dimensions:
            raise RequestError(
                f"An array of {self.dimensions:,} columns may be encoded already, or not: name the queries' columns."
            )
        if not np.isfinite(points).all():
            return np.where(np.isfinite(points).all(axis=1, keepdims=True), 0.0, np.nan) + np.zeros(self.dimensions)
        found, start = np.empty((len(points), self.dimensions), order="F"), 0
        for (column, place), width in zip(self._places(), widths, strict=True):
            block = points[:, start : start + width]
            if isinstance(column, Encoder):
                column.encode_into(found[:, place], arrays_read(column.reads, block), 1.0, True)
            else:
                found[:, place] = block
            start += width
        return found

    def _scaled(self, points: np.ndarray) -> np.ndarray:
        if self.is_scaled:
            shift, width = self._scaling
            points = (points - shift) / width
        return points

    @cached_property
    def _scaling(self) -> tuple[np.ndarray, np.ndarray]:
        """What is subtracted and then divided by, a pair a coordinate: coordinates of categories are left alone."""
        shift, width = np.zeros(self.dimensions), np.ones(self.dimensions)
        if self.is_scaled:
            for column, place in self._places():
                shift[place], width[place] = column.scaling(self.scale)
        return shift, width

    def _natural_bounds(self, metric: str) -> tuple[np.ndarray, np.ndarray]:
        amplitude = self.amplitude(metric)
        pairs = np.array([column.bounds(amplitude) for column in self.columns])
        widths = [column.width for column in self.columns]
        return np.repeat(pairs[:, 0], widths), np.repeat(pairs[:, 1], widths)

    def _places(self) -> Iterator[tuple[PlacedColumn, slice]]:
        start = 0
        for column in self.columns:
            yield column, slice(start, start + column.width)
            start += column.width


def _column_of(table: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    """A column of a table in one piece."""
    if table.schema.get_field_index(name) < 0:
        raise RequestError(f"The data must have one column {name!r}.")
    array = table.column(name)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


@dataclass(frozen=True)
class SetEncoding:
    """How records become sets; an empty set is a missing value, as it is like no other."""

    column: Items
    missing: str

    def encode(self, batch: pa.RecordBatch | pa.Table) -> Sets:
        """The sets that are kept."""
        sets = self._read(batch)
        empty = sets.sizes == 0
        if not empty.any():
            return sets
        if self.missing == "refuse":
            refuse_record({self.column.name: empty}, {}, batch)
        return sets[~empty]

    def encode_queries(self, queries: object) -> Sets:
        """Sets that are asked about: a list of lists of items, `Sets`, or a table with one list a row."""
        if isinstance(queries, (pd.DataFrame, pa.Table, pa.RecordBatch, Mapping)):
            sets = self._read(arrow_table(queries, (self.column.name,), "The queries").combine_chunks())
        else:
            sets = Sets.of(queries)  # type: ignore[arg-type]
        empty = sets.sizes == 0
        if empty.any():
            refuse_query({self.column.name: empty}, {})
        return sets

    def _read(self, table: pa.RecordBatch | pa.Table) -> Sets:
        return self.column.read_sets(_column_of(table, self.column.name))
