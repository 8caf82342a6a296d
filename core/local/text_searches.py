"""Searches for frequent texts: by prefixes that groups of people, the levels of a tree or turns down a trie lengthen,
and by fragments (PEM, TreeHist, PrivTrie, SFP).

The prefix extending method (Wang, Li, Jha 2018), with people kept apart for the estimates.

Every device draws a group, uniformly and whatever its text is. Group i reports the first l_i characters by optimal
local hashing with all of ε; the last group reports the whole text, and has no part in the search. The collector goes
through all prefixes of length l_1, keeps the strongest, extends each by all characters up to l_2, and so on.

What it finds is estimated by that last group, so luck in the coins that a text was picked for is not in its estimate.
One trace of the picking would be left: who drew the group that it was picked by did not draw the last one, so texts
picked for many reports there have few here. So as much of that group's estimate is added as makes the sum and it
uncorrelated (a control variate): picking by the one then leaves the other as it was. Where coins are most of the error
this is next to nothing, and where ε is large it takes part of the error away. What remains is the same trace of the
shorter prefixes, of which more are kept than are wanted. Intervals count coins and who drew which group.

TreeHist (Bassily, Nissim, Stemmer, Thakurta 2017): a tree of prefixes, and every whole text beside it.

Every device reports twice with coins of their own, each with half of ε: a prefix of a length drawn uniformly, and the
whole text. The tree is grown from prefixes that pass a threshold, the noise of their level times Z. The texts that it
ends in are estimated by the reports of whole texts, of all people. Those have coins that had no part in growing the
tree, and which texts are then listed is made good by intervals that hold for all texts of the tree at once
(Bonferroni).

PrivTrie (Wang, Xiao, Yang, Hoang, Shin, Shin, Yu 2018): a trie for which no more people are asked than it takes.

The collector asks in rounds. For the next length it asks fresh people for their prefixes, a few at a time, by optimal
local hashing with all of ε, until every prefix that is in question is surely above the threshold or surely below it, or
a level's share of people is used up. Only those above are extended. Whoever was asked once is never asked again, so
each person's promise is ε; what the trie ends in is estimated by people who are left, who had no part in growing it.

As rounds wait for answers, this is a search to be driven: `ask` is whatever reaches the devices.

The sequence fragment puzzle (Apple 2017): fragments of a text, told together by a hash of it.

Every device reports twice with coins of their own, each with half of ε. One report is of a position, drawn uniformly,
whose fragment of the text stands beside a public hash of the whole text of 8 bits, as the number hash · |A|^l +
fragment, by projective geometry response. The other is of the whole text. The collector keeps the strongest numbers of
every position, joins fragments of equal hashes over all positions, and asks the reports of whole texts about what was
joined; intervals hold for all of that at once (Bonferroni), so for what is then listed too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..errors import RequestError
from ..geometry.uniforms import PublicRandom
from ..privacy.noise.randomness import Source
from ..privacy.noise.responses import told
from ..runtime.counter_tables import Array, Floats, Integers, Truths, Words
from ..runtime.parameters import Described, Number, Validated, Whole, parameter
from ..sketches.answers import level_of_each
from .heavy_hitters import MOST_CANDIDATES, Alphabet, Finder, estimated, listed, source_or_system, strongest
from .oracles.counting import Tally
from .oracles.local_hashing import OptimalHashing, hashed
from .oracles.oracle import LocalEpsilon
from .oracles.projective_geometry import ProjectiveGeometry

KEPT_FOR_EACH = 3  # Prefixes that are kept for each text that is wanted.
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
        group, keys = self._grouped(codes, (*self.lengths, self.alphabet.length), drawn)
        return np.column_stack([group, self.hashing.privatise_keys(keys, drawn)])

    def _fits(self, reports: Words) -> Truths:
        return (reports[:, 0] < self.groups) & self.hashing.fits(np.ascontiguousarray(reports[:, 1:]))

    def find(self, reports: Array, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        sent, alphabet = self.checked(reports), self.alphabet
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
        return listed(alphabet, kept, estimate, reach, top)

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


THRESHOLD = 3.0
WIDEST = 300  # Prefixes that are extended at most.


@dataclass(frozen=True)
class TreeHist(Finder):
    """A report is a length, a hashed prefix of it, and a hashed text."""

    name = "treehist"
    title = "TreeHist"
    paper = "Bassily, Nissim, Stemmer, Thakurta 2017"
    report_words = 5

    def privatise(self, texts: Sequence[str], source: Source | None = None) -> Words:
        codes, drawn = self.alphabet.codes(texts), source_or_system(source)
        level, keys = self._grouped(codes, self.lengths, drawn)
        whole = self.alphabet.keys(codes, self.alphabet.length)
        sent = [self.hashing.privatise_keys(one, drawn) for one in (keys, whole)]
        return np.column_stack([level, *sent])

    def _fits(self, reports: Words) -> Truths:
        sent = [self.hashing.fits(np.ascontiguousarray(part)) for part in (reports[:, 1:3], reports[:, 3:])]
        return (reports[:, 0] < len(self.lengths)) & sent[0] & sent[1]

    def find(self, reports: Array, top: int = 20, level: float = 0.95) -> pd.DataFrame:
        sent, alphabet = self.checked(reports), self.alphabet
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
        return listed(alphabet, kept, estimate, reach, top)


SURE = 2.5  # Standard deviations by which a prefix is surely above or below.
ROUNDS = 6  # Of a level, at most.
# So many fresh people are asked for prefixes of a length; their reports, fewer where nobody is left.
Ask = Callable[[int, int], Array]


@dataclass(frozen=True)
class PrivTrie(Validated):
    """A search in rounds."""

    name = "privtrie"
    described = "search"

    alphabet: Alphabet = parameter(Described("The alphabet", Alphabet))  # Which texts there are.
    epsilon: Decimal = parameter(LocalEpsilon())  # The promise to each person who is asked once.
    # The share of people from which a text is looked for.
    threshold: float = parameter(Number("The threshold", 1e-6, 1.0), 0.01)
    step: int = parameter(Whole("The step", 1, 8), 1)  # By how many characters the trie grows.
    # The share of people who are left for the estimates.
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

        `ask`: Reaches devices; asks each of `people` at most once. `people`: How many there are. `top`: Texts to list
        at most. `level`: Probability with which an interval holds a count.
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
        return listed(self.alphabet, kept, estimate, reach, top)

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


HASHES = 256
FAMILY = 0x534650
FRAGMENTS_KEPT = 4
MOST_JOINED = 20_000


@dataclass(frozen=True)
class FragmentPuzzle(Finder):
    """A report is a position, the point of a hash and a fragment, and a hashed text."""

    name = "sfp"
    title = "sequence fragment puzzle"
    paper = "Apple 2017"
    report_words = 4

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
        return listed(self.alphabet, joined, estimate, reach, top)

    def _strongest(self, sent: Words, number: int, top: int) -> dict[int, list[int]]:
        """The strongest fragments of a position, by hash."""
        mine = sent[sent[:, 0] == number, 1].astype(self.fragments.report_type)
        tally: Tally = self.fragments.aggregate(mine)
        estimate = self.fragments.estimate(tally)
        by_hash: dict[int, list[int]] = {}
        for one in np.argsort(-estimate, kind="stable")[: FRAGMENTS_KEPT * top].tolist():
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
