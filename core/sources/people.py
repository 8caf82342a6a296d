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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..domain.written import NO_DIGITS, SHARED_FROM
from ..privacy.replay.tape import rolling
from .duck import Fault, identifier, kind_of_sql

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
# What a program writes of any floating-point number: a point, or an exponent with its sign, and no zero in front.
_FLOATING = r"-?(0|[1-9][0-9]*)(\.[0-9]*|(\.[0-9]+)?[eE][+-][0-9]+)"
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
