"""At most m records a person, chosen at random, before anything else reads the data.

Why every sensitivity then is m times that of one record. Write S(D) for what is selected from the data D. Each
record draws its own random number, and a person's m smallest draws are kept, so what is kept of one person depends
on that person's records and draws alone. Let D and D' differ in the records of one person. The draws are independent
and alike, so nothing changes in distribution if every record of the other people draws the same number in both: what
is kept of them is then the same, and S(D) and S(D') differ by at most m records (under replace_one by at most m on
each side). For every value of the draws a mechanism M that is (ε, δ)-private for such pairs satisfies
P(M(S(D)) in E) <= exp(ε) P(M(S(D')) in E) + δ, and so do the averages over the draws. The draws need not be secret for
this, only independent and alike, and they are not noise: DuckDB's generator is good enough.

The selection is a sort by (person, draw), which spills to disk, followed by one pass that counts along each person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .duck import kind_of_sql

PERSON, DRAW = "person", "draw"
"""Names of the last columns of the sorted table; its others are c0, c1, … so none can collide."""


def ordering_sql(inner: str, columns: Sequence[str]) -> str:
    """A query that sorts the rows of ``inner`` by person, and at random within each; null persons come first."""
    drawn = f"SELECT *, random() AS {DRAW} FROM ({inner})"
    return f"SELECT {', '.join([*columns, PERSON])} FROM ({drawn}) ORDER BY {PERSON} NULLS FIRST, {DRAW}"


def person_sql(column: str, kind: str) -> str:
    """The id as an expression that is null where it says nothing: null, empty text, or NaN."""
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} + 0 END"  # + 0 turns -0.0 into 0.0
    # Intervals of different texts may compare as equal, such as a month and 30 days.
    if kind_of_sql(kind) in ("number", "date", "boolean") and kind != "INTERVAL":
        return column
    return f"nullif(trim(CAST({column} AS VARCHAR)), '')"


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
