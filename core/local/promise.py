"""The promise that a device makes to its owner: a local ε, as an exact decimal and as whole-number weights."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..errors import RequestError
from ..parameters import Kind
from ..privacy.budget import EPSILON_PLACES, decimal_text, exact_decimal
from ..privacy.noise.responses import UNIT, odds_below

LEAST_EPSILON = Decimal("0.001")
LARGEST_EPSILON = 16


@dataclass(frozen=True)
class LocalEpsilon(Kind):
    """A local ε: below the least, whole-number weights could not tell it from nothing; above the largest, it hides
    nobody.
    """

    what: str = "The local epsilon"

    def checked(self, value: object) -> Decimal:
        number = exact_decimal(value, self.what, EPSILON_PLACES)  # type: ignore[arg-type]  # it refuses what is none
        if not LEAST_EPSILON <= number <= LARGEST_EPSILON:
            raise RequestError(
                f"{self.what} must lie between {LEAST_EPSILON} and {LARGEST_EPSILON}, not {decimal_text(number)}: less "
                "says nothing, and more protects nobody."
            )
        return number

    def written(self, value: Decimal) -> str:
        return decimal_text(value)

    def read(self, value: object) -> Any:
        if not isinstance(value, str):
            raise RequestError(f"{self.what} must be written as text, as it is exact.")
        return value


def surplus(epsilon: Decimal | Fraction) -> int:
    """A - B: how much more than the others' weight B = 2^32 an outcome weighs that speaks for the truth.

    A = ⌊2^32 e^ε⌋, so that A/B <= e^ε.
    """
    return odds_below(Fraction(epsilon)) - UNIT
