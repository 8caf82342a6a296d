"""The sequence fragment puzzle (Apple 2017): fragments of a text, told together by a hash of it.

Every device reports twice with coins of their own, each with half of ε. One report is of a position, drawn uniformly,
whose fragment of the text stands beside a public hash of the whole text of 8 bits, as the number hash · |A|^l +
fragment, by projective geometry response. The other is of the whole text. The collector keeps the strongest numbers of
every position, joins fragments of equal hashes over all positions, and asks the reports of whole texts about what was
joined; intervals hold for all of that at once (Bonferroni), so for what is then listed too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ...geometry.hashing.uniforms import PublicRandom
from ...privacy.noise.randomness import Source
from ...privacy.noise.responses import told
from ...runtime.array_types import Array, Integers, Truths, Words
from ...sketches.answers import level_of_each
from ..oracles.counting import Tally
from ..oracles.local_hashing import OptimalHashing, hashed
from ..oracles.projective_geometry import ProjectiveGeometry
from .finder import Finder, estimated, source_or_system

HASHES = 256
FAMILY = 0x534650
KEPT_FOR_EACH = 4
MOST_JOINED = 20_000


@dataclass(frozen=True)
class FragmentPuzzle(Finder):
    """A report is a position, the point of a hash and a fragment, and a hashed text."""

    name = "sfp"
    title = "sequence fragment puzzle"
    paper = "Apple 2017"
    report_words = 4

    @cached_property
    def hashing(self) -> OptimalHashing:
        """How whole texts are reported."""
        return self.half()

    @cached_property
    def fragments(self) -> ProjectiveGeometry:
        """How fragments are."""
        return ProjectiveGeometry(HASHES * self.alphabet.base**self.step, self.hashing.epsilon)

    @cached_property
    def positions(self) -> tuple[tuple[int, int], ...]:
        """Where fragments begin and end."""
        starts = (0, *self.lengths[:-1])
        return tuple(zip(starts, self.lengths, strict=True))

    def hashes(self, codes: Integers) -> Integers:
        """The public hash of texts, of 8 bits."""
        a, b = PublicRandom(self.alphabet.seed, FAMILY).words(2)
        keys = self.alphabet.keys(codes, self.alphabet.length)
        return hashed(np.full(len(keys), a), np.full(len(keys), b), keys, HASHES)

    def _fragment(self, codes: Integers, position: tuple[int, int]) -> Integers:
        start, stop = position
        fragments: Integers = self.alphabet.prefixes(codes, stop) % self.alphabet.base ** (stop - start)
        return fragments

    @property
    def reach(self) -> tuple[float, float]:
        return self.hashing.reach

    def privatise(self, texts: Sequence[str], source: Source | None = None) -> Words:
        codes, drawn = self.alphabet.codes(texts), source_or_system(source)
        place = told(len(self.positions), len(codes), drawn)
        numbers = self.hashes(codes) * self.alphabet.base**self.step
        for number, position in enumerate(self.positions):
            mine = place == number
            numbers[mine] += self._fragment(codes[mine], position)
        whole = self.hashing.privatise_keys(self.alphabet.keys(codes, self.alphabet.length), drawn)
        return np.column_stack([place, self.fragments.privatise(numbers, drawn).astype(np.uint64), whole])

    def _fits(self, reports: Words) -> Truths:
        within = (reports[:, 0] < len(self.positions)) & (reports[:, 1] < self.fragments.outcomes)
        return within & self.hashing.fits(np.ascontiguousarray(reports[:, 2:]))

    def find(self, reports: Array, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        sent = self.checked(reports)
        found = [self._strongest(sent, number, top) for number in range(len(self.positions))]
        joined = self._joined(found)
        estimate, error = estimated(
            self.hashing, np.ascontiguousarray(sent[:, 2:]), self.alphabet.keys(joined, self.alphabet.length)
        )
        reach = float(ndtri(0.5 + level_of_each(level, len(joined)) / 2)) * error
        return self._listed(joined, estimate, estimate - reach, estimate + reach, top)

    def _strongest(self, sent: Words, number: int, top: int) -> dict[int, list[int]]:
        """The strongest fragments of a position, by hash."""
        mine = sent[sent[:, 0] == number, 1].astype(self.fragments.report_type)
        tally: Tally = self.fragments.aggregate(mine)
        estimate = self.fragments.estimate(tally)
        by_hash: dict[int, list[int]] = {}
        for one in np.argsort(-estimate, kind="stable")[: KEPT_FOR_EACH * top].tolist():
            mark, fragment = divmod(one, self.alphabet.base**self.step)
            by_hash.setdefault(mark, []).append(fragment)
        return by_hash

    def _joined(self, found: list[dict[int, list[int]]]) -> Integers:
        """Texts put together of fragments of one hash, one a position, whose own hash it is."""
        marks: list[int] = []
        texts: list[int] = []
        for mark in set(found[0]).intersection(*found[1:]):
            choices = [one[mark] for one in found]
            if prod(map(len, choices)) + len(texts) > MOST_JOINED:
                continue  # so many fragments of one hash are noise
            for fragments in product(*choices):
                code = 0
                for (start, stop), fragment in zip(self.positions, fragments, strict=True):
                    code = code * self.alphabet.base ** (stop - start) + fragment
                if self.alphabet.ends_once(code):
                    marks.append(mark)
                    texts.append(code)
        codes = np.array(texts, np.int64)
        return np.unique(codes[self.hashes(codes) == np.array(marks, np.int64)])
