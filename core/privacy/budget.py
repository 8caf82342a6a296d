"""What is promised: epsilon, delta and the relation of neighbours, as exact decimals."""

import math
import numbers
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING

from ..errors import RequestError
from .neighbours import Neighbours

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
