"""PrivTrie (Wang, Xiao, Yang, Hoang, Shin, Shin, Yu 2018): a trie for which no more people are asked than it takes.

The collector asks in rounds. For the next length it asks fresh people for their prefixes, a few at a time, by optimal
local hashing with all of ε, until every prefix that is in question is surely above the threshold or surely below it, or
a level's share of people is used up. Only those above are extended. Whoever was asked once is never asked again, so
each person's promise is ε; what the trie ends in is estimated by people who are left, who had no part in growing it.

As rounds wait for answers, this is a search to be driven: `ask` is whatever reaches the devices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...errors import RequestError
from ...parameters import Described, Number, Validated, Whole, parameter
from ...privacy.noise.randomness import Source
from ...runtime.array_types import Array, Integers
from ..oracles.olh import OptimalHashing
from ..promise import LocalEpsilon
from .finder import estimated, strongest
from .strings import Alphabet

SURE = 2.5
"""Standard deviations by which a prefix is surely above or below."""
ROUNDS = 6
"""Of a level, at most."""
WIDEST = 300
Ask = Callable[[int, int], Array]
"""So many fresh people are asked for prefixes of a length; their reports, fewer where nobody is left."""


@dataclass(frozen=True)
class PrivTrie(Validated):
    """A search in rounds.

    Attributes
    ----------
    alphabet : Alphabet
        Which texts there are.
    epsilon : Decimal
        The promise to each person who is asked once.
    threshold : float
        The share of people from which a text is looked for.
    step : int
        By how many characters the trie grows.
    kept_apart : float
        The share of people who are left for the estimates.
    """

    name = "privtrie"
    described = "search"

    alphabet: Alphabet = parameter(Described("The alphabet", Alphabet))
    epsilon: Decimal = parameter(LocalEpsilon())
    threshold: float = parameter(Number("The threshold", 1e-6, 1.0), 0.01)
    step: int = parameter(Whole("The step", 1, 8), 1)
    kept_apart: float = parameter(Number("The share kept apart", 0.05, 0.95), 0.25)

    @cached_property
    def hashing(self) -> OptimalHashing:
        """How a prefix is reported."""
        return OptimalHashing(2, self.epsilon)

    def report(self, codes: Integers, length: int, source: Source | None = None) -> Array:
        """What devices with these texts send when they are asked for a prefix."""
        return self.hashing.privatise_keys(self.alphabet.keys(self.alphabet.prefixes(codes, length), length), source)

    def find(self, ask: Ask, people: int, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        """Grow the trie by asking, and list the most frequent texts: value, estimate, low, high.

        Parameters
        ----------
        ask : Ask
            Reaches devices; asks each of `people` at most once.
        people : int
            How many there are.
        top : int
            Texts to list at most.
        level : float
            Probability with which an interval holds a count.
        """
        lengths = (*range(self.step, self.alphabet.length, self.step), self.alphabet.length)
        each = int(people * (1 - self.kept_apart) / len(lengths) / ROUNDS)
        if each < 1:
            raise RequestError(f"A trie of {len(lengths)} levels needs more people than {people:,}.")
        kept, before, left = np.zeros(1, np.int64), 0, people
        for length in lengths:
            candidates = self.alphabet.extended(kept, before, length - before)
            kept, used = self._grown(ask, candidates, length, each)
            before, left = length, left - used
        apart = ask(self.alphabet.length, left)
        scale = people / max(len(apart), 1)
        estimate, error = estimated(self.hashing, apart, self.alphabet.keys(kept, self.alphabet.length))
        estimate = scale * estimate
        sampled = np.maximum(estimate, 0.0) * max(scale - 1, 0.0)
        reach = float(ndtri(0.5 + level / 2)) * np.sqrt((scale * error) ** 2 + sampled)
        order = np.argsort(-estimate, kind="stable")[:top]
        values = [self.alphabet.text(int(kept[place])) for place in order]
        low, high = estimate - reach, estimate + reach
        return pd.DataFrame({"value": values, "estimate": estimate[order], "low": low[order], "high": high[order]})

    def _grown(self, ask: Ask, candidates: Integers, length: int, each: int) -> tuple[Integers, int]:
        """The candidates above the threshold, and how many people were asked for that."""
        sums, variances, used = np.zeros(len(candidates)), np.zeros(len(candidates)), 0
        keys = self.alphabet.keys(candidates, length)
        for _ in range(ROUNDS):
            reports = ask(length, each)
            if not len(reports):
                break
            estimate, error = estimated(self.hashing, reports, keys)
            sums, variances, used = sums + estimate, variances + error**2, used + len(reports)
            margin = np.abs(sums - self.threshold * used) - SURE * np.sqrt(variances + np.maximum(sums, 0.0))
            if (margin > 0).all():
                break
        above = sums > self.threshold * used
        return strongest(candidates[above], sums[above], WIDEST), used
