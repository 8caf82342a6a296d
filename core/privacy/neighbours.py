"""Who counts as a neighbour, and how far one person can move an integer table."""

from dataclasses import dataclass
from enum import StrEnum


class Neighbours(StrEnum):
    """The relation between two data sets that a release must make hard to tell apart.

    ``ADD_REMOVE``: one data set has one person more; the number of records is private.
    ``REPLACE_ONE``: both have the same number of records and one person's records differ; the number is public.
    """

    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"


@dataclass(frozen=True)
class Sensitivity:
    """How far one person can move an integer table: the supremum over all pairs of neighbours.

    Attributes
    ----------
    l1, l2_squared
        Largest L1 norm and largest squared L2 norm of the difference of two neighbouring tables.
    parts
        Number of disjoint blocks of counters that each move by ``l1 / parts`` at most (rows of a RACE). A pure release
        can then be accounted as that many pure releases of a ``parts``-th of its epsilon, which compose better than
        one.
    unit_shifts
        Every difference of neighbouring tables has entries in {-1, 0, 1} only; the tight calibration of Gaussian
        noise is proven for these (see `calibration`).
    """

    l1: int
    l2_squared: int
    parts: int = 1
    unit_shifts: bool = False

    def __post_init__(self) -> None:
        for name in ("l1", "l2_squared", "parts"):
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

    def scaled(self, records: int) -> "Sensitivity":
        """Return the sensitivity when one person may have up to `records` records, all in the same cells at worst."""
        if records == 1:
            return self
        return Sensitivity(self.l1 * records, self.l2_squared * records**2, self.parts)
