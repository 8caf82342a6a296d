"""Sketches of values too many to list: every person picks a row, hashes their value in it, and reports that with noise.

The row is uniform and drawn whatever the value is, hash functions are public, and what is reported of the row is
reported with all of ε: so a report keeps ε. No person reports in two rows. Any value can be asked afterwards.

Of each row the collector estimates how many of its people have a value, less what other values bring to its cells, and
adds rows up. The error is measured between rows, which are independent and alike: it holds the noise of reports,
collisions and who picked which row.

Texts as the whole numbers of 32 bits that sketches hash: the same on every device, in any language.

The key of a text is the first four bytes, the highest first, of SHA-256 over the survey's seed (sixteen bytes, the
highest first) and the text in UTF-8. It is public and depends on nobody else's text. Two texts share a key with
probability 2^-32, and are then counted together.

Frequent candidates are taken off the cells that they share with others, before these are read.

Rows of cells hold the counts of everyone whose value falls into them, so a frequent value is an error of all others in
its cells. Where it is among the candidates, it need not be: the collector looks for counts of candidates that explain
all cells of all rows at once, a regression without negative coefficients that leaves out what noise alone could bring
(a Lasso), and then least squares over what it kept. Such counts are biased by what was left out. So each row then says
of each candidate what its cells hold beyond the counts of the *other* candidates, and beyond what values that nobody
asked for bring on average (a de-biased Lasso; Zhang, Zhang 2014; Javanmard, Montanari 2014). What rows say is
independent, alike and without bias, so intervals around their sum come from how far they lie apart.

Both regressions are non-negative least squares in the candidates alone: with G = X'X and c = X'y, the β >= 0 of the
least β'Gβ/2 - (c - λ)'β is that of the least |L'β - L⁻¹(c - λ)| where G = LL'.
"""

import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from scipy import optimize, sparse
from scipy.special import stdtrit

from ...errors import RequestError
from ...privacy.noise.randomness import Source
from ...runtime.counter_tables import Array, Floats, Integers
from ...runtime.parameters import Seed, Validated, parameter
from .counting import Counted, Tally
from .oracle import LocalEpsilon

LARGEST_VALUE = (1 << 32) - 1
MOST_READ = 1 << 25
# Probability that two people have the same value, of those that nobody asks about, where nothing is said of it.
ALIKE = 0.0


@dataclass(frozen=True)
class LocalSketch(Counted, Validated):
    """A sketch of values up to 2^32 - 1."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    described: ClassVar[str] = "local sketch"

    epsilon: Decimal = parameter(LocalEpsilon())  # The promise to whoever reports once.
    seed: int = parameter(Seed("The seed of the hash functions"), None)  # Public; hash functions follow from it.

    @property
    @abstractmethod
    def surplus(self) -> int:
        """A - B of the module on responses, whole."""

    @property
    @abstractmethod
    def groups(self) -> int:
        """How many rows people are shared out to."""

    @abstractmethod
    def privatise(self, values: object, source: Source | None = None) -> Array:
        """The reports of people with these values: what their devices send."""

    @property
    def most_candidates(self) -> int:
        """How many values are asked at a time at most, as every row is read for each."""
        return MOST_READ // self.groups

    @abstractmethod
    def each_row(self, tally: Tally, values: Integers) -> Floats:
        """How many people of each row have each candidate, by that row, float64 (rows, k)."""

    def estimate(self, tally: Tally, values: object) -> Floats:
        """How many people have each candidate value, without bias over hash functions and coins: float64 (k,)."""
        return np.asarray(self.each_row(tally, self.asked(values)).sum(axis=0))

    def asked(self, values: object) -> Integers:
        """Candidates, int64 (k,); RequestError where they are none, or too many at a time."""
        candidates = checked_values(values)
        if len(candidates) > self.most_candidates:
            raise RequestError(f"This sketch is asked about {self.most_candidates:,} values at a time at most.")
        return candidates

    def interval(self, tally: Tally, values: object, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of intervals around the estimates, float64 (k,) each; see `answer`."""
        return self.answer(tally, values, level)[1:]

    def answer(self, tally: Tally, values: object, level: float = 0.95) -> tuple[Floats, Floats, Floats]:
        """Estimates of candidates and ends of intervals around them, float64 (k,) each, by how much rows differ.

        Rows share people out among them, so what one has more of a value another has less; that part of the difference
        is no error of their sum and is taken off.

        `values`: Candidates, whole numbers (k,). `level`: Probability with which an interval holds a count.
        """
        if not 0.0 < level < 1.0:
            raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")
        if self.groups < 2:
            raise RequestError("Intervals come from how far groups of people lie apart, so there must be two or more.")
        rows = self.each_row(tally, self.asked(values))
        estimate = rows.sum(axis=0)
        spread = self.groups * rows.var(axis=0, ddof=1)
        shared = np.maximum(estimate, 0.0) * (1 - 1 / self.groups)
        error = np.sqrt(np.maximum(spread - shared, spread / 2))
        reach = float(stdtrit(self.groups - 1, 0.5 + level / 2)) * error
        return estimate, estimate - reach, estimate + reach

    @property
    @abstractmethod
    def reach(self) -> tuple[float, float]:
        """By how much one report, whatever it says, lowers and raises any one estimate at most."""

    @abstractmethod
    def line(self, people: float, alike: float = ALIKE) -> tuple[float, float]:
        """Variance of an estimate as a line in the count it estimates: at 0, and what each further person adds.

        `alike`: Probability that two people have the same value, of values that nobody asks about, as frequent
        candidates are taken off: what collisions weigh by.
        """

    def typical_variance(self, people: float, count: float = 0.0, alike: float = ALIKE) -> float:
        """Variance of one estimate, over coins, rows and hash functions, of a value that so many people have."""
        nothing, each = self.line(people, alike)
        return nothing + each * count

    @property
    def oracle_title(self) -> str:
        """The sketch as people read it, with what its cells are reported by."""
        return self.title

    def written_out(self) -> dict[str, Any]:
        """Name and parameters, for JSON."""
        return {"name": self.name, "parameters": self.written()}


def checked_values(values: object) -> Integers:
    """Whole numbers up to 2^32 - 1, int64 (n,)."""
    given = np.asarray(values)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise RequestError("Values must be a list of whole numbers.")
    if len(given) and not (0 <= given.min() and given.max() <= LARGEST_VALUE):
        raise RequestError(f"A value must be a whole number from 0 to {LARGEST_VALUE:,}, as it is hashed by 32 bits.")
    return given.astype(np.int64, copy=False)


def collisions(people: float, alike: float, rows: int, chance: float) -> float:
    """Variance of how many others fall on a value, when each does in a row with this variance, `chance`.

    Σf_x'(1 - 1/k) of people who pick rows, and Σf_x'²/k of values that fall together, with Σf_x'² = alike · n².
    """
    return chance * (people * (1 - 1 / rows) + alike * people**2 / rows)


KEY_BYTES = 4
SEED_BYTES = 16


def text_keys(texts: Iterable[str], seed: int) -> Integers:
    """The keys of texts, int64 (n,)."""
    begun = sha256(seed.to_bytes(SEED_BYTES, "big"))
    known: dict[str, int] = {}
    keys = []
    for text in texts:
        key = known.get(text)
        if key is None:
            one = begun.copy()
            one.update(text.encode())
            key = known[text] = int.from_bytes(one.digest()[:KEY_BYTES], "big")
        keys.append(key)
    return np.array(keys, np.int64)


MOST_EXPLAINING = 400  # Candidates that the regression tries, those that cells speak for most.
MOST_ENTRIES = 1 << 24  # Cells that are explained together at most.
STEADY = 1e-9  # Of its diagonal, what is added to a matrix: two candidates may lie in the same cells.


@dataclass(frozen=True, eq=False)
class Cells:
    """What rows of cells hold, and where candidates lie in them."""

    told: Floats  # Estimated counts of cells, float64 (rows, width).
    people: Floats  # How many people each row has, float64 (rows,).
    noise: Floats  # Standard deviation of a cell by the coins, float64 (rows,).
    places: Integers  # The cells of each candidate, int64 (rows, h, k).
    # With which sign each candidate is counted in a row, (rows, k); None where all are counted with one.
    signs: Integers | None = None

    @property
    def density(self) -> float:
        """How often any other value falls into one cell; with either sign, it brings nothing on average."""
        if self.signs is not None:
            return 0.0
        return density(self.told.shape[1], self.places.shape[1])

    def alone(self, told: Floats | None = None, people: Floats | None = None) -> Floats:
        """What the cells of each candidate hold beyond so many others, whoever they are: float64 (rows, k)."""
        cells, others = self.told if told is None else told, self.people if people is None else people
        held = np.stack([cells[row][mine].mean(axis=0) for row, mine in enumerate(self.places)])
        if self.signs is not None:
            held *= self.signs
        beyond: Floats = (held - others[:, np.newaxis] * self.density) / (1 - self.density)
        return beyond

    def beyond_others(self) -> Floats:
        """How many people of each row have each candidate, less what other candidates explain: float64 (rows, k)."""
        counts = self._explaining()
        chosen = np.flatnonzero(counts)
        if not len(chosen):
            return self.alone()
        share = self.people / max(self.people.sum(), 1.0)
        told = self.told.copy()
        for row, mine in enumerate(self.places):
            told[row] -= share[row] * self._brought(row, mine[:, chosen], counts[chosen], chosen)
        left = self.people - share * counts.sum()
        found: Floats = self.alone(told, left) + share[:, np.newaxis] * counts
        return found

    def _brought(self, row: int, places: Integers, counts: Floats, chosen: Integers) -> Floats:
        """What so many people of these candidates bring to each cell of a row: float64 (width,)."""
        weights = np.broadcast_to(counts if self.signs is None else counts * self.signs[row, chosen], places.shape)
        weights = np.where(_again(places), 0.0, weights)
        brought = np.bincount(places.reshape(-1), weights.reshape(-1), minlength=self.told.shape[1])
        return np.asarray(brought, np.float64)

    def _explaining(self) -> Floats:
        """Counts of the candidates that explain the cells, 0 for all others: float64 (k,)."""
        counts = np.zeros(self.places.shape[2])
        if self.told.size > MOST_ENTRIES:
            return counts
        tried = np.argsort(-self.alone().sum(axis=0), kind="stable")[:MOST_EXPLAINING]
        design = self._design(tried)
        target = (self.told / self.noise[:, np.newaxis]).reshape(-1)
        gram, told = (design.T @ design).toarray(), design.T @ target
        penalty = math.sqrt(2 * math.log(max(len(counts), 2))) * np.sqrt(np.diag(gram))
        if self.density:
            penalty[-1] = 0.0
        kept = np.flatnonzero(_least(gram, told - penalty)[: len(tried)])
        columns = np.append(kept, len(tried)) if self.density else kept
        if len(kept):
            counts[tried[kept]] = _least(gram[np.ix_(columns, columns)], told[columns])[: len(kept)]
        return counts

    def _design(self, tried: Integers) -> sparse.csc_matrix:
        """What one person of a value adds to each cell on average and, last, one of any value nobody asked for."""
        places = self.places[:, :, tried]
        weight = self.people / max(self.people.sum(), 1.0) / self.noise
        entries = np.broadcast_to(weight[:, np.newaxis, np.newaxis], places.shape)
        if self.signs is not None:
            entries = entries * self.signs[:, np.newaxis, tried]
        entries = np.where(np.stack([_again(mine) for mine in places]), 0.0, entries)
        rows, width = self.told.shape
        cells = places + width * np.arange(rows)[:, np.newaxis, np.newaxis]
        columns = np.broadcast_to(np.arange(len(tried)), places.shape)
        shape = (rows * width, len(tried))
        added = sparse.coo_matrix((entries.reshape(-1), (cells.reshape(-1), columns.reshape(-1))), shape).tocsc()
        if not self.density:
            return added
        anyone = sparse.csc_matrix(np.repeat(weight * self.density, width)[:, np.newaxis])
        return sparse.csc_matrix(sparse.hstack([added, anyone]))


def density(width: int, hashes: int) -> float:
    """The share of cells that a value falls into on average."""
    return float(1 - (1 - 1 / width) ** hashes)


def _again(places: Integers) -> np.ndarray:
    """Which cells of a value another hash of it led to already, bool (h, k)."""
    repeated = np.zeros(places.shape, np.bool_)
    for h in range(1, len(places)):
        repeated[h] = (places[:h] == places[h]).any(axis=0)
    return repeated


def _least(gram: Floats, told: Floats) -> Floats:
    """The β >= 0 of the least β'Gβ/2 - c'β."""
    triangle = np.linalg.cholesky(gram + STEADY * np.diag(np.diag(gram) + 1e-300))
    found: Floats = optimize.nnls(triangle.T, np.linalg.solve(triangle, told), maxiter=30 * len(gram) + 100)[0]
    return found
