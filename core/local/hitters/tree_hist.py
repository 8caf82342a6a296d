"""TreeHist (Bassily, Nissim, Stemmer, Thakurta 2017): a tree of prefixes, and every whole text beside it.

Every device reports twice with coins of their own, each with half of ε: a prefix of a length drawn uniformly, and the
whole text. The tree is grown from prefixes that pass a threshold, the noise of their level times Z. The texts that it
ends in are estimated by the reports of whole texts, of all people. Those have coins that had no part in growing the
tree, and which texts are then listed is made good by intervals that hold for all texts of the tree at once
(Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...privacy.noise.randomness import Source
from ...privacy.noise.responses import told
from ...runtime.array_types import Array, Truths, Words
from ...sketches.answers import level_of_each
from ..oracles.olh import OptimalHashing
from .finder import Finder, estimated, source_or_system, strongest

THRESHOLD = 3.0
WIDEST = 300
"""Prefixes that are extended at most."""


@dataclass(frozen=True)
class TreeHist(Finder):
    """A report is a length, a hashed prefix of it, and a hashed text."""

    name = "treehist"
    title = "TreeHist"
    paper = "Bassily, Nissim, Stemmer, Thakurta 2017"
    report_words = 5

    @cached_property
    def hashing(self) -> OptimalHashing:
        """How each of the two is reported."""
        return self.half()

    @property
    def reach(self) -> tuple[float, float]:
        return self.hashing.reach

    def privatise(self, texts: Sequence[str], source: Source | None = None) -> Words:
        codes, drawn = self.alphabet.codes(texts), source_or_system(source)
        level = told(len(self.lengths), len(codes), drawn)
        keys = np.empty(len(codes), np.int64)
        for place, length in enumerate(self.lengths):
            mine = level == place
            keys[mine] = self.alphabet.keys(self.alphabet.prefixes(codes[mine], length), length)
        whole = self.alphabet.keys(codes, self.alphabet.length)
        sent = [self.hashing.privatise_keys(one, drawn) for one in (keys, whole)]
        return np.column_stack([level, *sent])

    def _fits(self, reports: Words) -> Truths:
        sent = [self.hashing.fits(np.ascontiguousarray(part)) for part in (reports[:, 1:3], reports[:, 3:])]
        return (reports[:, 0] < len(self.lengths)) & sent[0] & sent[1]

    def find(self, reports: Array, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        sent, alphabet = self._checked(reports), self.alphabet
        kept, before = np.zeros(1, np.int64), 0
        for place, length in enumerate(self.lengths):
            candidates = alphabet.extended(kept, before, length - before)
            mine = np.ascontiguousarray(sent[sent[:, 0] == place, 1:3])
            estimate, error = estimated(self.hashing, mine, alphabet.keys(candidates, length))
            passed = estimate > THRESHOLD * error
            kept, before = strongest(candidates[passed], estimate[passed], WIDEST), length
        whole = np.ascontiguousarray(sent[:, 3:])
        estimate, error = estimated(self.hashing, whole, alphabet.keys(kept, alphabet.length))
        reach = float(ndtri(0.5 + level_of_each(level, len(kept)) / 2)) * error
        return self._listed(kept, estimate, estimate - reach, estimate + reach, top)
