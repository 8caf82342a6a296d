"""What is promised: epsilon and delta as exact decimals, who counts as a neighbour, and how far one moves a table."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING

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


LARGEST_EPSILON = 100
LARGEST_DELTA = Decimal("0.01")
# Exact sums need a bound on digits, or one "1e-999999999" would make every later sum that long.
EPSILON_PLACES = 12
DELTA_PLACES = 30

Number = int | float | str | Decimal | Fraction


def exact_decimal(value: Number, name: str, places: int = DELTA_PLACES) -> Decimal:
    """Return `value` as the exact decimal that a person would read in it.

    A float is read as it is printed (0.1 is one tenth, not 0.1000000000000000055), so that 0.1 + 0.2 spends 0.3.
    """
    refusal = RequestError(
        f"{name} must be a finite number with at most {places} decimal places, as every spend is added up exactly."
    )
    if isinstance(value, bool):
        raise refusal
    try:
        if isinstance(value, Fraction):
            result = _fraction_to_decimal(value)
        elif isinstance(value, (str, Decimal, int)):
            result = Decimal(value)
        elif isinstance(value, numbers.Real):
            # NumPy scalars included; a float32 is widened by its own shortest decimal.
            result = Decimal(str(value))
        else:
            raise refusal
    except (InvalidOperation, ValueError, ArithmeticError) as error:
        raise refusal from error
    if not result.is_finite() or abs(result.adjusted()) > 40 or len(result.as_tuple().digits) > 60:
        raise refusal
    result = _without_trailing_zeros(result)
    if -int(result.as_tuple().exponent) > places:
        raise refusal
    return result


def decimal_text(value: Decimal) -> str:
    """Return `value` in plain digits, without an exponent: the one spelling used in records and messages."""
    return format(value, "f")


def decimal_below(value: Fraction) -> Decimal:
    """Return `value` rounded down to the decimal places that an epsilon may have."""
    return _without_trailing_zeros(_decimal_of(math.floor(value * 10**EPSILON_PLACES), EPSILON_PLACES))


def _fraction_to_decimal(value: Fraction) -> Decimal:
    """Return a fraction as a decimal; only fractions over 10^places have one."""
    scaled = value * 10**DELTA_PLACES
    if scaled.denominator != 1 or abs(scaled) > 10**50:
        raise ValueError("not a finite decimal")
    return _decimal_of(scaled.numerator, DELTA_PLACES)


def _decimal_of(units: int, places: int) -> Decimal:
    """Return units / 10^places; exact, whatever the decimal context (Decimal's own arithmetic rounds to it)."""
    return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -places))


def _without_trailing_zeros(value: Decimal) -> Decimal:
    """Return `value` in its shortest form with no positive exponent; exact, whatever the decimal context."""
    if not value:
        return Decimal(0)
    sign, digits, exponent = value.as_tuple()
    exponent = int(exponent)  # a finite decimal's is never 'n', 'N' or 'F'
    while exponent < 0 and digits[-1] == 0:
        digits, exponent = digits[:-1], exponent + 1
    if exponent > 0:
        digits, exponent = digits + (0,) * exponent, 0
    return Decimal((sign, digits, exponent))


@dataclass(frozen=True)
class Budget:
    """A promise: whatever one person's records are, no output becomes more than e^epsilon times likelier or less
    likely, except with probability delta.

    Attributes
    ----------
    epsilon : Decimal
        Privacy loss, 0 < epsilon <= 100.
    delta : Decimal
        0 for a pure promise, else 0 < delta < 0.01.
    neighbours : Neighbours
        What "one person's records" means.

    Examples
    --------
    >>> Budget(epsilon=0.1).epsilon + Budget(epsilon="0.2").epsilon
    Decimal('0.3')

    Raises
    ------
    RequestError
        When a number is out of its range.
    """

    epsilon: Decimal
    delta: Decimal = Decimal(0)
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    if TYPE_CHECKING:  # any exact number may be given, and is kept as a decimal

        def __init__(
            self, epsilon: Number, delta: Number = 0, neighbours: Neighbours | str = Neighbours.ADD_REMOVE
        ) -> None: ...

    def __repr__(self) -> str:
        return f"Budget({decimal_text(self.epsilon)}, {decimal_text(self.delta)}, {str(self.neighbours)!r})"

    if TYPE_CHECKING:  # any exact number may be given, and is kept as a decimal

        def __init__(self, epsilon: Number, delta: Number = 0, neighbours: Neighbours | str = ...) -> None: ...

    def __post_init__(self) -> None:
        epsilon = exact_decimal(self.epsilon, "Epsilon", EPSILON_PLACES)
        delta = exact_decimal(self.delta, "Delta", DELTA_PLACES)
        if not 0 < epsilon <= LARGEST_EPSILON:
            raise RequestError(
                f"Epsilon must be above 0 and at most {LARGEST_EPSILON}, not {decimal_text(epsilon)}: zero would allow "
                "no answer at all, and more protects nobody."
            )
        if not 0 <= delta < LARGEST_DELTA:
            raise RequestError(
                f"Delta must be at least 0 and below {LARGEST_DELTA}, not {decimal_text(delta)}: it is the probability "
                "that the promise fails, so one over the number of people or less is wise."
            )
        try:
            neighbours = Neighbours(self.neighbours)
        except ValueError as error:
            choices = " or ".join(relation.value for relation in Neighbours)
            raise RequestError(f"Neighbours must be {choices}.") from error
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "delta", delta)
        object.__setattr__(self, "neighbours", neighbours)

    @property
    def pure(self) -> bool:
        """Whether the promise holds with certainty (delta is zero)."""
        return self.delta == 0

    @property
    def odds(self) -> float:
        """Best success probability of anyone who starts from a coin flip about one person.

        (e^epsilon + delta) / (1 + e^epsilon), from the region of hypothesis tests that the promise leaves open
        (Kairouz, Oh, Viswanath 2015, Theorem 2.1 with equal prior odds).
        """
        return (1 + float(self.delta) * math.exp(-self.epsilon)) / (1 + math.exp(-self.epsilon))

    def split(self, *shares: Number) -> tuple[Fraction, ...]:
        """Split epsilon exactly in proportion to `shares` (for a pure release in several pieces).

        Returns
        -------
        tuple[Fraction, ...]
            As many as shares, adding up to epsilon exactly.
        """
        weights = [
            share if isinstance(share, Fraction) else Fraction(exact_decimal(share, "A share")) for share in shares
        ]
        if not weights or min(weights) <= 0:
            raise RequestError("Every share of a budget must be above zero, as nothing can be released for nothing.")
        return tuple(Fraction(self.epsilon) * weight / sum(weights) for weight in weights)
