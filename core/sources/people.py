"""At most m records a person, chosen at random, before anything else reads the data.

Why every sensitivity then is m times that of one record. Write S(D) for what is selected from the data D. Each
record draws its own random number, and a person's m smallest draws are kept, so what is kept of one person depends
on that person's records and draws alone. Let D and D' differ in the records of one person. The draws are independent
and alike, so nothing changes in distribution if every record of the other people draws the same number in both: what
is kept of them is then the same, and S(D) and S(D') differ by at most m records (under replace_one by at most m on
each side). For every value of the draws a mechanism M that is (ε, δ)-private for such pairs satisfies
P(M(S(D)) in E) <= exp(ε) P(M(S(D')) in E) + δ, and so do the averages over the draws. The draws need not be secret for
this, only independent and alike, and they are not noise: DuckDB's generator is good enough. It has 2^53 numbers, so two
of a person's k records may draw the same just where the m-th is cut off, about once in 2^53/k. Then a hash of what they
say decides, and not the order in which they are read, which one value may change for everybody.

The selection is a sort by (person, draw), which spills to disk, followed by one pass that counts along each person.

All of this holds of the ids as they are read, so an id must be what names one person. Ids follow the one rule of
`core.domain.written`: a number is the text of its digits, and what has none is refused. Text that a program wrote of a
floating-point number, "7.0" or "1.2e+18", is held to the rule as the number is: in a file whose pieces were written
apart, "7" and "7.0" are one person, who would have twice as many records as two.

*The earliest ones.* A living release reads the same records again with every part, and rows of it are sums over earlier
periods too: were other records of a person kept each time, more than m would be in it. There the m earliest are kept,
and of equally early ones those whose digest is least. What is kept of a person then follows from that person's records,
so S(D) and S(D') differ as above; and later records change nothing of what is kept of earlier ones.

Sets gathered from rows that hold one item each: all rows of one id are one set.

Rows in ascending order of their ids are gathered as they come, as all rows of an id stand together then: what is held
is one batch, and the items of the set that may go on. Whether they are in order is looked at before anything is given
out, in one reading of the ids alone; where they are not, the rows are sorted out of core. So every set is whole and
comes once, whatever the order, and the sets are the same ones. The order is looked at again on the way, because a file
may change between the two readings.

Which way is taken depends on the private rows, and shows in nothing but the time it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..domain.encoding import ROWS_READ
from ..domain.written import NO_DIGITS, SHARED_FROM
from ..errors import RequestError
from ..privacy.replay.tape import rolling
from .duck import Fault, identifier, kind_of_sql, plain_sentences

# How a column is called that was of half precision before it came to DuckDB, which has no such type.
HALF = "HALF FLOAT"
_SHARED_FROM = {
    "DOUBLE": SHARED_FROM[pa.float64()],
    "FLOAT": SHARED_FROM[pa.float32()],
    HALF: SHARED_FROM[pa.float16()],
}
# Types whose values Arrow may hold as equal, or not at all, where DuckDB tells them apart: a month and 30 days.
_OTHERWISE_IN_ARROW = ("INTERVAL", "TIME WITH TIME ZONE", "HUGEINT", "UHUGEINT")
# What a program writes of a whole number that it holds as floating point; 2**53 has 16 digits.
_WHOLE = r"(0|-?[1-9][0-9]{0,15})\.0*"
# What a program writes of any floating-point number: a point and no zero in front, or one digit and an exponent with
# its sign, of which 308 is the largest; "827e-1378" is a name.
_FLOATING = r"-?((0|[1-9][0-9]*)\.[0-9]*|[0-9](\.[0-9]+)?[eE][+-][0-9]{1,3})"
# What a program writes of a floating-point number that is too large for all of its digits to be shown.
_ROUNDED = r"-?[1-9](\.[0-9]+)?[eE]\+[0-9]+"

# Names of the last columns of the sorted table; its others are c0, c1, … so none can collide.
PERSON, DRAW = "person", "draw"


def ordering_sql(inner: str, columns: Sequence[str], beside: Sequence[str] = ()) -> str:
    """A query that sorts the rows of ``inner`` by person, and at random within each; null persons come first.

    Columns are what a record says, and those beside them are passed on too.
    """
    tape, draw, said = rolling(), "random()", f"hash({', '.join(columns)})"
    if tape is not None:  # an audit gives a record the same draw in both of two neighbouring data sets
        tape.lemmas.append("which records of a person are kept, by draws of each record's own")
        draw = said
    drawn = f"SELECT *, {draw} AS {DRAW} FROM ({inner})"
    by = f"{PERSON} NULLS FIRST, {DRAW}, {said}"
    return f"SELECT {', '.join([*columns, *beside, PERSON])} FROM ({drawn}) ORDER BY {by}"


def settled_sql(inner: str, columns: Sequence[str], beside: Sequence[str] = ()) -> str:
    """A query like `ordering_sql`, whose order within each person follows from what records say, in every version.

    Records with one digest differ in some column, or in nothing.
    """
    said = f"md5(concat_ws(chr(31), {', '.join(f'CAST({column} AS VARCHAR)' for column in columns)}))"
    chosen = ", ".join([*columns, *beside, PERSON])
    return f"SELECT {chosen} FROM ({inner}) ORDER BY {PERSON} NULLS FIRST, {', '.join([said, *columns])}"


def keep_earliest(
    batches: Iterator[pa.RecordBatch], records: int, order: Callable[[pa.RecordBatch], np.ndarray]
) -> Iterator[pa.RecordBatch]:
    """Of the rows of each person those that are first by ``order``, and of equal ones those that come first.

    Persons are in the last column, which is taken off, and their rows stand together. Of the last person of a batch so
    many rows are held back as may be kept.
    """
    held: pa.RecordBatch | None = None
    for batch in batches:
        together = batch if held is None else pa.concat_batches([held, batch])
        if not together.num_rows:
            continue
        persons = together.column(together.num_columns - 1)
        others = pc.not_equal(persons, persons[-1]).to_numpy(zero_copy_only=False)
        end = int(np.flatnonzero(others)[-1]) + 1 if others.any() else 0
        held = _earliest(together.slice(end), records, order)
        if end:
            yield _without_person(_earliest(together.slice(0, end), records, order))
    if held is not None:
        yield _without_person(held)


def _earliest(batch: pa.RecordBatch, records: int, order: Callable[[pa.RecordBatch], np.ndarray]) -> pa.RecordBatch:
    """The rows to keep, in the order in which they are."""
    persons, size = batch.column(batch.num_columns - 1), batch.num_rows
    starts = np.ones(size, dtype=bool)
    starts[1:] = pc.not_equal(persons[1:], persons[:-1]).to_numpy(zero_copy_only=False)
    person = np.cumsum(starts)
    sorted_ = np.lexsort((order(batch), person))  # stable
    begins = np.flatnonzero(starts)[person - 1]  # which sorting leaves as they are
    kept = np.sort(sorted_[np.arange(size) - begins < records])
    return batch.take(pa.array(kept))


def _without_person(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.select(range(batch.num_columns - 1))


@dataclass(frozen=True)
class Person:
    """Who a record belongs to."""

    sql: str  # The id as an expression that is null where it says nothing: null, empty text, or NaN.
    # What is refused in ids: floating-point numbers, and texts of them, that have no digits.
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, name: str, kind: str) -> Person:
        """The person that a column of some DuckDB type names."""
        column = identifier(name)
        if kind in _SHARED_FROM:
            digits = f"abs({column}) < {_SHARED_FROM[kind]} AND floor({column}) = {column}"
            fault = Fault(f"NOT isnan({column}) AND NOT ({digits})", name, f"is {NO_DIGITS}")
            return cls(f"CASE WHEN isnan({column}) THEN NULL ELSE {column} + 0 END", (fault,))  # + 0: no -0.0
        if kind_of_sql(kind) in ("number", "date", "boolean") and kind not in _OTHERWISE_IN_ARROW:
            return cls(column)
        text = f"nullif(trim(CAST({column} AS VARCHAR)), '')"
        whole, before = f"regexp_full_match({text}, '{_WHOLE}')", f"split_part({text}, '.', 1)"
        digits = f"{whole} AND abs(TRY_CAST({before} AS BIGINT)) < {_SHARED_FROM['DOUBLE']}"
        fault = Fault(f"regexp_full_match({text}, '{_FLOATING}') AND NOT ({digits})", name, f"is {NO_DIGITS}")
        return cls(f"CASE WHEN {whole} THEN {before} ELSE {text} END", (fault,))


def rounded_text(name: str) -> Fault:
    """What is refused where a text table has one item a field: numbers that a program wrote after it rounded them."""
    column = identifier(name)
    rounded = f"regexp_full_match(trim({column}), '{_ROUNDED}')"
    return Fault(rounded, name, f"is {NO_DIGITS}")


def keep_at_most(batches: Iterator[pa.RecordBatch], records: int) -> Iterator[pa.RecordBatch]:
    """The first ``records`` rows of each run of equal persons, with the column of persons (the last one) taken off."""
    last: pa.Scalar | None = None
    taken = 0  # rows of the last person met so far, in earlier batches too
    for batch in batches:
        if batch.num_rows == 0:
            continue
        persons = batch.column(batch.num_columns - 1)
        starts = np.ones(batch.num_rows, dtype=bool)
        starts[1:] = pc.not_equal(persons[1:], persons[:-1]).to_numpy(zero_copy_only=False)
        starts[0] = last is None or not pc.equal(persons[0], last).as_py()
        places = np.arange(batch.num_rows)
        rank = places - np.maximum.accumulate(np.where(starts, places, 0))
        if not starts[0]:
            first_run = int(np.argmax(starts)) if starts.any() else batch.num_rows
            rank[:first_run] += taken
        last, taken = persons[-1], int(rank[-1]) + 1
        records_only = batch.select(range(batch.num_columns - 1))
        yield records_only.filter(pa.array(rank < records))


PAIR_ROWS = 1 << 20  # Rows that are read at a time, so that a batch of sets has about so many items.
REFUSED = "is missing, and the domain says that missing values are refused"

# Ids and items of some rows, none missing, and how many rows of the source were read up to here.
Pair = tuple[pa.Array, pa.Array, int]


class Pairs(Protocol):
    """Rows of an id and an item, read from the beginning at every call.

    Ids are as `core.sources.people.Person` has them. Rows that miss an id or an item are left out, or refused
    where the domain says so.
    """

    @property
    def label(self) -> str:
        """How messages name the source."""
        ...

    def ids(self) -> Iterator[pa.Array]:
        """The ids alone, in the order of the source."""
        ...

    def in_order(self) -> Iterator[Pair]:
        """Ids and items in the order of the source."""
        ...

    def sorted(self) -> Iterator[Pair]:
        """Ids and items by ascending id."""
        ...


# From column names and a number of rows to batches of at most so many, in the order of the source.
Reads = Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class WholeNumbers:
    """Pairs whose ids and items are whole numbers, which need no query to be what they are."""

    label: str  # How messages name the source.
    read: Reads  # Gives the batches of some columns.
    id_name: str
    item_name: str
    refuse: bool  # Whether a missing value is refused rather than left out.
    queried: Pairs | None  # The same pairs, read by a query, which can sort; None where the ids are known to ascend.
    first_row: int = 0  # Place of the first row in the source.

    def ids(self) -> Iterator[pa.Array]:
        with plain_sentences(self.label):
            for batch in self.read([self.id_name], PAIR_ROWS):
                yield batch.column(0).drop_null()

    def in_order(self) -> Iterator[Pair]:
        rows = 0
        with plain_sentences(self.label):
            for batch in self.read([self.id_name, self.item_name], PAIR_ROWS):
                ids, items = batch.columns
                if self.refuse:
                    self._check(ids, self.id_name, self.first_row + rows)
                    self._check(items, self.item_name, self.first_row + rows)
                rows += len(batch)
                yield (*known(ids, items), rows)

    def sorted(self) -> Iterator[Pair]:
        if self.queried is None:
            raise ValueError("Ids that are known to ascend need no query to sort them.")
        return self.queried.sorted()

    def _check(self, values: pa.Array, name: str, before: int) -> None:
        if values.null_count:
            row = before + int(np.argmax(values.is_null().to_numpy(zero_copy_only=False))) + 1
            raise RequestError(f"The value of the column {name!r} in row {row:,} of {self.label} {REFUSED}.")


def are_whole_numbers(*kinds: pa.DataType) -> bool:
    """Whether values of all these types are integers."""
    return all(map(pa.types.is_integer, kinds))


def known(ids: pa.Array, items: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The rows that miss neither; texts with 64-bit places, as one set may have more than fit 32."""
    if ids.null_count or items.null_count:
        both = pc.and_(ids.is_valid(), items.is_valid())
        ids, items = ids.filter(both), items.filter(both)
    if pa.types.is_string(items.type):
        items = items.cast(pa.large_string())
    return ids, items


HELD_ITEMS = 1 << 24  # Items of one set that are held before repeated ones are left out.

# Ids, each once, the items of each, and how many rows of the source were read for them and all before.
Lists = tuple[pa.Array, pa.LargeListArray, int]
Order = Callable[[pa.Array], bool]  # Whether ids stand in ascending order.


def gathered(pairs: Pairs, id_name: str, item_name: str, sets: int) -> Iterator[pa.RecordBatch]:
    """Batches of at most so many sets: a list of items each, and the id of each beside it."""
    order = order_of(pairs.ids())
    found = pairs.sorted() if order is None else pairs.in_order()
    return batches_of(gather(found, order, pairs.label), id_name, item_name, sets)


def batches_of(lists: Iterable[Lists], id_name: str, item_name: str, sets: int) -> Iterator[pa.RecordBatch]:
    """Lists of items and their ids as batches of at most so many."""
    before = 0
    for ids, items, rows in lists:
        batch = pa.record_batch([items, ids], names=[item_name, id_name])
        for start in range(0, len(batch), sets):
            yield batch.slice(start, sets).replace_schema_metadata({ROWS_READ: str(rows - before)})
            before = rows


def order_of(batches: Iterable[pa.Array]) -> Order | None:
    """An order in which all the ids ascend; None where there is none.

    Texts are compared as they are and, for whole numbers that are written as texts, by their length first. Any order
    serves, as equal ids stand together in it.
    """
    orders: list[Order] = [ascends, ascends_by_length]
    last: pa.Array | None = None
    for ids in batches:
        if not len(ids):
            continue
        orders = [order for order in orders if _goes_on(order, last, ids)]
        if not orders:
            return None
        last = ids[-1:]
    return orders[0]


def cut_between_sets(ids: Iterable[pa.Array], apart: int) -> list[int]:
    """Rows at which sets of whole numbers begin, at least so many apart, the first row and the number of rows included.

    `ids`: The ids of all rows, in their order, at most ``apart`` at a time. `apart`: Rows between two cuts. Returns the
    cuts in ascending order; empty where the ids do not ascend or one is missing.
    """
    cuts, place = [0], 0
    last: pa.Array | None = None
    for some in ids:
        if not len(some):
            continue
        if some.null_count or not _goes_on(ascends, last, some):
            return []
        begins = np.flatnonzero(_changes(some if last is None else pa.concat_arrays([last, some])))
        begins += place + (last is None)
        later = begins[np.searchsorted(begins, cuts[-1] + apart) :]
        cuts += later[:1].tolist()
        place, last = place + len(some), some[-1:]
    return [*cuts, place] if place else []


def ascends(ids: pa.Array) -> bool:
    """Whether no id is less than the one before it."""
    if pa.types.is_integer(ids.type):
        numbers = ids.to_numpy()
        return bool((numbers[:-1] <= numbers[1:]).all())
    return pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py() is not False


def ascends_by_length(ids: pa.Array) -> bool:
    """Whether no text is shorter than the one before it, nor less where it is as long: 9 comes before 10 then."""
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)):
        return False
    lengths = pc.binary_length(ids).to_numpy()
    same = lengths[:-1] == lengths[1:]
    later = pc.less_equal(ids[:-1], ids[1:]).to_numpy(zero_copy_only=False)
    return bool(((lengths[:-1] < lengths[1:]) | (same & later)).all())


def gather(pairs: Iterable[Pair], order: Order | None, label: str) -> Iterator[Lists]:
    """Ids, each once, and the lists of their items, from rows in which equal ids stand together.

    `order`: In which their ids ascend, to be looked at on the way; None where they were sorted.
    """
    whose: pa.Array | None = None  # the id of the last set, which may go on
    held: list[pa.Array] = []  # its items
    limit, rows = HELD_ITEMS, 0
    for ids, items, rows in pairs:
        if not len(ids):
            continue
        if order is not None and not _goes_on(order, whose, ids):
            raise RequestError(f"The rows of {label} changed while they were read.")
        begins = np.flatnonzero(_changes(ids)) + 1
        if whose is None:
            whose = ids[:1]
        elif not whose[0].equals(ids[0]):
            begins = np.concatenate([[0], begins])
        if len(begins):
            last = int(begins[-1])
            first = np.concatenate([[0], begins + sum(map(len, held))])
            yield (
                pa.concat_arrays([whose, ids.take(pa.array(begins[:-1]))]),
                pa.LargeListArray.from_arrays(pa.array(first, pa.int64()), pa.concat_arrays([*held, items[:last]])),
                rows - (len(ids) - last),
            )
            whose, held, limit = ids[last : last + 1], [items[last:]], HELD_ITEMS
        else:
            held.append(items)
            if sum(map(len, held)) > limit:
                held = [pc.unique(pa.concat_arrays(held))]
                limit = max(limit, 2 * len(held[0]))
    if whose is not None:
        contents = pa.concat_arrays(held)
        yield whose, pa.LargeListArray.from_arrays(pa.array([0, len(contents)], pa.int64()), contents), rows


def _changes(ids: pa.Array) -> np.ndarray:
    """Whether each id but the first differs from the one before it, bool (n - 1,)."""
    if pa.types.is_integer(ids.type):
        numbers = ids.to_numpy()
        return numbers[1:] != numbers[:-1]
    return pc.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)


def _goes_on(order: Order, last: pa.Array | None, ids: pa.Array) -> bool:
    return order(ids) and (last is None or order(pa.concat_arrays([last, ids[:1]])))
