"""Who counts as a neighbour, and how far one person can move an integer table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..errors import RequestError
from ..runtime.parameters import check_integer, check_text


class Neighbours(StrEnum):
    """The relation between two data sets that a release must make hard to tell apart.

    ``ADD_REMOVE``: one data set has one person more; the number of records is private.
    ``REPLACE_ONE``: both have the same number of records and one person's records differ; the number is public.
    """

    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"

    @property
    def hides(self) -> str:
        """What nobody can tell of anyone under a promise about such neighbours, in words."""
        return "whether someone takes part" if self is Neighbours.ADD_REMOVE else "what someone's record says"


@dataclass(frozen=True)
class Sensitivity:
    """How far one person can move an integer table: the supremum over all pairs of neighbours."""

    # Largest L1 norm and largest squared L2 norm of the difference of two neighbouring tables.
    l1: int
    l2_squared: int
    # Number of disjoint blocks of counters that each move by ``l1 / parts`` at most (rows of a RACE). A pure release
    # can then be accounted as that many pure releases of a ``parts``-th of its epsilon, which compose better than one.
    parts: int = 1
    # Every difference of neighbouring tables has entries in {-1, 0, 1} only; the tight calibration of Gaussian noise is
    # proven for these (see `calibration`).
    unit_shifts: bool = False
    # Length of the blocks that noise may be drawn for as whole vectors: the size of the table's last axis, or of
    # several last axes together. None where the sketch does not offer it.
    block: int | None = None
    # Largest sum, over the blocks, of the L2 norms of a block's difference (for one that moves in a single block, its
    # L2 norm), rounded up to a whole number. Given together with `block`.
    blocks_l2: int | None = None

    def __post_init__(self) -> None:
        if (self.block is None) != (self.blocks_l2 is None):
            raise ValueError("Sensitivity.block and Sensitivity.blocks_l2 are given together or not at all.")
        for name in ("l1", "l2_squared", "parts") + (() if self.block is None else ("block", "blocks_l2")):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"Sensitivity.{name} must be a whole number of at least 1, not {value!r}.")
        # |v| <= v^2 <= |v|·max|v| on the integers bounds either norm by the other, whatever the table.
        if not self.l1 <= self.l2_squared <= self.l1**2:
            raise ValueError(
                f"A table of integers with L1 sensitivity {self.l1} cannot have squared L2 sensitivity "
                f"{self.l2_squared}: it lies between {self.l1} and {self.l1**2}."
            )
        if self.l1 % self.parts:
            raise ValueError(f"L1 sensitivity {self.l1} does not fall into {self.parts} equal whole parts.")
        if self.unit_shifts and self.l1 != self.l2_squared:
            raise ValueError("Shifts by -1, 0 and 1 have equal L1 and squared L2 norms.")
        # A whole difference is no longer than its blocks together, and no block is longer than its L1 norm.
        if self.blocks_l2 is not None and not self.l2_squared <= self.blocks_l2**2 <= self.l1**2:
            raise ValueError(
                f"Blocks with L2 norms that sum to {self.blocks_l2} do not fit an L1 sensitivity of {self.l1} and a "
                f"squared L2 sensitivity of {self.l2_squared}: the sum lies between the L2 and the L1 norm."
            )

    def scaled(self, records: int) -> Sensitivity:
        """Return the sensitivity when one person may have up to `records` records, all in the same cells at worst."""
        if records == 1:
            return self
        blocks_l2 = None if self.blocks_l2 is None else self.blocks_l2 * records
        return Sensitivity(
            self.l1 * records, self.l2_squared * records**2, self.parts, block=self.block, blocks_l2=blocks_l2
        )


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


@dataclass(frozen=True)
class EarliestUnit(PrivacyUnit):
    """The person whom an id column names, of whose records the earliest by the column ``first`` are kept.

    For what reads the same records several times while more come: what is kept of a person must not change by that.
    """

    first: str = ""


# One record is protected, by itself: what holds when nothing says which records belong to one person.
EACH_RECORD = PrivacyUnit()


def unit_in_words(unit: str) -> str:
    """The ledger's name for who is protected, in words."""
    if unit == "record":
        return "each record"
    column, _, records = unit.rpartition(":")
    if not column:
        return f"each {unit}"
    return f"each person named by {column}, with {'one record' if records == '1' else f'at most {records} records'}"
