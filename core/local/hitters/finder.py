"""What every search is: reports of texts, and from them the most frequent ones with estimates and intervals.

Whoever is picked for a large estimate was partly picked for the luck in it. So an item's
estimate never hangs on what it was picked for: it is by reports of people who had no part in the search, or such that
it is uncorrelated with what was picked by, or by reports of their own coins, with intervals that hold for all
candidates at once, whichever of them is then picked.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from ...errors import RequestError
from ...parameters import Described, Validated, Whole, parameter
from ...privacy.budget import decimal_below
from ...privacy.noise.randomness import Source, SystemSource
from ...runtime.array_types import Array, Floats, Integers, Truths, Words
from ..oracles.olh import OptimalHashing
from ..promise import LocalEpsilon
from .strings import Alphabet

MOST_CANDIDATES = 1 << 20


@dataclass(frozen=True)
class Finder(Validated):
    """A search for texts.

    Attributes
    ----------
    alphabet : Alphabet
        Which texts there are.
    epsilon : Decimal
        The promise to whoever reports once, for all that the report holds together.
    step : int
        By how many characters the search goes on at a time.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    described: ClassVar[str] = "search"
    report_words: ClassVar[int]

    alphabet: Alphabet = parameter(Described("The alphabet", Alphabet))
    epsilon: Decimal = parameter(LocalEpsilon())
    step: int = parameter(Whole("The step", 1, 8), 2)

    @property
    def report_type(self) -> np.dtype:
        """Of the words of a report."""
        return np.dtype(np.uint64)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Lengths of the prefixes that are searched for, the whole text last."""
        return (*range(self.step, self.alphabet.length, self.step), self.alphabet.length)

    @abstractmethod
    def privatise(self, texts: Sequence[str], source: Source | None = None) -> Words:
        """The reports of people with these texts: uint64 (n, `report_words`)."""

    def fits(self, reports: Array) -> Truths:
        """Which reports could have been sent by a device that follows the survey, bool (n,)."""
        if reports.dtype != np.uint64 or reports.ndim != 2 or reports.shape[1] != self.report_words:
            raise RequestError(f"These are no reports of the search {self.name!r}.")
        return self._fits(reports)

    @abstractmethod
    def _fits(self, reports: Words) -> Truths:
        """The same for words."""

    @property
    @abstractmethod
    def reach(self) -> tuple[float, float]:
        """By how much one report, whatever it says, lowers and raises the estimate of any text that was found."""

    @abstractmethod
    def find(self, reports: Array, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        """The most frequent texts, at most `top`: value, estimate, low, high; the most frequent first."""

    def _checked(self, reports: Array) -> Words:
        if not self.fits(reports).all():
            raise RequestError(f"A report cannot have been sent by the search {self.name!r} of this survey.")
        return reports

    def half(self) -> OptimalHashing:
        """Hashing with half of ε, as two reports of one person share it."""
        return OptimalHashing(2, decimal_below(Fraction(self.epsilon) / 2))

    def _listed(self, codes: Integers, estimate: Floats, low: Floats, high: Floats, top: int) -> pd.DataFrame:
        order = np.argsort(-estimate, kind="stable")[:top]
        values = [self.alphabet.text(int(codes[place])) for place in order]
        return pd.DataFrame({"value": values, "estimate": estimate[order], "low": low[order], "high": high[order]})


def source_or_system(source: Source | None) -> Source:
    """The system's coins, unless others are given."""
    return SystemSource() if source is None else source


def estimated(one: OptimalHashing, reports: Array, keys: Integers) -> tuple[Floats, Floats]:
    """How many of those who reported have each key, and the standard deviation of each, by the coins alone."""
    p, q = (float(chance) for chance in one.chances)
    estimate = (one.supported(reports, keys).astype(np.float64) - len(reports) * q) / (p - q)
    variance = len(reports) * q * (1 - q) / (p - q) ** 2 + np.maximum(estimate, 0.0) * (1 - p - q) / (p - q)
    return estimate, np.sqrt(np.maximum(variance, 0.0))


def strongest(codes: Integers, estimate: Floats, most: int) -> Integers:
    """The codes with the largest estimates above zero."""
    order = np.argsort(-estimate, kind="stable")[:most]
    return codes[order[estimate[order] > 0]]
