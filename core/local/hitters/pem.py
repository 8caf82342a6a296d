"""The prefix extending method (Wang, Li, Jha 2018), with people kept apart for the estimates.

Every device draws a group, uniformly and whatever its text is. Group i reports the first l_i characters by optimal
local hashing with all of ε; the last group reports the whole text, and has no part in the search. The collector goes
through all prefixes of length l_1, keeps the strongest, extends each by all characters up to l_2, and so on.

What it finds is estimated by that last group, so luck in the coins that a text was picked for is not in its estimate.
One trace of the picking would be left: who drew the group that it was picked by did not draw the last one, so texts
picked for many reports there have few here. So as much of that group's estimate is added as makes the sum and it
uncorrelated (a control variate): picking by the one then leaves the other as it was. Where coins are most of the error
this is next to nothing, and where ε is large it takes part of the error away. What remains is the same trace of the
shorter prefixes, of which more are kept than are wanted. Intervals count coins and who drew which group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...errors import RequestError
from ...privacy.noise.randomness import Source
from ...privacy.noise.responses import told
from ...runtime.array_types import Array, Floats, Integers, Truths, Words
from ..oracles.olh import OptimalHashing
from .finder import MOST_CANDIDATES, Finder, estimated, source_or_system, strongest

KEPT_FOR_EACH = 3
"""Prefixes that are kept for each text that is wanted."""
LEAST_KEPT = 30


@dataclass(frozen=True)
class PrefixExtending(Finder):
    """A report is a group, and a hashed prefix."""

    name = "pem"
    title = "prefix extending method"
    paper = "Wang, Li, Jha 2018"
    report_words = 3

    @cached_property
    def hashing(self) -> OptimalHashing:
        """How a prefix is reported."""
        return OptimalHashing(2, self.epsilon)

    @property
    def groups(self) -> int:
        """One for each length, and one for the estimates."""
        return len(self.lengths) + 1

    @property
    def reach(self) -> tuple[float, float]:
        down, up = (self.groups * end for end in self.hashing.reach)
        return down, up

    def privatise(self, texts: Sequence[str], source: Source | None = None) -> Words:
        codes, drawn = self.alphabet.codes(texts), source_or_system(source)
        group = told(self.groups, len(codes), drawn)
        keys = np.empty(len(codes), np.int64)
        for place, length in enumerate((*self.lengths, self.alphabet.length)):
            mine = group == place
            keys[mine] = self.alphabet.keys(self.alphabet.prefixes(codes[mine], length), length)
        return np.column_stack([group, self.hashing.privatise_keys(keys, drawn)])

    def _fits(self, reports: Words) -> Truths:
        return (reports[:, 0] < self.groups) & self.hashing.fits(np.ascontiguousarray(reports[:, 1:]))

    def find(self, reports: Array, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        sent, alphabet = self._checked(reports), self.alphabet
        kept, before = np.zeros(1, np.int64), 0
        for group, length in enumerate(self.lengths):
            candidates = alphabet.extended(kept, before, length - before)
            if len(candidates) > MOST_CANDIDATES:
                raise RequestError(f"A step of {self.step} characters has too many continuations; take a shorter one.")
            estimate, _ = estimated(self.hashing, self._of(sent, group), alphabet.keys(candidates, length))
            last = length == alphabet.length
            kept = strongest(candidates, estimate, top if last else max(KEPT_FOR_EACH * top, LEAST_KEPT))
            before = length
        estimate, error = self._unpicked(sent, alphabet.keys(kept, alphabet.length))
        reach = float(ndtri(0.5 + level / 2)) * error
        return self._listed(kept, estimate, estimate - reach, estimate + reach, top)

    def _unpicked(self, sent: Words, keys: Integers) -> tuple[Floats, Floats]:
        """Estimates of whole texts by the last group, uncorrelated with those they were picked by, and their errors.

        Of c people with a text, X draw the picking group, a share s of all, and Y the last one, a share t: Var X =
        c s(1 - s), Var Y = c t(1 - t), Cov(X, Y) = -c s t. Their estimates x and y have independent coins besides, so
        y + w x with w = c s t / Var x is uncorrelated with x, and its mean is c (t + w s).
        """
        picking, apart = (self._of(sent, group) for group in (self.groups - 2, self.groups - 1))
        s, t = (max(len(one), 1) / max(len(sent), 1) for one in (picking, apart))
        (x, coins_x), (y, coins_y) = (estimated(self.hashing, one, keys) for one in (picking, apart))
        people = np.maximum(y / t, 1.0)
        shared = people * s * t
        weight = shared / (people * s * (1 - s) + coins_x**2)
        variance = people * t * (1 - t) + coins_y**2 - weight * shared
        parts = t + weight * s
        return (y + weight * x) / parts, np.sqrt(np.maximum(variance, 0.0)) / parts

    @staticmethod
    def _of(reports: Words, group: int) -> Words:
        return np.ascontiguousarray(reports[reports[:, 0] == group, 1:])
