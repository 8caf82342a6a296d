"""Lessons on local reports: what one report tells, how many people a survey needs, and finding frequent words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd

from ..errors import RequestError
from ..local.heavy_hitters import Alphabet
from ..local.oracles.oracle import Oracle, oracle
from ..local.survey import FINDERS
from ..privacy.noise.randomness import SeededSource
from ..runtime.environment import APP


@dataclass(frozen=True)
class Told:
    """A report of a small domain."""

    named: tuple[int, ...]
    chances: np.ndarray  # float64 (answers,): how likely each is, for whoever thought all equally likely before.
    odds: float  # The most that a report may favour one answer over another.


def told(name: str, answers: int, epsilon: str, answer: int, flips: int) -> Told:
    """The report of an answer by an oracle of bits or of one value, with coins that can be repeated."""
    one = oracle(name, answers, epsilon)
    report = one.privatise([answer], SeededSource(flips))
    if one.report_words:
        named = tuple(place for place in range(answers) if int(report[0, 0]) >> place & 1)
        p, q = (float(chance) for chance in one.chances)  # type: ignore[attr-defined]  # these are all pure
        # Of sets of one size and of bits alike, an answer that is named gains p/q and others lose (1 - p)/(1 - q).
        inside, outside = _weights(one, p, q)
        weights = np.array([inside if place in named else outside for place in range(answers)])
    else:
        named = (int(report[0]),)
        weights = np.where(np.arange(answers) == named[0], float(one.odds), 1.0)
    return Told(named, weights / weights.sum(), float(one.odds))


def _weights(one: Oracle, p: float, q: float) -> tuple[float, float]:
    """How a report weighs for an answer that it names, and for another."""
    if one.name == "ss":
        return float(one.odds), 1.0
    return p / q, (1 - p) / (1 - q)


def people_needed(epsilon: float, error: float) -> tuple[float, float]:
    """How many people a yes-or-no question needs for a share with this standard error: with an owner, and locally.

    With an owner, a count has discrete Laplace noise of scale 1/ε; locally, answers are flipped with odds e^ε to 1.
    What is left of the share's sampling is the same in both and left out.
    """
    quiet = 1 / (2 * math.sinh(epsilon / 2) ** 2)
    odds = math.exp(epsilon)
    flipped = odds / (odds - 1) ** 2
    return math.sqrt(quiet) / error, flipped / error**2


POLLS, SAY_YES = 50, 0.3


@dataclass(frozen=True)
class Polled:
    """Fifty polls of one made-up class, three in ten of whom would say yes."""

    truth: float
    said: np.ndarray  # float64 (polls,), the share of reports that say yes.
    # float64 (polls,), the estimated share and its interval.
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def held(self) -> int:
        """How many of the intervals hold the truth."""
        return int(((self.low <= self.truth) & (self.truth <= self.high)).sum())


def polled(people: int, epsilon: str) -> Polled:
    """A yes-or-no question, asked fifty times with fresh coins that can be repeated."""
    one = oracle("de", 2, epsilon)
    yes = round(SAY_YES * people)
    answers, source = np.repeat([0, 1], [people - yes, yes]), SeededSource(people)
    rows = []
    for _ in range(POLLS):
        tally = one.aggregate(one.privatise(answers, source))
        low, high = one.interval(tally)
        rows.append((tally.table[1], one.estimate(tally)[1], low[1], high[1]))
    said, estimate, low, high = np.array(rows, np.float64).T / people
    return Polled(yes / people, said, estimate, low, high)


TEXT = APP / "sample_data" / "texts" / "whale.parquet"
TITLE = "Moby-Dick"
LETTERS, LENGTH = "abcdefghijklmnopqrstuvwxyz", 6  # A word is cut to its first six letters.
TOP = 20


@cache
def counted_words() -> tuple[np.ndarray, np.ndarray]:
    """The words of the text, cut to their length, and how often each is there."""
    if not TEXT.exists():
        raise RequestError("This installation has no sample data, so there is no text to search.")
    table = pd.read_parquet(TEXT)
    counts = table["count"].groupby(table["word"].str[:LENGTH]).sum()
    return counts.index.to_numpy(str), counts.to_numpy(np.int64)


def searched(search: str, people: int, epsilon: str) -> pd.DataFrame:
    """What a search finds when so many people report a word each, drawn from the text as often as it is there.

    `search`: the name of a search in `core.local.survey`. `people`, `epsilon`: how many report, and the promise to
    each.

    Returns one row a word found, the most frequent first: value, estimate, low, high, and truth, how many really had
    it.
    """
    words, counts = counted_words()
    said = np.random.default_rng().choice(len(words), people, p=counts / counts.sum())
    finder = FINDERS[search](Alphabet(LETTERS, LENGTH), Decimal(epsilon))
    found = finder.find(finder.privatise(words[said].tolist()), TOP)
    really = dict(zip(words.tolist(), np.bincount(said, minlength=len(words)).tolist(), strict=True))
    return found.assign(truth=[really.get(value, 0) for value in found["value"]])


def most_frequent() -> list[str]:
    """The words that are there most often."""
    words, counts = counted_words()
    return [str(word) for word in words[np.argsort(-counts, kind="stable")[:TOP]]]
