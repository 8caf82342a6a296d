"""Answers that `local` reads: public lists of them, and those of people, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import RequestError

if TYPE_CHECKING:
    import pyarrow as pa

    from ..local.survey import AnySurvey

MOST_ANSWERS = 1 << 24


def public_texts(name: str, column: str | None) -> list[str]:
    """The texts of a public table, in order."""
    found: list[str] = []
    for texts in columns_of(name, column):
        found += texts.to_pylist()
        if len(found) > MOST_ANSWERS:
            raise RequestError(f"A survey may have {MOST_ANSWERS:,} answers.")
    if any(text is None for text in found):
        raise RequestError("An answer in the list is missing.")
    return found


def places(asked: AnySurvey, name: str, column: str | None) -> Iterator[Any]:
    """Records, texts, or the places of answers, batch by batch; values themselves are never repeated."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ..local.survey import OpenSurvey, RecordSurvey, TextSurvey
    from ..sources import open_source

    if isinstance(asked, RecordSurvey):
        if column is not None:
            raise RequestError("--column cannot be given here, as the survey names the columns of a record.")
        sketch = asked.oracle.sketch
        yield from (sketch.encode(batch) for batch in open_source(name).batches(sketch.domain))
        return
    if isinstance(asked, TextSurvey | OpenSurvey):
        for texts in columns_of(name, column):
            if texts.null_count:
                raise RequestError("Some of the texts are missing, so no report can be made of them.")
            yield asked.keys(texts.to_pylist()) if isinstance(asked, OpenSurvey) else texts.to_pylist()
        return
    answers = pa.array(asked.answers, pa.large_string())
    for texts in columns_of(name, column):
        places = pc.index_in(texts, answers)
        if places.null_count:
            raise RequestError(
                "Some of the values are not among the survey's answers, so no report can be made of them; nothing was "
                "written."
            )
        yield places.to_numpy(zero_copy_only=False).astype("int64")


def columns_of(name: str, column: str | None) -> Iterator[pa.Array]:
    """One column of a table as texts, batch by batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ..domain import Categorical, Domain
    from ..sources import open_source

    source = open_source(name)
    names = [one.name for one in source.columns]
    if column is None and len(names) != 1:
        raise RequestError(f"Say by --column which of the {len(names):,} columns is meant.")
    # Two stand-ins: categories are read as they stand, whatever they are.
    for batch in source.batches(Domain((Categorical(column or names[0], ("a", "b")),))):
        yield pc.cast(batch.column(0), pa.large_string())
