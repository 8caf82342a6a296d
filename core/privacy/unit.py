"""Who is protected: one record, or one person with several."""

from __future__ import annotations

from dataclasses import dataclass

from ..checks import check_integer, check_text
from ..errors import RequestError

MAX_RECORDS = 1_000_000


@dataclass(frozen=True)
class PrivacyUnit:
    """The record, or the person whom an id column names, of whose records at most ``records`` are kept at random."""

    column: str | None = None
    records: int = 1

    def __post_init__(self) -> None:
        if self.column is not None:
            check_text(self.column, "The name of the id column")
        records = check_integer(self.records, "The number of records a person", 1, MAX_RECORDS)
        if self.column is None and records != 1:
            raise RequestError("Several records a person need the name of the column that says who the person is.")
        object.__setattr__(self, "records", records)

    @property
    def id_column(self) -> str:
        """The id column, for what only happens where there is one; ValueError where a record is protected by itself."""
        if self.column is None:
            raise ValueError("There is no column that says who a person is.")
        return self.column


EACH_RECORD = PrivacyUnit()
"""One record is protected, by itself: what holds when nothing says which records belong to one person."""


def unit_in_words(unit: str) -> str:
    """The ledger's name for who is protected, in words."""
    if unit == "record":
        return "each record"
    column, _, records = unit.rpartition(":")
    if not column:
        return f"each {unit}"
    return f"each person named by {column}, with {'one record' if records == '1' else f'at most {records} records'}"
