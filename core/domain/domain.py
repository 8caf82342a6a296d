"""What is publicly known about the data before anyone looks at it, and the map from a record to coordinates.

The domain is written by a person, from public knowledge: which columns, between which bounds, of which categories,
and who one person is. It never depends on the data, so it goes into every release as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from ..errors import RequestError
from ..formatting.numbers import several
from ..privacy.budget import EACH_RECORD, PrivacyUnit
from ..runtime.counter_tables import Floats
from ..runtime.parameters import check_choice, check_number, exact_fields, field_names
from .categorical import Categorical
from .column import Scalar
from .columns import Column, as_places, column_from_dict, column_to_dict
from .dates import Dates
from .encoders import Encoder
from .encoding import PointEncoding, SetEncoding
from .item_sets import Encoded
from .numeric import Numeric, Vector
from .round_columns import Cyclic
from .texts_and_items import Items

MAX_COLUMNS = 10_000
MAX_DIMENSIONS = 100_000
MAX_CHARACTERS = 1_000_000  # of all names, units and categories, as every release file holds them
COLUMNS_SHOWN = 6
LONGEST_RECORD = 40


@dataclass(frozen=True)
class Domain:
    """Columns, their public bounds and categories, and the rules for records that do not fit.

    Parameters
    ----------
    columns : tuple[Column, ...]
        The columns that are used, in the order of the coordinates; or a single column of sets (`Items`), which have no
        coordinates, so that nothing can lie outside bounds and there is nothing to scale.
    outside : str
        "clamp" moves a number outside its bounds to the nearest bound; "drop" leaves such a record out. A category that
        is not on the list has no nearest one: "drop" leaves the record out, and "clamp" treats the value as missing.
    missing : str
        "drop" leaves out a record that misses a value; "refuse" stops with an error that names column and row.
    unit : PrivacyUnit
        Who is protected.
    scale : str
        "none" keeps every number in its own unit; "box" maps each column's bounds to [0, 1].
    category_distance : float
        Distance between any two different categories of a column, in the metric of the kernel.
    record : str
        What one record is, in a word or two that its owner chose, such as "star"; "" where nobody said. It is there
        to be read: domains that differ in it alone are equal.

    Examples
    --------
    >>> Domain.of(height=(50, 250), city=["Bern", "Basel"]).dimensions
    3
    """

    columns: tuple[Column, ...]
    outside: str = "clamp"
    missing: str = "drop"
    unit: PrivacyUnit = EACH_RECORD
    scale: str = "none"
    category_distance: float = 1.0
    record: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not 1 <= len(self.columns) <= MAX_COLUMNS:
            raise RequestError(f"A domain needs between 1 and {MAX_COLUMNS:,} columns, not {len(self.columns):,}.")
        if not all(isinstance(column, Column) for column in self.columns):
            raise RequestError("A domain is made of Numeric, Dates, Categorical, Ordered, Vector and other columns.")
        if len(set(self.names)) < len(self.columns):
            raise RequestError("The columns of a domain must have different names.")
        if self.dimensions > MAX_DIMENSIONS:
            raise RequestError(
                f"The columns and categories need {self.dimensions:,} coordinates, and at most {MAX_DIMENSIONS:,} fit."
            )
        if sum(column.characters for column in self.columns) > MAX_CHARACTERS:
            raise RequestError(
                f"The names and categories of a domain may have {MAX_CHARACTERS:,} characters together, as every "
                "release file holds them; shorten the longest ones."
            )
        check_choice(self.outside, "What happens to values outside the bounds (outside)", ("clamp", "drop"))
        check_choice(self.missing, "What happens to missing values (missing)", ("drop", "refuse"))
        check_choice(self.scale, "What columns are compared by (scale)", ("none", "box"))
        if not isinstance(self.unit, PrivacyUnit):
            raise RequestError("The privacy unit of a domain must be a PrivacyUnit.")
        distance = check_number(self.category_distance, "The distance between categories")
        if not 0 < distance <= 1e100:
            raise RequestError("The distance between categories must be above 0 and at most 1e100.")
        object.__setattr__(self, "category_distance", distance)
        if not isinstance(self.record, str) or len(self.record) > LONGEST_RECORD or not self.record.isprintable():
            raise RequestError(f"What one record is must be a word or two, of at most {LONGEST_RECORD} characters.")
        object.__setattr__(self, "record", " ".join(self.record.split()))
        if any(isinstance(column, Items) for column in self.columns):
            self._check_sets()
        if any(isinstance(column, Encoder) for column in self.columns):
            self._check_encoders()

    def __repr__(self) -> str:
        """Short, as a domain may have a million names: its first columns, and the rules that are not the usual ones."""
        shown = [f"{column.kind} {column.name!r}" for column in self.columns[:COLUMNS_SHOWN]]
        further = len(self.columns) - COLUMNS_SHOWN
        shown += [f"{further:,} more"] if further > 0 else []
        rules = {name: getattr(self, name) for name in ("outside", "missing", "unit", "scale", "category_distance")}
        shown += [f"{name}={value!r}" for name, value in rules.items() if value != getattr(Domain, name)]
        return f"<Domain of {', '.join(shown)}>"

    def _check_sets(self) -> None:
        column = next(column for column in self.columns if isinstance(column, Items))
        if len(self.columns) > 1:
            raise RequestError(
                f"The column {column.name!r} holds sets, and a record that is a set has no other columns: leave them "
                "out, or release them apart."
            )
        if self.scale != "none":
            raise RequestError("Sets have no bounds to scale by: leave out the scale.")
        if self.unit.column == column.name:
            raise RequestError(f"The column {column.name!r} cannot hold both the items and who has them.")
        if column.gathered and (self.unit.column is None or self.unit.records != 1):
            raise RequestError(
                f"The sets of {column.name!r} are gathered from rows, so the privacy unit must be the column that says "
                "whose set an item belongs to, with one record each: everyone has one set."
            )

    def _check_encoders(self) -> None:
        if self.outside != "clamp":
            raise RequestError(
                "An encoder moves the numbers that it reads to their bounds, and leaves out none beyond them: outside "
                "must be clamp."
            )
        if self.unit.column in (*self.read.names, *self.names):
            raise RequestError(f"The column {self.unit.column!r} cannot be encoded and say who a person is.")
        if set(self.read.names) & {one.name for one in self.columns if isinstance(one, Encoder)}:
            raise RequestError("An encoded column needs a name that no other column has.")

    @cached_property
    def read(self) -> Domain:
        """The same with the columns that encoders read in place of the encoded ones: what a source has to have."""
        columns: dict[str, Column] = {}
        for column in self.columns:
            for one in column.reads if isinstance(column, Encoder) else (column,):
                if columns.setdefault(one.name, one) != one:
                    raise RequestError(f"The column {one.name!r} has different bounds where an encoder reads it.")
        return self if tuple(columns.values()) == self.columns else replace(self, columns=tuple(columns.values()))

    @classmethod
    def of(
        cls,
        *,
        outside: str = "clamp",
        missing: str = "drop",
        unit: PrivacyUnit = EACH_RECORD,
        scale: str = "none",
        category_distance: float = 1.0,
        **columns: Sequence[Any],
    ) -> Domain:
        """A domain from keywords: a pair of numbers is a numeric column, a list of texts is a categorical one."""
        made = tuple(_column_from_keyword(name, facts) for name, facts in columns.items())
        return cls(made, outside, missing, unit, scale, category_distance)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def drawn(self) -> dict[str, Column]:
        """The columns by name as pictures draw them."""
        return {column.name: column for column in as_places(self.columns)}

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of the source's columns that are read, in order, each once; several columns may come from one."""
        return tuple(dict.fromkeys(column.field for column in self.read.columns))

    @cached_property
    def asked_columns(self) -> tuple[Column, ...]:
        """The columns as a table of questions has them: by their own names, their values as people say them."""
        return tuple(getattr(column, "as_asked", column) for column in self.read.columns)

    @cached_property
    def circles(self) -> tuple[str, ...]:
        """Names of the columns whose values lie on a circle."""
        return tuple(column.name for column in self.columns if isinstance(column, Cyclic))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Names of the columns of numbers and dates that have a category for those who miss a value."""
        return self._points.gaps

    @cached_property
    def dimensions(self) -> int:
        """Number of coordinates of an encoded record."""
        return sum(self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of coordinates of each column."""
        return tuple(column.width for column in self.columns)

    @property
    def numeric_only(self) -> bool:
        """Whether a record is nothing but numbers, so that plain arrays can be queries."""
        return self._points.numeric_only

    @property
    def holds_sets(self) -> bool:
        """Whether a record is a set of items, which has no coordinates."""
        return isinstance(self.columns[0], Items)

    @property
    def gathers(self) -> bool:
        """Whether a record is a set whose items stand in rows of their own, all those of one id."""
        column = self.columns[0]
        return isinstance(column, Items) and column.gathered

    def order(self, name: str, batch: pa.RecordBatch) -> Floats:
        """Where records are by a column: steps since its first date, places of categories; infinite outside of it."""
        column = self.columns[self.names.index(name)]
        array = batch.column(batch.schema.get_field_index(column.field))
        if isinstance(column, Dates):
            steps = column.numbers(array)
            return np.where((steps >= 0.0) & (steps <= column.high), steps, np.inf)  # NaN, without a date, is neither
        codes = np.asarray(cast(Categorical, column).coded(array)[0], dtype=np.float64)
        return np.where(codes >= 0.0, codes, np.inf)

    @property
    def keeps_every_record(self) -> bool:
        """Whether no record can be left out: then, when a neighbour replaces a record, their number is public."""
        return self.outside == "clamp" and self.missing == "refuse" and self.unit.column is None

    @property
    def low(self) -> np.ndarray:
        """Least encoded coordinates, float64 (dimensions,); see `bounds`."""
        return self.bounds()[0]

    @property
    def high(self) -> np.ndarray:
        """Greatest encoded coordinates, float64 (dimensions,), for the L2 metric, whose categories reach higher."""
        return self.bounds()[1]

    def bounds(self, metric: str = "l2") -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest encoded coordinates in a metric, two float64 arrays (dimensions,); sets have none."""
        self.check_coordinates()
        return self._points.bounds(metric)

    @property
    def spacings(self) -> np.ndarray:
        """Steps from the lower bound between the values of each coordinate, float64 (d,); 0 where any may occur."""
        return self._points.spacings

    def check_coordinates(self) -> None:
        if self.holds_sets:
            raise RequestError(
                f"The column {self.names[0]!r} holds sets, which have no coordinates: they can be released by the "
                "mechanism 'minhash' (kernel 'jaccard'), and asked how many sets are like a given one."
            )

    def amplitude(self, metric: str) -> float:
        """Height of a one-hot coordinate at which two different categories are ``category_distance`` apart."""
        return self._points.amplitude(metric)

    def encode(self, batch: pa.RecordBatch, metric: str = "l2", gaps: bool = False) -> Encoded:
        """Coordinates of the records that are kept, inside `bounds` exactly (`PointEncoding.encode`); or their sets.

        With ``gaps`` records are kept that miss a value of one of the columns of that name, with NaN as its coordinate.

        Returns
        -------
        Encoded
            float64 (n_kept, dimensions) in Fortran order. `Sets` where the domain holds sets; an empty one is missing.
        """
        return self._points.encode(batch, metric, gaps) if self._sets is None else self._sets.encode(batch)

    def faults(self, batch: pa.RecordBatch) -> np.ndarray:
        """The place in `columns` of the first that a record does not fit, or their number, int64 (n,); not of sets."""
        return self._points.faults(batch)

    def rows(self, batch: pa.RecordBatch) -> np.ndarray | None:
        """What `encode` gives for one column of vectors, each record contiguous, when none is left out; else None.

        It is float32 or float64 (n, dimensions) in C order, where possible without a copy: single precision holds what
        it holds exactly.
        """
        return None if self.holds_sets else self._points.rows(batch)

    def encode_queries(
        self, queries: object, metric: str = "l2", first: int = 0, order: Literal["C", "F"] = "F"
    ) -> Encoded:
        """Coordinates of queries, or their sets; none is dropped or clamped, and a query may lie outside the bounds.

        `queries`: An array (n, columns) in natural units when every column is numeric (a column of vectors counts as
        many), or a pandas frame, an Arrow table or a mapping with the columns by name; further columns are ignored.
        With an encoder, what it reads or what it gives. Where the domain holds sets, a list of lists of items or
        `Sets`, or a table with one list a row. `first`: How many queries came before these, so that a refusal can name
        the row. `order`: Of the float64 (n, dimensions) that is returned: "F", each coordinate contiguous; or "C", each
        query.

        RequestError: On a missing column, a missing or infinite value, an unknown category, or an empty set.
        """
        if self._sets is not None:
            return self._sets.encode_queries(queries)
        return self._points.encode_queries(queries, metric, first, order)

    def are_encoded(self, queries: np.ndarray) -> bool:
        """Whether `encode_queries` gives an array's very numbers, or refuses one: then a copy can be done without."""
        return (
            not (self.holds_sets or self._points.is_scaled or self._points.of_amounts or self._points.encoders)
            and self.numeric_only
            and queries.dtype in (np.float32, np.float64)
            and queries.shape[1:] == (self.dimensions,)
        )

    def decode_points(self, points: np.ndarray, metric: str = "l2", inside: bool = False) -> pd.DataFrame:
        """Encoded points (n, dimensions) in natural units: numbers, dates, the nearest categories.

        With ``inside`` single numbers are kept within their bounds, which rounding might leave by a last digit.
        """
        self.check_coordinates()
        check_choice(metric, "metric", ("l2", "l1"))
        points = np.asarray(points, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.dimensions:
            raise RequestError(f"Points of this domain have {self.dimensions:,} coordinates each.")
        return self._points.decode(points, inside)

    def categories_of(self, name: str) -> tuple[str, ...]:
        """The public categories of a column; RequestError where it has none."""
        column = next((column for column in self.columns if column.name == name), None)
        if not isinstance(column, Categorical):
            raise RequestError(f"There is no column {str(name)!r} of categories.")
        return column.categories

    @property
    def by_differences(self) -> Domain:
        """The same with amounts as numbers like any other, as sums of the numbers themselves have them."""
        plain = tuple(
            replace(column, scale="") if isinstance(column, Numeric) and column.scale else column
            for column in self.columns
        )
        return self if plain == self.columns else replace(self, columns=plain)

    def without(self, name: str) -> Domain:
        """The same domain less one column, whose records' other coordinates stay what they are."""
        if name not in self.names:
            raise RequestError(f"There is no column {str(name)!r}; the columns are {', '.join(self.names)}.")
        if len(self.columns) == 1:
            raise RequestError(f"The column {name!r} is the only one, and a domain needs another beside it.")
        return replace(self, columns=tuple(column for column in self.columns if column.name != name))

    @property
    def one_record(self) -> str:
        """What one record is called: the owner's word; else a set, or a person unless one may have several records."""
        if self.record:
            return self.record
        if self.holds_sets:
            return "set"
        return "person" if self.unit.column is None else "record"

    @property
    def many_records(self) -> str:
        """What records are called."""
        return several(self.one_record)

    def to_dict(self) -> dict[str, object]:
        """A value for JSON from which `from_dict` makes an equal domain, bit for bit."""
        return {
            "columns": [column_to_dict(column) for column in self.columns],
            "outside": self.outside,
            "missing": self.missing,
            "unit": asdict(self.unit),
            "scale": self.scale,
            "category_distance": self.category_distance,
        } | ({"record": self.record} if self.record else {})

    @classmethod
    def from_dict(cls, value: object) -> Domain:
        """The domain that `to_dict` wrote down; RequestError on anything else, as the file may come from a stranger."""
        named = isinstance(value, dict) and "record" in value  # files of earlier versions do not say it
        facts = exact_fields(value, "domain", [name for name in field_names(cls) if named or name != "record"])
        columns = facts.pop("columns")
        if not isinstance(columns, list) or len(columns) > MAX_COLUMNS:
            raise RequestError(f"The columns of a domain must be a list of at most {MAX_COLUMNS:,}.")
        unit = PrivacyUnit(**exact_fields(facts.pop("unit"), "privacy unit", field_names(PrivacyUnit)))
        return cls(columns=tuple(column_from_dict(column) for column in columns), unit=unit, **facts)

    @cached_property
    def _points(self) -> PointEncoding:
        placed = tuple(column for column in self.columns if not isinstance(column, Items))
        return PointEncoding(placed, self.outside, self.missing, self.scale, self.category_distance)

    @cached_property
    def _sets(self) -> SetEncoding | None:
        column = self.columns[0]
        return SetEncoding(column, self.missing) if isinstance(column, Items) else None


def _column_from_keyword(name: str, facts: Sequence[Any]) -> Column:
    if isinstance(facts, Sequence) and not isinstance(facts, str):
        if facts and all(isinstance(fact, str) for fact in facts):
            return Categorical(name, tuple(facts))
        if len(facts) == 2:
            return Numeric(name, *facts)
    raise RequestError(f"The column {name!r} needs a pair of numbers (low, high) or a list of categories.")


MUCH_WIDER = 10.0  # times that a range may be another's before noise that suits the one drowns the other


class Widths(NamedTuple):
    """The columns of the widest and the narrowest range, and how many times the one is the other."""

    widest: str
    narrowest: str
    times: float


def unlike_widths(domain: Domain) -> Widths | None:
    """The columns that are much wider and narrower than each other; None where none are, or a scale evens them."""
    ranges = {column.name: column.span for column in domain.columns if isinstance(column, (Scalar, Vector))}
    if domain.scale == "box" or len(ranges) < 2:
        return None
    widest, narrowest = max(ranges, key=ranges.__getitem__), min(ranges, key=ranges.__getitem__)
    times = ranges[widest] / ranges[narrowest]
    return Widths(widest, narrowest, times) if times > MUCH_WIDER else None


def evenly_scaled(domain: Domain) -> Domain:
    """The same, with each column compared as a share of its bounds where one is much wider than another."""
    return domain if unlike_widths(domain) is None else replace(domain, scale="box")
