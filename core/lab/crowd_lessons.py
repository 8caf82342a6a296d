"""Lessons on a crowd: what ε does, by fifty releases that could come out, where R and W come from, and local reports.

More rows average the luck of the cuts away, and cost more noise each. The mean of R rows has the variance V/R + g²
2R/ε², with V that of one row and g = 1/(1 - 1/W) where rows are rehashed (CCS 2021, proof of Theorem 3.4, which states
a = f~² for V; Corollary 3.5: the least is at R = √(a/b), b = 2/ε²). Under rehashing to W columns two records also meet
by accident, with probability 1/W: the kernel becomes k' = k + (1 - k)/W, and undoing the bias multiplies every
deviation by g. So W acts on both terms, and on where their sum is least.

Of local reports: what one report tells, how many people a survey needs, and finding frequent words.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Laplacian
from ..geometry.uniforms import PublicRandom
from ..local.heavy_hitters import Alphabet
from ..local.oracles.oracle import Oracle, oracle
from ..local.survey import FINDERS
from ..privacy.budget import Budget, Neighbours
from ..privacy.calibration import NoiseScale, calibrate
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import SeededSource
from ..runtime.environment import APP
from ..sketches.histogram import Histogram
from ..sketches.plan import plan
from ..sketches.race import Race

RELEASES = 50
LATEST = 24.0  # The crowd arrives during a day, from hour 0 to this.
# When the made-up people arrive: the middle of a bump and its spread in hours, and its share of the people.
BUMPS = ((8.0, 1.1, 0.55), (17.5, 1.8, 0.45))
BANDWIDTH = 1.5
CELLS = 64
PLACES = 97  # Times at which a release is asked: every quarter of an hour.
NEARBY = 1.0  # Hours within which a peak counts as found.
LARGEST_CROWD = 100_000


@dataclass(frozen=True)
class Outcomes:
    """Releases that could come out."""

    hours: np.ndarray
    exact: np.ndarray  # float64 (PLACES,), how many people's worth of closeness there is really.
    releases: np.ndarray  # float64 (RELEASES, PLACES), the same as fifty releases say it.

    @property
    def peak(self) -> float:
        """The hour at which most people are."""
        return float(self.hours[self.exact.argmax()])

    @property
    def peaks(self) -> np.ndarray:
        """The hour at which each release has most people, float64 (RELEASES,)."""
        return self.hours[self.releases.argmax(axis=1)]

    @property
    def kept(self) -> int:
        """In how many releases the peak is where it is, within an hour."""
        return int((np.abs(self.peaks - self.peak) <= NEARBY).sum())

    @property
    def at_peak(self) -> np.ndarray:
        """What each release says of the busiest hour, float64 (RELEASES,)."""
        return self.releases[:, self.exact.argmax()]

    @property
    def error(self) -> float:
        """Standard deviation of an answer from the truth over all releases and hours, in people."""
        return float(np.sqrt(np.mean((self.releases - self.exact) ** 2)))


def crowd(people: int) -> np.ndarray:
    """The hours at which made-up people arrive, float64 (people, 1) in order of their draw; the same every time."""
    uniforms = PublicRandom(0, 40).uniforms(LARGEST_CROWD, 2)[:people]
    early = uniforms[:, 0] < BUMPS[0][2]
    middle, spread = (np.where(early, first, second) for first, second in zip(BUMPS[0][:2], BUMPS[1][:2], strict=True))
    return np.asfortranarray(np.clip(middle + spread * ndtri(uniforms[:, 1]), 0.0, LATEST)[:, None])


@lru_cache(maxsize=8)
def _counted(people: int) -> tuple[Histogram, np.ndarray, np.ndarray, np.ndarray]:
    """The sketch, its exact table, the hours that are asked and the exact sums there; all of it made up, so public."""
    sketch = Histogram(Domain.of(hour=(0, LATEST)), Laplacian(BANDWIDTH), (CELLS,))
    records, hours = crowd(people), np.linspace(0.0, LATEST, PLACES)
    table = sketch.zeros()
    sketch.add(table, records)
    return sketch, table, hours, sketch.exact(hours[:, None], records)


def outcomes(epsilon: str, people: int) -> Outcomes:
    """Fifty releases of the crowd, each with the noise of a real one.

    The draws are the same for every ε, so that moving ε shows what ε does and not another roll of the dice.
    """
    sketch, table, hours, exact = _counted(people)
    noise = plan(sketch, Budget(epsilon)).noise
    points = np.asfortranarray(hours[:, None])
    releases = [
        sketch.answer(add_noise(table, noise, SeededSource(draw)), people, points, noise.variance, 0.95).estimate
        for draw in range(RELEASES)
    ]
    return Outcomes(hours, exact, np.array(releases))


MEASURED = (2, 5, 12, 30, 75, 190, 480)  # Rows of the sketches that are really made.
DRAWS = 4  # Large sketches that the small ones are taken from.
QUESTIONS = 15
MANY = 1000
LEAST, MOST = 2, 2000
AMPLE = 64  # Columns that nearly every row of these sketches fits in.
STEPS = 60


@dataclass(frozen=True)
class RowErrors:
    """Errors of one answer against the number of rows, as standard deviations in people."""

    rows: np.ndarray  # int64 (n,), increasing.
    # float64 (n,), from the luck of the cuts and from the privacy noise.
    sampling: np.ndarray
    noise: np.ndarray
    bound: np.ndarray  # float64 (n,), the paper's bound on both together.
    ample: np.ndarray  # float64 (n,), both together with `AMPLE` columns.
    # float64 (len(MEASURED),), root mean square errors of real small sketches with `MEASURED` rows.
    measured: np.ndarray
    typical: float  # The exact answer, averaged over the places that are asked.
    width: int  # W, the most columns of a row.
    strangers: float  # How many people are counted as near by accident, on average, which is then subtracted.
    # Rows of the least error, and as Corollary 3.5 has them.
    best: int
    rule: int

    @property
    def both(self) -> np.ndarray:
        return np.hypot(self.sampling, self.noise)

    @property
    def least_if_ample(self) -> float:
        """The least error with `AMPLE` columns."""
        return float(self.ample.min())

    def error_with(self, rows: float) -> float:
        """Both errors together at a number of rows."""
        return float(np.exp(np.interp(math.log(rows), np.log(self.rows), np.log(self.both))))


@lru_cache(maxsize=64)
def curve(epsilon: str, people: int, nearby: float, width: int) -> RowErrors:
    """The curve for made-up people who arrive during a day.

    `nearby`: the bandwidth in hours: who counts as near, and so how dense every place is. `width`: W, the most columns
    of a row.
    """
    budget, shape = Budget(epsilon), (nearby, width)
    one, roomy = _of_one_row(people, *shape), _of_one_row(people, nearby, AMPLE)
    rows = np.unique(np.geomspace(LEAST, MOST, STEPS).round()).astype(np.int64)
    drawn = np.array([_noise(budget, each, shape).variance / each for each in rows.tolist()])
    noise = np.sqrt(drawn * one.gain)
    ample = np.sqrt(roomy.variance / rows + drawn * roomy.gain)
    sampling = np.sqrt(one.variance / rows)
    rule = math.ceil(one.roots * float(epsilon) / math.sqrt(2.0))
    measured = np.array([_measured(budget, each, people, shape) for each in MEASURED])
    best = int(rows[np.hypot(sampling, noise).argmin()])
    bound = np.sqrt(one.bound / rows + noise**2)
    return RowErrors(rows, sampling, noise, bound, ample, measured, one.typical, width, one.strangers, best, rule)


def _sketch(rows: int, nearby: float, width: int, seed: int) -> Race:
    """A sketch whose rows are independent, as the theorem has them, as far as there may be groups."""
    domain = Domain.of(hour=(0, LATEST))
    return Race(domain, Laplacian(nearby), rows, width, seed=seed, groups=min(rows, 1000))


def _asked(people: int) -> tuple[np.ndarray, np.ndarray]:
    """The records, and the places that are asked: the middle of every fifteenth part of them."""
    records = crowd(people)
    shares = (np.arange(QUESTIONS) + 0.5) / QUESTIONS
    return records, np.asfortranarray(np.quantile(records[:, 0], shares)[:, None])


@dataclass(frozen=True)
class _OneRow:
    """What one row does, on average over the places that are asked."""

    variance: float  # Without noise, the spread of a thousand real rows.
    bound: float  # Of the paper on it, g² (f~'² - f'²): Theorem 2.5 for k'.
    roots: float  # f~', the sum of the roots of k'.
    gain: float  # g², on average over rows: those whose cells fit are not rehashed.
    typical: float
    # People who fall into the same column by accident: one in W of those far away, in rows that are rehashed.
    strangers: float


@lru_cache(maxsize=64)
def _of_one_row(people: int, nearby: float, width: int) -> _OneRow:
    records, queries = _asked(people)
    sketch, table, exact = _poured(0, people, (nearby, width))
    estimates, _ = sketch.group_estimates(table, people, queries)
    kernel = sketch.point_kernel.evaluate(queries, records)
    gain = 1.0 / (1.0 - 1.0 / width) if sketch.columns.rehashed.any() else 1.0
    shared = kernel + (1.0 - kernel) / width if sketch.columns.rehashed.any() else kernel
    roots = np.sqrt(shared).sum(axis=1)
    bound = gain**2 * (roots**2 - shared.sum(axis=1) ** 2)
    variance = estimates.var(axis=0, ddof=1).mean()
    strangers = sketch.columns.rehashed.mean() * (people - exact.mean()) / width
    return _OneRow(
        float(variance),
        float(bound.mean()),
        float(roots.mean()),
        float(sketch.noise_variance(1.0)) * MANY,
        float(exact.mean()),
        float(strangers),
    )


def _noise(budget: Budget, rows: int, shape: tuple[float, int]) -> NoiseScale:
    """The noise of every counter when the whole budget goes to the table, as in the theorem."""
    return calibrate(_sketch(rows, *shape, seed=0).sensitivity(Neighbours.ADD_REMOVE), Fraction(budget.epsilon))


def _measured(budget: Budget, rows: int, people: int, shape: tuple[float, int]) -> float:
    """Root mean square error of real sketches with so many rows: other cuts and other noise every time.

    The rows of a large sketch are independent here, so each so many of them are a small sketch; its noise is drawn for
    that number of rows.
    """
    _, queries = _asked(people)
    noise, squares = _noise(budget, rows, shape), []
    for draw in range(1, 1 + DRAWS):
        sketch, table, exact = _poured(draw, people, shape)
        noisy = add_noise(table, noise, SeededSource(1000 * rows + draw))
        estimates, _ = sketch.group_estimates(noisy, people, queries)
        small = estimates[: len(estimates) // rows * rows].reshape(-1, rows, QUESTIONS).mean(axis=1)
        squares.append(np.mean((small - exact) ** 2))
    return float(np.sqrt(np.mean(squares)))


@lru_cache(maxsize=16)
def _poured(draw: int, people: int, shape: tuple[float, int]) -> tuple[Race, np.ndarray, np.ndarray]:
    """A large sketch of independent rows, its table, and the exact answers at the places that are asked."""
    records, queries = _asked(people)
    sketch = _sketch(MANY, *shape, seed=draw)
    table = sketch.zeros()
    sketch.add(table, records)
    return sketch, table, sketch.exact(queries, records)


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
