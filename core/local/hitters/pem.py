"""The prefix extending method (Wang, Li, Jha 2018), with people kept apart for the estimates.

Every device draws a group, uniformly and whatever its text is. Group i reports the first l_i characters by optimal
local hashing with all of ε; the last group reports the whole text, and has no part in the search. The collector goes
through all prefixes of length l_1, keeps the strongest, extends each by all characters up to l_2, and so on.

What it finds is estimated by the last group alone, times how many there are for each of its members: its interval holds
for texts picked by others' reports, whichever they are. It counts who happened to draw that group as well as coins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...errors import RequestError
from ...machine.array_types import Array, Truths, Words
from ...privacy.noise.randomness import Source
from ...privacy.noise.responses import below
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
        group = below(self.groups, len(codes), drawn.stream())
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
        apart = self._of(sent, self.groups - 1)
        scale = len(sent) / max(len(apart), 1)
        estimate, error = estimated(self.hashing, apart, alphabet.keys(kept, alphabet.length))
        estimate = scale * estimate
        sampled = np.maximum(estimate, 0.0) * np.maximum(scale - 1, 0.0)
        reach = float(ndtri(0.5 + level / 2)) * np.sqrt((scale * error) ** 2 + sampled)
        return self._listed(kept, estimate, estimate - reach, estimate + reach, top)

    @staticmethod
    def _of(reports: Words, group: int) -> Words:
        return np.ascontiguousarray(reports[reports[:, 0] == group, 1:])
